-- The two tables that grow with every sample, stored small and by machine.
--
-- A window is kept once, packed: of each count only how it differs from the window before. What
-- follows from windows (operations per second …) is computed when it is asked for; its summary is
-- stored. Both tables are partitioned by ranges of machines: every query names its machine and so
-- meets one partition, and every unique key holds the machine already.

create function pg_temp.varint(delta bigint) returns text language plpgsql immutable as $$
declare
    rest bigint := (delta << 1) # (delta >> 63);
    digits text := '';
begin
    while rest > 127 loop
        digits := digits || lpad(to_hex((rest & 127) | 128), 2, '0');
        rest := rest >> 7;
    end loop;
    return digits || lpad(to_hex(rest), 2, '0');
end
$$;

-- Window after window its Δt, the ops of each task, the CPU time of each task.
create function pg_temp.packed(dt bigint[], ops bigint[], cpu bigint[], tasks integer)
returns bytea language sql as $$
    select coalesce(
        decode('01' || string_agg(pg_temp.varint(value - coalesce(earlier, 0)), '' order by w, lane),
               'hex'),
        '')
    from (
        select w, lane, value, lag(value) over (partition by lane order by w) as earlier
        from (
            select i - 1 as w, 0::bigint as lane, v as value
            from unnest(dt) with ordinality as d (v, i)
            union all
            select (i - 1) / tasks, 1 + (i - 1) % tasks, v
            from unnest(ops) with ordinality as o (v, i)
            union all
            select (i - 1) / tasks, 1 + tasks + (i - 1) % tasks, v
            from unnest(cpu) with ordinality as c (v, i)
        ) lanes
    ) deltas
$$;

create function pg_temp.total(counts bigint[]) returns double precision language sql as
    'select coalesce(sum(n), 0)::double precision from unnest(counts) n';

-- The robust scale of a run's samples: 1.4826 · MAD with its correction for small samples.
create function pg_temp.scale(samples double precision[]) returns double precision language sql as $$
    select case when cardinality(samples) > 1 then
        1.482602218505602
        * (select percentile_cont(0.5) within group (order by abs(v - middle)) from unnest(samples) v)
        * case when cardinality(samples) <= 9
            then (array[1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107])
                     [cardinality(samples) - 1]::double precision
            else cardinality(samples) / (cardinality(samples) - 0.8::double precision)
          end
    end
    from (select percentile_cont(0.5) within group (order by v) as middle from unnest(samples) v) m
$$;

alter table point rename to old_point;
alter table old_point rename constraint point_pkey to old_point_pkey;
alter table old_point drop constraint point_is_measured_imported_or_failed;
drop index point_of_curve;
alter table measurement rename to old_measurement;
alter table old_measurement rename constraint measurement_pkey to old_measurement_pkey;
drop index measurement_in_order;

-- One point of a run, or why it failed.
create table point (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    run_id uuid not null,
    start_skew_ns bigint,
    -- Wall time of all windows, and CPU time that all tasks received in them.
    wall_ns double precision not null,
    received_ns double precision not null,
    tasks integer not null,
    warmup_windows integer,
    -- Number of windows measured; they stay counted when retention empties `packed`.
    windows integer not null,
    -- See src/db/pack.rs; empty where there are none.
    packed bytea not null,
    -- Empty array: tasks were not placed. Text of JSON [[cpu, …], …].
    placement jsonb not null,
    disturbance jsonb not null,
    -- {name: number per operation}; empty where nothing was counted.
    counters jsonb not null default '{}',
    -- Null when our runner measured or the point failed; {"tool", "spread"?} when another tool measured.
    imported jsonb,
    -- Null when measured; {"call", "errno", "task", "detail"} when failed.
    failure jsonb,
    primary key (machine_id, run_id, curve_id, tasks),
    foreign key (machine_id, run_id) references run (machine_id, id) on delete cascade,
    constraint point_is_measured_imported_or_failed check (
        case
            when failure is not null then imported is null and windows = 0
            when imported is not null then windows = 0
            else windows > 0
        end
    )
) partition by range (machine_id);
-- Packed bytes do not compress further.
alter table point alter column packed set storage external;
create index point_failed on point (machine_id, curve_id) where failure is not null;

-- One row a run and series: the summary of all its samples, in the order of revisions by index. The
-- row is written with its run, whose own keys hold machine, revision and environment; nothing is
-- looked up again for each of a run's many rows.
create table measurement (
    machine_id bigint not null,
    series_id bigint not null constraint measurement_needs_known_series references series (id),
    run_id uuid not null,
    branch_id bigint not null,
    revision_id bigint not null,
    environment_id bigint not null,
    -- Copy of revision.rank, so that a series is one index range scan.
    rank bigint not null,
    finished_at timestamptz not null,
    mean double precision not null,
    -- Sample standard deviation (n - 1); null for one sample.
    sd double precision,
    -- Robust scale of the samples; null for one sample.
    scale double precision,
    min double precision not null,
    median double precision not null,
    -- Exact 95 % interval of the median; null where samples are too few for one.
    median_low double precision,
    median_high double precision,
    max double precision not null,
    n integer not null,
    -- What the samples follow from: the windows of the point by 1 ops ÷ Δt, 2 ops ÷ CPU time,
    -- 3 fewest ÷ most ops; null: they stand in `samples`.
    derived smallint
        constraint measurement_is_derived_by_a_known_rule check (derived between 1 and 3),
    samples double precision[],
    constraint measurement_has_samples check (n > 0 and n >= coalesce(cardinality(samples), 1))
) partition by range (machine_id);
create unique index measurement_in_order
    on measurement (machine_id, series_id, branch_id, rank, finished_at, run_id)
    include (revision_id, environment_id, n, mean, sd, scale, min, median, median_low, median_high,
             max);

-- Partitions of eight machines each, so that there is one for every machine up to `upto`; how many
-- were made. Attached when ready: nobody who reads or writes the others waits.
create function partition_machines(upto bigint) returns integer language plpgsql as $$
declare
    first bigint;
    parent text;
    child text;
    made integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('partition_machines', 0));
    for first in select generate_series(0, upto, 8) loop
        foreach parent in array array['point', 'measurement'] loop
            child := format('%s_of_machines_%s', parent, first);
            continue when to_regclass(child) is not null;
            execute format('create table %I (like %I including defaults including constraints '
                           'including storage)', child, parent);
            execute format('alter table %I attach partition %I for values from (%s) to (%s)',
                           parent, child, first, first + 8);
            made := made + 1;
        end loop;
    end loop;
    return made;
end
$$;
select partition_machines((select coalesce(max(id), 0) + 16 from machine));

insert into point (machine_id, curve_id, run_id, start_skew_ns, wall_ns, received_ns, tasks,
                   warmup_windows, windows, packed, placement, disturbance, counters, imported, failure)
select machine_id, curve_id, run_id, start_skew_ns, pg_temp.total(dt_ns), pg_temp.total(cpu_ns),
       tasks, warmup_windows, cardinality(dt_ns), pg_temp.packed(dt_ns, ops, cpu_ns, tasks),
       placement, disturbance, counters, imported, failure
from old_point;

insert into measurement (machine_id, series_id, run_id, branch_id, revision_id, environment_id, rank,
                         finished_at, mean, sd, scale, min, median, max, n, samples)
select m.machine_id, m.series_id, m.run_id, r.branch_id, m.revision_id, m.environment_id, m.rank,
       m.finished_at, m.mean, m.sd, pg_temp.scale(m.samples), m.min, m.median, m.max, m.n, m.samples
from old_measurement m join revision r on r.id = m.revision_id;

drop table old_point;
drop table old_measurement;
