-- How long raw samples are kept, machines that are gone, and work that is done now and then.

alter table project
    -- Days after a run until its windows and samples go; null keeps them for ever. Summaries stay.
    add column raw_days integer
        constraint project_keeps_raw_samples_for_days check (raw_days between 1 and 36500);

-- When retention took the run's windows and samples away.
alter table run add column thinned_at timestamptz;
create index run_not_thinned on run (finished_at) where thinned_at is null;

-- A machine that is gone: what it measured stays, new reports are refused until it registers again.
alter table machine add column retired_at timestamptz;

-- Work that one of several services does now and then, and when it last began.
create table chore (
    name text primary key,
    begun_at timestamptz not null
);
