-- What changed of a curve since it was judged last: a long history is judged again only near it.

-- Whether all of the curve's history is to be judged: a floor changed, not only runs.
alter table due add column whole boolean not null default true;

-- Ranks at which runs arrived, by branch; goes with the mark.
create table due_range (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    branch_id bigint not null,
    low bigint not null,
    high bigint not null,
    primary key (machine_id, curve_id, branch_id),
    constraint due_range_has_an_order check (low <= high)
);

-- Curves of which some histories are so long that they are judged in windows.
create table judged (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    -- Branches on which they were when the curve was judged last; where others are, it is judged
    -- as a whole once.
    long_branches bigint[] not null,
    primary key (machine_id, curve_id)
);
