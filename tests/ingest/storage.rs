//! How windows are stored, what becomes of rows of older versions, and where rows lie.

use scalewatch::db::{self, Pool, run};
use scalewatch::{MIGRATOR, db::history};
use wire::Outcome;

use crate::support::{Service, a_point, a_report};

/// What a service of the version before wrote: three windows of a point with two tasks.
const OLD: &str = "
    insert into project (name, subject, created_at) values ('linux', 'program', now());
    insert into branch (project_id, name, order_by) values (1, 'main', 'position');
    insert into revision (branch_id, commit_id, position, rank, parents, subject)
    values (1, 'abcdef0123', 7, 7, '{}', 'old');
    insert into machine (public_id, name, identity, registered_at) values ('ff', 'box', $${
        \"architecture\": \"x86_64\", \"cpu_model\": \"old\", \"sockets\": 1, \"cores\": 2, \"threads\": 2,
        \"numa_nodes\": 1, \"caches\": [], \"memory_class\": \"1 GiB\", \"hardware_id\": \"old\"}$$, now());
    insert into environment (digest, facts, first_seen_at) values ('\\x00', '{}', now());
    insert into run values (1, '11111111-1111-4111-8111-111111111111', 1, 1, '\\x00', now(), now(), now());
    insert into curve (machine_id, project_id, workload, workload_version, parameters,
                       parameters_digest) values (1, 1, 'file/open', 1, '{}', '\\x00');
    insert into series (machine_id, curve_id, tasks, metric, unit, direction, is_primary)
    values (1, 1, 2, 'ops_per_s_total', 'ops/s', 'higher', true);
    insert into point (machine_id, run_id, curve_id, tasks, placement, start_skew_ns, warmup_windows,
                       dt_ns, ops, cpu_ns, disturbance)
    values (1, '11111111-1111-4111-8111-111111111111', 1, 2, '[[0],[1]]', 5, 1,
            '{1000000000,999999871,1000000129}', '{0,300,100,9007199254740992,1,2}',
            '{5,6,7,8,9,10}', '{}');
    insert into point (machine_id, run_id, curve_id, tasks, placement, dt_ns, ops, cpu_ns, disturbance,
                       failure)
    values (1, '11111111-1111-4111-8111-111111111111', 1, 4, '[]', '{}', '{}', '{}', '{}',
            '{\"call\": \"open\", \"detail\": \"gone\"}');
    insert into measurement
    values (1, 1, '11111111-1111-4111-8111-111111111111', 1, 1, 7, now(), '{300,100,200}', 3, 200,
            100, 100, 200, 300)";

#[sqlx::test(migrations = false)]
async fn windows_and_samples_of_the_version_before_are_read_as_they_were(pool: Pool) {
    MIGRATOR.run_to(12, &pool).await.unwrap();
    sqlx::raw_sql(OLD).execute(&pool).await.unwrap();
    MIGRATOR.run(&pool).await.unwrap();

    let id = "11111111-1111-4111-8111-111111111111".parse().unwrap();
    let head = run::find(&pool, id).await.unwrap().expect("it was stored");
    assert_eq!((head.points, head.failed_points), (2, 1));
    let points = db::point::list_of_run(&pool, &head).await.unwrap();
    let measured = points[0].outcome.as_ref().unwrap();
    let read: Vec<_> =
        measured.windows.iter().map(|w| (w.dt_ns, w.ops.clone(), w.cpu_ns.clone())).collect();
    assert_eq!(
        read,
        [
            (1_000_000_000, vec![0, 300], vec![5, 6]),
            (999_999_871, vec![100, 1 << 53], vec![7, 8]),
            (1_000_000_129, vec![1, 2], vec![9, 10]),
        ]
    );
    assert_eq!(measured.metrics[0].samples, [300.0, 100.0, 200.0]);
    assert_eq!(points[1].outcome.as_ref().unwrap_err().call, "open");

    let curve = db::curve::find(&pool, points[0].curve).await.unwrap().unwrap();
    let filter = history::Filter::default();
    let stored = history::list(&pool, &curve, &filter, true).await.unwrap();
    assert_eq!(stored[0].samples, [300.0, 100.0, 200.0]);
    let scale: f64 =
        sqlx::query_scalar("select scale from measurement").fetch_one(&pool).await.unwrap();
    let sample = stats::Sample::new(&[300.0, 100.0, 200.0]).unwrap();
    assert!((scale - stats::robust::scale(sample).unwrap()).abs() < 1e-9, "{scale}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_follows_from_windows_is_not_stored_beside_them_and_is_read_all_the_same(pool: Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let mut point = a_point(3, &[300.0, 330.0, 270.0]);
    let Outcome::Measured(measured) = &mut point.outcome else { panic!("a_point is measured") };
    let given = wire::Metric {
        name: "latency".into(),
        unit: wire::Unit::Nanoseconds,
        direction: wire::Direction::Lower,
        source: wire::Source::Values(vec![4.0, 5.0, 6.0]),
    };
    measured.metrics.push(given);
    measured.metrics.push(wire::Metric::task_fairness());
    let wanted: Vec<(String, Vec<f64>)> =
        measured.metrics.iter().map(|m| (m.name.clone(), measured.values(m))).collect();
    let report = a_report().on(&enrolled.machine).with_points(vec![point]).build();
    service.accept(&enrolled, &report).await;

    let stored: Vec<(String, bool)> = sqlx::query_as(
        "select s.metric, m.samples is not null from measurement m join series s on s.id = m.series_id
         order by s.metric",
    )
    .fetch_all(&service.app.db)
    .await
    .unwrap();
    let beside: Vec<&str> = stored.iter().filter(|(_, is)| *is).map(|(name, _)| &**name).collect();
    assert_eq!(beside, ["latency"]);
    let curves = db::curve::list(
        &service.app.db,
        &scalewatch::model::Visible::ALL,
        &db::curve::Filter::default(),
        2,
    )
    .await
    .unwrap();
    for (name, values) in wanted {
        let filter = history::Filter { metric: Some(&name), ..Default::default() };
        let read = history::list(&service.app.db, &curves[0], &filter, true).await.unwrap();
        assert_eq!(read[0].samples, values, "{name}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn there_is_room_for_every_machine_however_many_register(pool: Pool) {
    let service = Service::on(pool);
    for number in 0..30 {
        let enrolled = service.registered(&format!("box-{number}")).await;
        service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    }
    let lying: Vec<(String, i64)> = sqlx::query_as(
        "select tableoid::regclass::text, count(*) from point group by 1 order by min(machine_id)",
    )
    .fetch_all(&service.app.db)
    .await
    .unwrap();
    let in_each: Vec<i64> = lying.iter().map(|(_, points)| *points).collect();
    assert_eq!(in_each, [7, 8, 8, 7], "{lying:?}");
}
