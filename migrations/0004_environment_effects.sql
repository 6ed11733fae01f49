-- What a change of environment did to the first metric of a series: whether the level moved between
-- the runs before and after it. Renewed with every judgement of the curve.
create table environment_effect (
    machine_id bigint not null,
    series_id bigint not null references series (id),
    from_environment_id bigint not null references environment (id),
    to_environment_id bigint not null references environment (id),
    curve_id bigint not null references curve (id),
    moved boolean not null,
    primary key (machine_id, series_id, from_environment_id, to_environment_id),
    constraint environment_effect_is_between_two check (from_environment_id <> to_environment_id)
);
create index environment_effect_of_curve on environment_effect (machine_id, curve_id);
