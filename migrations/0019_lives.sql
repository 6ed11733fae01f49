-- What stored results go through: machines that were registered twice, branches that get another name,
-- histories that are written anew.

-- Ids of machines that were merged into another; their reports are that machine's from then on.
create table machine_alias (
    public_id text primary key,
    machine_id bigint not null references machine (id),
    -- As it registered: reports under this id are held against it.
    identity jsonb not null,
    merged_at timestamptz not null
);
create index machine_alias_of_machine on machine_alias (machine_id);

-- Numbers of curves and series that were joined with another's when their machines were merged.
create table curve_alias (
    id bigint primary key,
    curve_id bigint not null references curve (id)
);
create index curve_alias_of_curve on curve_alias (curve_id);

create table series_alias (
    id bigint primary key,
    series_id bigint not null references series (id)
);
create index series_alias_of_series on series_alias (series_id);

-- Names that a branch had; they lead to it until another branch takes one.
create table branch_alias (
    project_id bigint not null references project (id) on delete cascade,
    name text not null,
    branch_id bigint not null references branch (id) on delete cascade,
    renamed_at timestamptz not null,
    primary key (project_id, name)
);
create index branch_alias_of_branch on branch_alias (branch_id);

-- When a rewritten history left the revision out. Then its rank is moved below every other, and its
-- measurements are kept under the negated number of the branch, which no history asks for.
alter table revision add column off_branch_at timestamptz;
create index revision_off_branch on revision (branch_id) where off_branch_at is not null;
