//! Histories of some thousand runs are judged in windows: the same steps in any order of arrival,
//! and a late run bears on what lies around it alone.

use std::collections::BTreeMap;

use scalewatch::db::{self, Pool};
use scalewatch::model::MachineId;

use crate::support::history::{FAST, SLOW, a_run, noisy, work};
use crate::support::{Enrolled, Service, a_point, a_report, noon};

const LENGTH: i64 = 2200;

/// Positions from which on the level is the other one.
const STEPS: [i64; 4] = [400, 900, 1300, 1751];

fn level(position: i64) -> f64 {
    let changes = STEPS.iter().filter(|step| position >= **step).count();
    if changes % 2 == 0 { FAST } else { SLOW }
}

/// A machine with one run, at position 1.
async fn a_machine_with_one_run(service: &Service, name: &str) -> Enrolled {
    let machine = service.registered(name).await;
    let report = a_report().on(&machine.machine).at(1);
    let point = a_point(1, &noisy(1, 1, level(1)));
    service.accept(&machine, &report.with_points(vec![point]).build()).await;
    machine
}

/// Runs at these positions as if they had been uploaded: rows like those of the first run, and the
/// marks that an upload makes.
async fn store(pool: &Pool, machine: MachineId, positions: &[i64]) {
    let shares: Vec<f64> =
        positions.iter().map(|n| noisy(*n, 1, level(*n))[0] / noisy(1, 1, FAST)[0]).collect();
    for statement in [
        "insert into revision (branch_id, commit_id, position, rank, parents, subject)
         select b.id, encode(sha256(int8send(pos)), 'hex'), pos, pos, '{}', 'change ' || pos
         from unnest($2::bigint[], $3::float8[]) as w (pos, share) cross join branch b
         where $1::bigint > 0 on conflict do nothing",
        "insert into run (machine_id, id, revision_id, environment_id, body_digest, started_at,
                          finished_at, received_at)
         select $1::bigint, md5($1::bigint || ' ' || pos)::uuid, v.id, r.environment_id, sha256(int8send(pos)),
                r.started_at, r.finished_at, r.received_at
         from unnest($2::bigint[], $3::float8[]) as w (pos, share)
         join revision v on v.commit_id = encode(sha256(int8send(pos)), 'hex')
         join (select * from run where machine_id = $1::bigint limit 1) r on true",
        "insert into measurement (machine_id, series_id, run_id, branch_id, revision_id,
                                  environment_id, rank, finished_at, mean, sd, scale, min, median,
                                  median_low, median_high, max, n, derived)
         select $1::bigint, m.series_id, md5($1::bigint || ' ' || pos)::uuid, m.branch_id, v.id, m.environment_id, pos,
                m.finished_at, m.mean * share, m.sd, m.scale, m.min * share, m.median * share,
                m.median_low * share, m.median_high * share, m.max * share, m.n, m.derived
         from unnest($2::bigint[], $3::float8[]) as w (pos, share)
         join revision v on v.commit_id = encode(sha256(int8send(pos)), 'hex')
         join measurement m on m.machine_id = $1::bigint and m.rank = 1",
        "insert into due (machine_id, curve_id, marked_at, whole)
         select machine_id, id, now(), false from curve where machine_id = $1::bigint
             and cardinality($2::bigint[]) = cardinality($3::float8[])
         on conflict do nothing",
        "insert into due_range (machine_id, curve_id, branch_id, low, high)
         select machine_id, c.id, b.id, min(pos), max(pos)
         from curve c cross join branch b
         cross join unnest($2::bigint[], $3::float8[]) as w (pos, share)
         where machine_id = $1::bigint group by 1, 2, 3
         on conflict (machine_id, curve_id, branch_id) do update
             set low = least(due_range.low, excluded.low),
                 high = greatest(due_range.high, excluded.high)",
    ] {
        let query = sqlx::query(statement).bind(machine.0).bind(positions).bind(&shares);
        query.execute(pool).await.unwrap();
    }
}

type Steps = BTreeMap<(String, i64), (i64, f64, f64)>;

/// The steps that stand, by metric and rank.
async fn standing(pool: &Pool, machine: MachineId) -> Steps {
    let rows: Vec<(String, i64, i64, f64, f64)> = sqlx::query_as(
        "select s.metric, b.rank, g.rank, t.level_before, t.level_after
         from step t join series s on s.id = t.series_id
         join revision g on g.id = t.good_revision_id join revision b on b.id = t.bad_revision_id
         where t.machine_id = $1 and t.retracted_at is null",
    )
    .bind(machine.0)
    .fetch_all(pool)
    .await
    .unwrap();
    rows.into_iter()
        .map(|(metric, bad, good, before, after)| ((metric, bad), (good, before, after)))
        .collect()
}

fn places(steps: &Steps) -> Vec<i64> {
    let of_one = steps.keys().filter(|(metric, _)| metric == "ops_per_s_total");
    of_one.map(|(_, rank)| *rank).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_long_history_has_the_same_steps_in_any_order_of_arrival(pool: Pool) {
    let service = Service::on(pool);
    let pool = &service.app.db;
    let at_once = a_machine_with_one_run(&service, "box-a").await;
    let in_order = a_machine_with_one_run(&service, "box-b").await;
    let shuffled = a_machine_with_one_run(&service, "box-c").await;
    let all: Vec<i64> = (2..=LENGTH).collect();
    store(pool, at_once.id, &all).await;
    work(&service.app).await;
    let expected = standing(pool, at_once.id).await;
    assert_eq!(places(&expected), STEPS);

    for some in all.chunks(157) {
        store(pool, in_order.id, some).await;
        work(&service.app).await;
    }
    assert_eq!(standing(pool, in_order.id).await, expected);

    // The end first, then what lies between, then the rest backwards.
    let (late, early): (Vec<i64>, Vec<i64>) = all.iter().partition(|n| **n % 3 != 0);
    store(pool, shuffled.id, &late).await;
    work(&service.app).await;
    for some in early.rchunks(61) {
        store(pool, shuffled.id, some).await;
        work(&service.app).await;
    }
    assert_eq!(standing(pool, shuffled.id).await, expected);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_late_run_of_a_long_history_moves_the_step_it_lies_at_and_nothing_else(pool: Pool) {
    let service = Service::on(pool);
    let pool = &service.app.db;
    let machine = a_machine_with_one_run(&service, "box-a").await;
    let all: Vec<i64> = (2..=LENGTH).filter(|n| *n != 1300).collect();
    store(pool, machine.id, &all).await;
    work(&service.app).await;
    let before = standing(pool, machine.id).await;
    assert_eq!(places(&before), [400, 900, 1301, 1751]);

    // A step that nothing supports stands as long as nobody looks there.
    let unsupported = "insert into step (machine_id, series_id, environment_id, good_revision_id,
                                         bad_revision_id, direction, level_before, level_after,
                                         evidence, found_at)
         select t.machine_id, t.series_id, t.environment_id, g.id, b.id, t.direction, 2, 1,
                t.evidence, t.found_at
         from step t join revision o on o.id = t.bad_revision_id join series s on s.id = t.series_id
         join revision g on g.rank = 99 join revision b on b.rank = 100
         where o.rank = 400 and s.metric = 'ops_per_s_total' and t.retracted_at is null";
    assert_eq!(sqlx::query(unsupported).execute(pool).await.unwrap().rows_affected(), 1);
    let report = a_run(&machine, 1300, level(1300)).build();
    let points = report.points.into_iter().take(1).collect();
    let late = a_report().on(&machine.machine).at(1300).with_points(points).build();
    service.accept(&machine, &late).await;
    work(&service.app).await;
    let after = standing(pool, machine.id).await;
    assert_eq!(places(&after), [100, 400, 900, 1300, 1751]);
    for key in before.keys().filter(|(_, rank)| ![900, 1301, 1751].contains(rank)) {
        assert_eq!(after[key], before[key], "{key:?}");
    }

    // A floor bears on the whole history: all of it is judged again.
    let mut connection = pool.acquire().await.unwrap();
    let workloads = [late.points[0].workload.clone()];
    db::noise::mark_workloads_due(&mut connection, machine.id, &workloads, noon()).await.unwrap();
    work(&service.app).await;
    let again = standing(pool, machine.id).await;
    assert_eq!(places(&again), STEPS);
    assert!(again.iter().all(|(key, step)| after[key] == *step));
}
