use std::collections::BTreeMap;

use scalewatch::db::{self, history, run};
use scalewatch::model::{Measurement, Visible};
use wire::{Failure, Outcome, Source};

use crate::support::{Service, a_point, a_report, noon, row_counts};

async fn measurements(service: &Service, metric: &str) -> Vec<Measurement> {
    let curves = db::curve::list(&service.app.db, &Visible::ALL, &db::curve::Filter::default(), 10)
        .await
        .unwrap();
    let filter = history::Filter { metric: Some(metric), ..Default::default() };
    let mut all = Vec::new();
    for curve in &curves {
        all.extend(history::list(&service.app.db, curve, &filter, true).await.unwrap());
    }
    all
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn every_sample_and_its_summary_are_read_back(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let points = vec![a_point(2, &[200.0, 210.0, 190.0, 204.0]), a_point(1, &[100.0])];
    let report = a_report().on(&enrolled.machine).at(7).with_points(points.clone()).build();
    service.accept(&enrolled, &report).await;

    let stored = measurements(&service, "ops_per_s_total").await;
    assert_eq!(stored.iter().map(|m| m.tasks).collect::<Vec<_>>(), [1, 2]);
    let two = &stored[1];
    assert_eq!(two.samples, [200.0, 210.0, 190.0, 204.0]);
    assert_eq!((two.summary.n, two.summary.mean, two.summary.median), (4, 201.0, 202.0));
    assert_eq!((two.summary.min, two.summary.max), (190.0, 210.0));
    assert!((two.summary.sd.unwrap() - (212.0f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!(stored[0].summary.sd, None, "one sample has no deviation");
    assert_eq!((two.rank, two.commit.as_str()), (7, report.revision.commit.as_str()));

    let head = run::find(&service.app.db, report.run.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((head.points, head.failed_points), (2, 0));
    assert_eq!(head.received_at, noon());
    let read = db::point::list_of_run(&service.app.db, &head).await.unwrap();
    assert_eq!(read.iter().map(|p| p.tasks).collect::<Vec<_>>(), [1, 2]);
    let values = read[1].outcome.as_ref().unwrap();
    let Outcome::Measured(sent) = &points[0].outcome else { panic!("a_point is measured") };
    assert_eq!(values.windows, sent.windows);
    assert_eq!(values.placement, sent.placement);
    assert_eq!(values.disturbance, sent.disturbance);
    let metrics: Vec<_> = values.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(metrics, ["ops_per_s_total", "ops_per_cpu_s"]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_failed_point_is_kept_with_its_reason_and_without_a_rate(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let failure = Failure {
        call: "fallocate".into(),
        errno: Some(28),
        task: Some(3),
        detail: "no space left on device".into(),
    };
    let mut failed = a_point(4, &[1.0]);
    failed.outcome = Outcome::Failed(failure.clone());
    let points = vec![a_point(1, &[100.0]), failed];
    let report = a_report().on(&enrolled.machine).with_points(points).build();
    let accepted = service.accept(&enrolled, &report).await;
    assert_eq!((accepted.points, accepted.windows), (2, 1));
    let head = run::find(&service.app.db, report.run.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((head.points, head.failed_points), (2, 1));
    let read = db::point::list_of_run(&service.app.db, &head).await.unwrap();
    assert_eq!(read[1].outcome, Err(failure));
    assert_eq!(measurements(&service, "ops_per_s_total").await.len(), 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_metric_no_window_defines_is_left_out_and_the_point_stands(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let mut point = a_point(1, &[100.0, 101.0]);
    if let Outcome::Measured(measured) = &mut point.outcome {
        measured.windows.iter_mut().for_each(|window| window.cpu_ns = vec![0]);
    }
    let report = a_report().on(&enrolled.machine).with_points(vec![point]).build();
    service.accept(&enrolled, &report).await;
    assert_eq!(measurements(&service, "ops_per_s_total").await.len(), 1);
    assert!(measurements(&service, "ops_per_cpu_s").await.is_empty());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn points_that_differ_only_in_tasks_are_one_curve(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let with = |tasks, mode: &str| {
        let mut point = a_point(tasks, &[100.0]);
        point.parameters = BTreeMap::from([("mode".into(), mode.into())]);
        point
    };
    let points = vec![with(4, "process"), with(1, "thread"), with(1, "process")];
    service.accept(&enrolled, &a_report().on(&enrolled.machine).with_points(points).build()).await;
    let curves = db::curve::list(&service.app.db, &Visible::ALL, &db::curve::Filter::default(), 10)
        .await
        .unwrap();
    let shown: Vec<_> = curves
        .iter()
        .map(|curve| (curve.parameters["mode"].as_str(), curve.tasks.clone()))
        .collect();
    assert_eq!(shown.len(), 2);
    assert!(shown.contains(&("process", vec![1, 4])) && shown.contains(&("thread", vec![1])));
    let found = db::curve::find(&service.app.db, curves[1].id).await.unwrap().unwrap();
    assert_eq!(found, curves[1]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn history_is_in_the_order_of_revisions_whatever_arrives_first(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for position in [3, 1, 2] {
        let report = a_report().on(&enrolled.machine).at(position).build();
        service.accept(&enrolled, &report).await;
    }
    let ranks: Vec<_> =
        measurements(&service, "ops_per_s_total").await.iter().map(|m| m.rank).collect();
    assert_eq!(ranks, [1, 2, 3]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_branch_ordered_by_committer_time_is_read_in_that_order(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for (position, at) in [(1, "2026-01-02T00:00:00+02:00"), (2, "2026-01-01T23:00:00Z")] {
        let report = a_report().on(&enrolled.machine).at(position).with(|report| {
            report.revision.position = None;
            report.revision.committed_at = Some(at.into());
        });
        service.accept(&enrolled, &report.build()).await;
    }
    let read = measurements(&service, "ops_per_s_total").await;
    let subjects: Vec<_> = read.iter().map(|m| m.subject.as_str()).collect();
    assert_eq!(subjects, ["ext4: change number 1", "ext4: change number 2"]);
    assert!(read[0].committed_at < read[1].committed_at);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_two_runs_share_is_stored_once(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let log = wire::Artefact {
        name: "dmesg.txt".into(),
        media_type: "text/plain".into(),
        content: "ext4: mounted\n".repeat(100),
    };
    let report = || {
        a_report().on(&enrolled.machine).with(|report| report.artefacts = vec![log.clone()]).build()
    };
    service.accept(&enrolled, &report()).await;
    let one = row_counts(&service.app.db).await;
    let second = report();
    service.accept(&enrolled, &second).await;
    let two = row_counts(&service.app.db).await;
    for table in
        ["project", "branch", "revision", "environment", "curve", "series", "artefact", "due"]
    {
        assert_eq!(one[table], two[table], "{table}");
    }
    for table in ["run", "point", "measurement", "run_artefact"] {
        assert_eq!(2 * one[table], two[table], "{table}");
    }
    let head = run::find(&service.app.db, second.run.parse().unwrap()).await.unwrap().unwrap();
    let kept = db::run::list_artefacts(&service.app.db, &head).await.unwrap();
    assert_eq!((kept.len(), kept[0].size_bytes), (1, 1400));
    assert_eq!(kept[0].name, "dmesg.txt");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn another_environment_of_the_same_machine_is_another_row(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = || a_report().on(&enrolled.machine);
    service.accept(&enrolled, &report().build()).await;
    service.accept(&enrolled, &report().in_environment("kernel.release", "6.10.0").build()).await;
    let known = db::environment::list_of_machine(&service.app.db, &Visible::ALL, enrolled.id, 10)
        .await
        .unwrap();
    assert_eq!(known.len(), 2);
    let changes = scalewatch::model::environment::diff(&known[1].facts, &known[0].facts);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].field, "kernel.release");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn names_and_parameters_at_their_limits_are_stored(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let mut point = a_point(1, &[100.0]);
    point.workload = "w".repeat(wire::limits::NAME);
    let value = "é".repeat(wire::limits::TEXT / 2);
    point.parameters = (0..64).map(|i| (format!("p{i}"), value.clone())).collect();
    if let Outcome::Measured(measured) = &mut point.outcome {
        measured.metrics[0].name = "m".repeat(wire::limits::NAME);
        measured.metrics[1].source = Source::Values(vec![f64::MAX]);
    }
    let report = a_report().on(&enrolled.machine).with_points(vec![point.clone()]).with(|report| {
        report.project.name = "p".repeat(wire::limits::NAME);
        report.revision.branch = "b".repeat(wire::limits::NAME);
        report.revision.commit = "c".repeat(64);
    });
    service.accept(&enrolled, &report.build()).await;
    let curves = db::curve::list(&service.app.db, &Visible::ALL, &db::curve::Filter::default(), 10)
        .await
        .unwrap();
    assert_eq!(curves[0].parameters, point.parameters);
    assert_eq!(measurements(&service, "ops_per_cpu_s").await[0].summary.max, f64::MAX);
}
