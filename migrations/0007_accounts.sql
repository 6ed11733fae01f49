-- People, what they may do, how they are known again, their tokens, and what was done by whom.

-- Public: everybody may read it. Else those alone who have a role in it, and site admins.
alter table project add column is_public boolean not null default true;

create table person (
    id bigint generated always as identity primary key,
    name text not null constraint person_name_is_unique unique
        constraint person_name_is_a_short_word check (name ~ '^[a-z0-9][a-z0-9._@+-]{0,99}$'),
    -- argon2id as a PHC string; null where no password was set.
    password text,
    -- Site admin: every right in every project, and over people.
    is_admin boolean not null default false,
    created_at timestamptz not null,
    last_login_at timestamptz,
    disabled_at timestamptz
);

-- What a person may do in one project; each role includes those before it.
create table role (
    person_id bigint not null references person (id) on delete cascade,
    project_id bigint not null references project (id) on delete cascade,
    role text not null
        constraint role_is_known check (role in ('viewer', 'triager', 'maintainer', 'admin')),
    primary key (person_id, project_id)
);
create index role_of_project on role (project_id);

-- A browser that is logged in. Only the SHA-256 of the cookie's 256 random bits is kept.
create table session (
    id bigint generated always as identity primary key,
    person_id bigint not null references person (id) on delete cascade,
    hash bytea not null constraint session_hash_is_unique unique,
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    -- Refused from then on, however much it is used.
    expires_at timestamptz not null,
    address text not null,
    user_agent text not null
);
create index session_of_person on session (person_id);

-- The way to set a password without the old one, once. A new link takes the place of the old one.
create table password_link (
    person_id bigint primary key references person (id) on delete cascade,
    hash bytea not null constraint password_link_hash_is_unique unique,
    expires_at timestamptz not null
);

-- How often something was done in the window that began at `started_at`. Unlogged: counting a
-- request must not cost a flush, and after a crash counting begins anew.
create unlogged table rate (
    subject text primary key,
    started_at timestamptz not null,
    taken integer not null
);
create index rate_by_age on rate (started_at);

alter table token drop constraint token_scope_is_known;
alter table token
    add constraint token_scope_is_known check (
        scope in ('read', 'upload', 'register', 'triage', 'submit', 'admin')),
    -- Whose it is, and whose rights bound it; null for tokens of the command line and of machines.
    add column person_id bigint references person (id) on delete cascade;
create index token_of_person on token (person_id);

-- The projects a token is limited to; a token without a row here is not limited.
create table token_project (
    token_id bigint not null references token (id) on delete cascade,
    project_id bigint not null references project (id) on delete cascade,
    primary key (token_id, project_id)
);

-- What was done, by whom and from where; never updated. Names are copied, so that a line outlives
-- the person and the token.
create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    person_id bigint references person (id) on delete set null,
    who text not null,
    -- A client's address, or `command line`.
    origin text not null,
    -- person_added, role_set, logged_in, token_made, ...
    what text not null,
    -- `person ada`, `project linux`, `token 3 (ci)`, ...
    about text not null,
    -- What changed, where something did.
    was jsonb,
    became jsonb
);
create index audit_by_person on audit (person_id, id);
