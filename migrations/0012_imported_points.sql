-- What another tool measured comes as values, without the windows they were summed up from.

-- Null when our runner measured or the point failed; {"tool", "spread"?} when another tool measured.
alter table point add column imported jsonb;

alter table point
    drop constraint point_is_measured_or_failed,
    add constraint point_is_measured_imported_or_failed check (
        case
            when failure is not null then imported is null and cardinality(dt_ns) = 0
            when imported is not null then cardinality(dt_ns) = 0
            else cardinality(dt_ns) > 0
        end
    );
