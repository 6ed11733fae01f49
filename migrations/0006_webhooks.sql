-- Addresses outside that are told what happens to the incidents of a project, and what is told.

create table webhook (
    id bigint generated always as identity primary key,
    project_id bigint not null references project (id),
    url text not null,
    -- Signs what is sent, so it is kept as it is.
    secret text not null,
    created_at timestamptz not null,
    -- A removed one stays for the deliveries that name it.
    removed_at timestamptz
);
create unique index webhook_is_unique_in_project on webhook (project_id, url)
    where removed_at is null;

-- A line of an incident's history is told once to each webhook of its project.
create table webhook_delivery (
    id bigint generated always as identity primary key,
    webhook_id bigint not null references webhook (id),
    incident_id bigint not null references incident (id),
    incident_event_id bigint not null references incident_event (id),
    -- Fixed by the first attempt, so that every further one sends the same.
    body text,
    due_at timestamptz not null,
    attempts integer not null default 0,
    -- A sender that dies lets its lease run out.
    claimed_until timestamptz,
    sent_at timestamptz,
    last_error text,
    -- Set when it was tried for as long as is worth it, or nobody wants it any more.
    abandoned_at timestamptz,
    constraint webhook_delivery_is_told_once unique (webhook_id, incident_event_id),
    constraint webhook_delivery_is_sent_or_abandoned check (sent_at is null or abandoned_at is null)
);
create index webhook_delivery_waiting on webhook_delivery (due_at)
    where sent_at is null and abandoned_at is null;
create index webhook_delivery_in_order on webhook_delivery (webhook_id, incident_id, id);
