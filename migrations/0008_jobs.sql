-- Measurements that were asked for, and the agents that do them.

-- What a machine's agent said of itself when it last asked for a job.
create table agent (
    machine_id bigint primary key references machine (id),
    labels text[] not null,
    -- Names of the projects whose revisions it can prepare.
    projects text[] not null,
    runner text not null,
    seen_at timestamptz not null
);

-- A request that carried a key: the same key with the same request makes no second job.
create table job_submission (
    id bigint generated always as identity primary key,
    project_id bigint not null references project (id),
    key text not null,
    -- SHA-256 of the request.
    digest bytea not null,
    created_at timestamptz not null,
    constraint job_submission_key_is_unique_in_project unique (project_id, key)
);

-- A plan and one revision, or two that take turns, on one machine.
create table job (
    id bigint generated always as identity primary key,
    project_id bigint not null references project (id),
    submission_id bigint references job_submission (id),
    -- The incident whose suspect is measured again; none when somebody asked.
    incident_id bigint references incident (id),
    submitted_by text not null,
    -- As on the wire.
    plan jsonb not null,
    revisions jsonb not null,
    -- Commit ids of the revisions, to be looked up.
    commits text[] not null,
    -- Index of the revision of each turn.
    turns integer[] not null,
    wanted_machine_id bigint references machine (id),
    wanted_label text,
    priority integer not null,
    deadline timestamptz,
    limit_s integer not null,
    state text not null constraint job_state_is_known check (state in (
        'queued', 'claimed', 'preparing', 'running', 'done', 'failed', 'cancelled', 'timed_out')),
    reason text,
    -- The machine that has it, or had it last.
    machine_id bigint references machine (id),
    -- Names the claim. Kept when the job goes back into the queue, so that an agent that was only
    -- out of reach may go on with it.
    lease uuid,
    lease_until timestamptz,
    attempts integer not null default 0,
    progress jsonb not null default '{}',
    -- The end of the agent's log.
    log text not null default '',
    created_at timestamptz not null,
    claimed_at timestamptz,
    ended_at timestamptz,
    constraint job_is_for_a_machine_or_a_label check ((wanted_machine_id is null) <> (wanted_label is null)),
    constraint job_has_a_turn check (cardinality(turns) > 0 and cardinality(commits) between 1 and 2),
    constraint job_is_live_with_a_lease check (
        (state in ('claimed', 'preparing', 'running')) = (lease_until is not null)
        and (lease_until is null or (lease is not null and machine_id is not null))),
    constraint job_is_over_at_a_time check (
        (state in ('done', 'failed', 'cancelled', 'timed_out')) = (ended_at is not null))
);
create unique index job_machine_has_one_live_job on job (machine_id)
    where state in ('claimed', 'preparing', 'running');
create index job_waiting on job (wanted_machine_id, wanted_label) where state = 'queued';
create index job_live on job (lease_until) where state in ('claimed', 'preparing', 'running');
create index job_of_project on job (project_id, id desc);
create index job_of_submission on job (submission_id) where submission_id is not null;

-- Runs that came of a job.
create table job_run (
    machine_id bigint not null,
    run_id uuid not null,
    job_id bigint not null references job (id),
    turn integer not null,
    primary key (machine_id, run_id),
    constraint job_run_is_of_a_turn check (turn >= 0)
);
create index job_run_of_job on job_run (job_id, turn);

-- When a machine last took a job of a project: the project that waits longest goes first.
create table project_served (
    machine_id bigint not null references machine (id),
    project_id bigint not null references project (id),
    served_at timestamptz not null,
    primary key (machine_id, project_id)
);

-- Whether a suspect was measured again before it was told, and what came of it.
create table confirmation (
    incident_id bigint primary key references incident (id),
    job_id bigint references job (id),
    -- Null while the job is at work.
    outcome text constraint confirmation_outcome_is_known check (
        outcome in ('confirmed', 'refuted', 'not_rerun')),
    words text not null,
    asked_at timestamptz not null,
    decided_at timestamptz,
    constraint confirmation_is_decided_at_a_time check ((outcome is null) = (decided_at is null))
);
create index confirmation_waiting on confirmation (job_id) where outcome is null;
