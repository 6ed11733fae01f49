-- What identical code differs by, from three sources; relative, 0.01 is 1 %.

-- A/A runs of `scalewatch-runner calibrate`, as last uploaded.
create table noise_floor (
    machine_id bigint not null references machine (id),
    workload text not null,
    metric text not null,
    relative double precision not null
        constraint noise_floor_is_a_share check (relative >= 0 and relative <= 10),
    pairs integer not null constraint noise_floor_was_measured check (pairs > 0),
    measured_at timestamptz not null,
    primary key (machine_id, workload, metric)
);

-- Between the builds of one curve, within levels and environments; renewed with every judgement.
create table build_noise (
    machine_id bigint not null,
    curve_id bigint not null references curve (id),
    metric text not null,
    relative double precision not null
        constraint build_noise_is_a_share check (relative >= 0 and relative < 'infinity'),
    -- Pairs of neighbouring builds.
    builds integer not null,
    -- End of the newest run that counts.
    observed_at timestamptz not null,
    primary key (machine_id, curve_id, metric)
);

-- Steps of incidents that people marked invalid for noise; gone again when they reopen one.
create table refuted_suspect (
    machine_id bigint not null,
    step_id bigint not null references step (id),
    incident_id bigint not null references incident (id),
    workload text not null,
    metric text not null,
    relative double precision not null
        constraint refuted_suspect_is_a_share check (relative >= 0 and relative <= 10),
    refuted_at timestamptz not null,
    primary key (machine_id, step_id)
);
create index refuted_suspect_of_incident on refuted_suspect (incident_id);
create index refuted_suspect_of_workload on refuted_suspect (machine_id, workload, metric);

-- What every curve may lean on. Refuted suspects and A/A runs count for the workload as a whole.
create view noise_of_curve (
    machine_id, curve_id, metric, source, relative, observations, observed_at
) as
select c.machine_id, c.id, f.metric, 'calibrated', f.relative, f.pairs::bigint, f.measured_at
from curve c join noise_floor f on f.machine_id = c.machine_id and f.workload = c.workload
union all
select machine_id, curve_id, metric, 'builds', relative, builds::bigint, observed_at
from build_noise
union all
select c.machine_id, c.id, r.metric, 'refuted', max(r.relative), count(*), max(r.refuted_at)
from curve c join refuted_suspect r on r.machine_id = c.machine_id and r.workload = c.workload
group by c.machine_id, c.id, r.metric;
