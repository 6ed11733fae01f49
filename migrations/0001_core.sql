-- The nouns of the service. Order of a series is the revision's `rank`, never the order of arrival.
-- Every unique key of a growing table (run, point, measurement, step, due) starts with machine_id,
-- the column a cluster would be sharded by.

create table project (
    id bigint generated always as identity primary key,
    name text not null constraint project_name_is_unique unique,
    subject text not null constraint project_subject_is_known check (subject in ('kernel', 'program', 'model')),
    created_at timestamptz not null
);

-- A branch is ordered either by first-parent position or by committer time, decided by its first
-- report: the two cannot be mixed.
create table branch (
    id bigint generated always as identity primary key,
    project_id bigint not null references project (id),
    name text not null,
    order_by text not null constraint branch_order_is_known check (order_by in ('position', 'committed_at')),
    constraint branch_name_is_unique_in_project unique (project_id, name)
);

create table revision (
    id bigint generated always as identity primary key,
    branch_id bigint not null references branch (id),
    commit_id text not null,
    position bigint,
    committed_at timestamptz,
    -- position, or microseconds since 1970 of committed_at, as the branch orders.
    rank bigint not null,
    parents text[] not null,
    subject text not null,
    constraint revision_is_unique_in_branch unique (branch_id, commit_id)
);
create index revision_in_order on revision (branch_id, rank, commit_id);

create table machine (
    id bigint generated always as identity primary key,
    -- The runner's hash of the identity, as on the wire and in addresses.
    public_id text not null constraint machine_public_id_is_unique unique,
    name text not null,
    identity jsonb not null,
    registered_at timestamptz not null,
    last_seen_at timestamptz
);

-- Bearer tokens. Only the SHA-256 of a 256-bit random token is kept.
create table token (
    id bigint generated always as identity primary key,
    name text not null,
    hash bytea not null constraint token_hash_is_unique unique,
    scope text not null constraint token_scope_is_known check (scope in ('read', 'upload', 'register', 'admin')),
    machine_id bigint references machine (id),
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    constraint token_of_upload_names_a_machine check ((scope = 'upload') = (machine_id is not null))
);

-- Content-addressed: one row per distinct set of facts.
create table environment (
    id bigint generated always as identity primary key,
    digest bytea not null constraint environment_digest_is_unique unique,
    facts jsonb not null,
    first_seen_at timestamptz not null
);

create table run (
    machine_id bigint not null constraint run_needs_known_machine references machine (id),
    id uuid not null,
    revision_id bigint not null references revision (id),
    environment_id bigint not null references environment (id),
    -- SHA-256 of the canonical report: the same UUID with another body is a conflict.
    body_digest bytea not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    received_at timestamptz not null,
    primary key (machine_id, id),
    constraint run_does_not_finish_before_it_starts check (finished_at >= started_at)
);
create index run_by_id on run (id);
create index run_by_arrival on run (received_at desc);
create index run_by_revision on run (revision_id, machine_id);

-- The points of one workload on one machine that differ only in task count.
create table curve (
    id bigint generated always as identity primary key,
    machine_id bigint not null references machine (id),
    project_id bigint not null references project (id),
    workload text not null,
    workload_version integer not null,
    parameters jsonb not null,
    -- SHA-256 of the parameters as JSON with sorted keys: they may be larger than an index entry.
    parameters_digest bytea not null,
    constraint curve_is_unique unique (machine_id, project_id, workload, workload_version, parameters_digest)
);

-- One metric at one task count of a curve.
create table series (
    id bigint generated always as identity primary key,
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    tasks integer not null constraint series_has_tasks check (tasks > 0),
    metric text not null,
    unit text not null,
    direction text not null constraint series_direction_is_known check (direction in ('higher', 'lower')),
    -- The workload's first metric: the one people look at first.
    is_primary boolean not null,
    constraint series_is_unique unique (machine_id, curve_id, tasks, metric)
);

-- Raw windows of one point of a run, or why there are none.
create table point (
    machine_id bigint not null,
    run_id uuid not null,
    curve_id bigint not null references curve (id),
    tasks integer not null,
    -- Empty array: tasks were not placed. Text of JSON [[cpu, …], …].
    placement jsonb not null,
    start_skew_ns bigint,
    warmup_windows integer,
    -- One entry a window.
    dt_ns bigint[] not null,
    -- Window-major: entry w * tasks + t belongs to window w and task t.
    ops bigint[] not null,
    cpu_ns bigint[] not null,
    disturbance jsonb not null,
    -- {name: number per operation}; empty where nothing was counted.
    counters jsonb not null default '{}',
    -- Null when measured; {"call", "errno", "task", "detail"} when failed.
    failure jsonb,
    primary key (machine_id, run_id, curve_id, tasks),
    foreign key (machine_id, run_id) references run (machine_id, id) on delete cascade,
    constraint point_is_measured_or_failed check ((failure is null) = (cardinality(dt_ns) > 0)),
    constraint point_counts_every_task check (
        cardinality(ops) = cardinality(dt_ns) * tasks and cardinality(cpu_ns) = cardinality(ops)
    )
);
create index point_of_curve on point (machine_id, curve_id);

-- One row per run and series: all values and their summary, in the order of revisions by index.
create table measurement (
    machine_id bigint not null,
    series_id bigint not null references series (id),
    run_id uuid not null,
    revision_id bigint not null references revision (id),
    environment_id bigint not null references environment (id),
    -- Copy of revision.rank, so that a series is one index range scan.
    rank bigint not null,
    finished_at timestamptz not null,
    samples double precision[] not null,
    n integer not null,
    mean double precision not null,
    -- Sample standard deviation (n - 1); null for one sample.
    sd double precision,
    min double precision not null,
    median double precision not null,
    max double precision not null,
    primary key (machine_id, series_id, run_id),
    foreign key (machine_id, run_id) references run (machine_id, id) on delete cascade,
    constraint measurement_has_samples check (n > 0 and n = cardinality(samples))
);
create index measurement_in_order on measurement (machine_id, series_id, rank, finished_at, run_id)
    include (revision_id, environment_id, n, mean, sd, min, median, max);

create table artefact (
    digest bytea primary key,
    media_type text not null,
    -- gzip of the content as sent.
    content bytea not null,
    size_bytes bigint not null
);

create table run_artefact (
    machine_id bigint not null,
    run_id uuid not null,
    name text not null,
    digest bytea not null references artefact (digest),
    primary key (machine_id, run_id, name),
    foreign key (machine_id, run_id) references run (machine_id, id) on delete cascade
);

-- Curves whose history changed and was not judged yet. Claimed with skip locked and deleted in the
-- transaction that stores the judgement.
create table due (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    marked_at timestamptz not null,
    primary key (machine_id, curve_id)
);

-- Steps with one cause. People triage incidents; mail goes out per incident.
create table incident (
    id bigint generated always as identity primary key,
    project_id bigint not null references project (id),
    branch_id bigint not null references branch (id),
    direction text not null constraint incident_direction_is_known check (direction in ('regression', 'improvement')),
    state text not null constraint incident_state_is_known check (state in ('new', 'acknowledged', 'retracted')),
    -- The cause lies after good_rank, up to and including bad_rank: the overlap of its steps' ranges.
    good_rank bigint not null,
    bad_rank bigint not null,
    opened_at timestamptz not null,
    changed_at timestamptz not null,
    constraint incident_range_is_not_empty check (good_rank < bad_rank)
);
create index incident_by_state on incident (state, changed_at desc);

-- Changes found in a series.
create table step (
    id bigint generated always as identity primary key,
    machine_id bigint not null,
    series_id bigint not null references series (id),
    incident_id bigint references incident (id),
    environment_id bigint not null references environment (id),
    -- Last revision before and first revision after the step.
    good_revision_id bigint not null references revision (id),
    bad_revision_id bigint not null references revision (id),
    direction text not null constraint step_direction_is_known check (direction in ('regression', 'improvement')),
    -- Levels before and after, ratio after / before with its 95 % interval; ratio null where before is not positive.
    level_before double precision not null,
    level_after double precision not null,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    -- Evidence: samples used and every inequality with its numbers, as stats::Evidence renders it.
    evidence jsonb not null,
    found_at timestamptz not null,
    -- Set when late data disproved it; kept as history.
    retracted_at timestamptz
);
create unique index step_is_found_once on step (machine_id, series_id, environment_id, bad_revision_id)
    where retracted_at is null;
create index step_of_incident on step (incident_id);
create index step_of_series on step (machine_id, series_id);

-- What happened to an incident, in order; never updated.
create table incident_event (
    id bigint generated always as identity primary key,
    incident_id bigint not null references incident (id),
    at timestamptz not null,
    -- opened, step_joined, step_moved, step_retracted, state_changed, mailed
    kind text not null,
    detail jsonb not null
);
create index incident_event_in_order on incident_event (incident_id, id);

-- Messages to be sent. One row per event: `event` is unique, so nothing is told twice.
create table outbox (
    id bigint generated always as identity primary key,
    event text not null constraint outbox_event_is_unique unique,
    kind text not null constraint outbox_kind_is_known check (kind in ('incident_opened', 'incident_retracted')),
    incident_id bigint not null references incident (id),
    due_at timestamptz not null,
    attempts integer not null default 0,
    -- A sender that dies lets its lease run out.
    claimed_until timestamptz,
    sent_at timestamptz,
    -- Where it went: a file or the recipients.
    sent_to text,
    last_error text,
    -- Set when late data took the reason away before the message went out.
    withdrawn_at timestamptz,
    constraint outbox_is_sent_or_withdrawn check (sent_at is null or withdrawn_at is null)
);
create index outbox_unsent on outbox (due_at) where sent_at is null and withdrawn_at is null;
