-- How curves scale, revision by revision, and steps of what their laws say.

-- The law through the points of one revision in one environment, or why there is none; renewed with
-- every judgement of the curve where its measurements changed.
create table scaling (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    environment_id bigint not null references environment (id),
    revision_id bigint not null references revision (id),
    -- The last of the runs.
    run_id uuid not null,
    finished_at timestamptz not null,
    -- Task counts the law goes through, ascending, and the measurements at them.
    tasks integer[] not null,
    measurements integer not null,
    -- model::scaling::FittedLaw.
    law jsonb,
    refusal text,
    primary key (machine_id, curve_id, environment_id, revision_id),
    constraint scaling_has_a_law_or_a_reason check ((law is null) <> (refusal is null))
);

-- A derived series holds no measurement: it is a figure of the law (contention, coherency, knee,
-- peak) up to the largest task count, so that a step of it is a step like any other. It exists from
-- its first step on, and may be called as a measured metric is.
alter table series add column derived boolean not null default false;
alter table series drop constraint series_is_unique;
alter table series add constraint series_is_unique
    unique (machine_id, curve_id, tasks, metric, derived);

-- Curves that were judged before have laws as well.
insert into due (machine_id, curve_id, marked_at)
select machine_id, id, now() from curve order by machine_id, id
on conflict (machine_id, curve_id) do nothing;
