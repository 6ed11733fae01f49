-- What people and late data make of an incident, weights of a project, and the right to triage.

alter table incident drop constraint incident_state_is_known;
alter table incident
    add constraint incident_state_is_known check (state in (
        'new', 'acknowledged', 'confirmed', 'invalid', 'wont_fix', 'fixed', 'reopened', 'returned',
        'retracted', 'merged')),
    -- Why it is none, where people say so.
    add column reason text
        constraint incident_reason_is_known check (
            reason in ('noise', 'environment', 'workload', 'measurement', 'intended')),
    -- Commit id; the revision need not have been measured yet.
    add column fixed_by text,
    -- The incident that took over its steps.
    add column merged_into bigint references incident (id);
alter table incident
    add constraint incident_is_invalid_for_a_reason check ((state = 'invalid') = (reason is not null)),
    add constraint incident_is_fixed_by_a_commit check ((state = 'fixed') = (fixed_by is not null)),
    add constraint incident_is_merged_into_another check (
        (state = 'merged') = (merged_into is not null) and merged_into is distinct from id);

-- A message about one change of an incident names the line of its history that it tells.
alter table outbox drop constraint outbox_kind_is_known;
alter table outbox
    add constraint outbox_kind_is_known check (
        kind in ('incident_opened', 'incident_changed', 'incident_retracted')),
    add column incident_event_id bigint references incident_event (id);
alter table outbox
    add constraint outbox_names_the_change_it_tells check (
        (kind = 'incident_changed') = (incident_event_id is not null));
create index outbox_of_incident on outbox (incident_id, id);

alter table token drop constraint token_scope_is_known;
alter table token add constraint token_scope_is_known check (
    scope in ('read', 'upload', 'register', 'triage', 'admin'));

-- How much a project's users care: the most particular row counts, 1 where there is none. An empty
-- workload or metric stands for every one.
create table weight (
    project_id bigint not null references project (id),
    workload text not null,
    metric text not null,
    weight double precision not null
        constraint weight_is_a_factor check (weight >= 0 and weight <= 1000),
    primary key (project_id, workload, metric)
);
