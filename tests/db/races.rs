//! Uploads at the same time, over connections of their own.

use scalewatch::db;

use crate::support::{ReportBuilder, Service, a_point, a_report, row_counts};

/// A report that creates its project, branch, revision, environment, curves and series.
fn fresh(machine: &wire::Machine, order: &[u32]) -> ReportBuilder {
    let points = order.iter().flat_map(|tasks| {
        ["file/open", "file/dup", "sys/getppid"].map(|workload| {
            let mut point = a_point(*tasks, &[100.0, 101.0]);
            point.workload = workload.into();
            point
        })
    });
    a_report().on(machine).with_points(points.collect())
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_same_report_twice_at_once_is_stored_once(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for _ in 0..10 {
        let report = fresh(&enrolled.machine, &[1, 2]).build();
        let (one, other) =
            tokio::join!(service.upload(&enrolled, &report), service.upload(&enrolled, &report));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 201], "{} {}", one.text(), other.text());
    }
    let counts = row_counts(&service.app.db).await;
    assert_eq!((counts["run"], counts["point"], counts["measurement"]), (10, 60, 120));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_reports_under_one_uuid_at_once_leave_one(pool: db::Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("box-a").await, service.registered("box-b").await);
    for _ in 0..10 {
        let report = fresh(&a.machine, &[1]).build();
        let elsewhere = wire::Report { machine: b.machine.clone(), ..report.clone() };
        let (one, other) =
            tokio::join!(service.upload(&a, &report), service.upload(&b, &elsewhere));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{} {}", one.text(), other.text());
    }
    assert_eq!(row_counts(&service.app.db).await["run"], 10);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn runs_that_create_the_same_rows_at_once_all_arrive(pool: db::Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("box-a").await, service.registered("box-b").await);
    for round in 0..5 {
        let reports = [(&a, [1, 2, 4]), (&a, [4, 1, 2]), (&b, [2, 4, 1]), (&a, [2, 1, 4])];
        let reports = reports.map(|(enrolled, order)| {
            let name = format!("project {round}");
            let report = fresh(&enrolled.machine, &order).with(|report| {
                report.project.name = name;
                report.environment.0.insert("round".into(), round.to_string());
            });
            (enrolled, report.build())
        });
        let [r0, r1, r2, r3] = &reports;
        let (s0, s1, s2, s3) = tokio::join!(
            service.upload(r0.0, &r0.1),
            service.upload(r1.0, &r1.1),
            service.upload(r2.0, &r2.1),
            service.upload(r3.0, &r3.1)
        );
        for answer in [s0, s1, s2, s3] {
            assert_eq!(answer.status, 201, "{}", answer.text());
        }
    }
    let counts = row_counts(&service.app.db).await;
    let unique = ["project", "branch", "revision", "environment"];
    assert!(unique.iter().all(|table| counts[*table] == 5), "{counts:?}");
    assert_eq!((counts["curve"], counts["series"]), (5 * 2 * 3, 5 * 2 * 3 * 3 * 2));
    assert_eq!((counts["run"], counts["point"]), (20, 20 * 9));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_metric_defined_twice_at_once_is_defined_once(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for round in 0..10 {
        let report = |tasks, unit| {
            let mut point = a_point(tasks, &[100.0]);
            point.workload = format!("workload/{round}");
            if let wire::Outcome::Measured(measured) = &mut point.outcome {
                measured.metrics[0].unit = unit;
            }
            a_report().on(&enrolled.machine).with_points(vec![point]).build()
        };
        let (one, other) = (report(1, wire::Unit::OpsPerSecond), report(2, wire::Unit::Count));
        let (one, other) =
            tokio::join!(service.upload(&enrolled, &one), service.upload(&enrolled, &other));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{} {}", one.text(), other.text());
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_registered_twice_at_once_is_one_machine_with_two_tokens(pool: db::Pool) {
    let service = Service::on(pool);
    let (one, other) = tokio::join!(service.registered("box-a"), service.registered("box-a"));
    assert_eq!(one.id, other.id);
    assert_ne!(one.token, other.token);
    assert_eq!(row_counts(&service.app.db).await["machine"], 1);
}
