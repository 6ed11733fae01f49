use scalewatch::db;
use wire::{Direction, Outcome, Report, Subject, Unit};

use crate::support::{Enrolled, ReportBuilder, Service, a_point, a_report, row_counts};

/// Stores `first`, then checks that `second` is refused so and changes nothing.
async fn refused(
    service: &Service,
    enrolled: &Enrolled,
    first: Report,
    second: ReportBuilder,
    refusal: (u16, &str, &str),
) {
    service.accept(enrolled, &first).await;
    let before = row_counts(&service.app.db).await;
    let answer = service.upload(enrolled, &second.build()).await;
    let (status, code, field) = refusal;
    assert_eq!(answer.refusal(), (status, code.into(), Some(field.into())), "{}", answer.text());
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_branch_keeps_the_order_of_its_first_report(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let by_time = a_report().on(&enrolled.machine).at(2).with(|report| {
        report.revision.position = None;
        report.revision.committed_at = Some("2026-01-01T00:00:00Z".into());
    });
    let first = a_report().on(&enrolled.machine).at(1).build();
    let field = "revision.position";
    refused(&service, &enrolled, first, by_time, (422, "invalid_field", field)).await;

    let on_next = |builder: ReportBuilder| builder.with(|r| r.revision.branch = "next".into());
    let first = on_next(a_report().on(&enrolled.machine).at(1)).with(|report| {
        report.revision.position = None;
        report.revision.committed_at = Some("2026-01-01T00:00:00Z".into());
    });
    let by_position = on_next(a_report().on(&enrolled.machine).at(2));
    let field = "revision.committed_at";
    let refusal = (422, "invalid_field", field);
    refused(&service, &enrolled, first.build(), by_position, refusal).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_revision_keeps_its_place(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let first = a_report().on(&enrolled.machine).at(3).build();
    let moved = a_report().on(&enrolled.machine).at(3).with(|r| r.revision.position = Some(4));
    let refusal = (409, "revision_moved", "revision.position");
    refused(&service, &enrolled, first, moved, refusal).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_same_commit_may_lie_on_two_branches(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for (branch, position) in [("main", 3), ("stable", 900)] {
        let report = a_report().on(&enrolled.machine).at(3).with(|report| {
            report.revision.branch = branch.into();
            report.revision.position = Some(position);
        });
        service.accept(&enrolled, &report.build()).await;
    }
    let project = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let commit = a_report().at(3).build().revision.commit;
    let found = db::revision::list_by_prefix(&service.app.db, project.id, &commit[..8]).await;
    assert_eq!(found.unwrap().iter().map(|r| r.rank).collect::<Vec<_>>(), [900, 3]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_project_keeps_its_subject(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let first = a_report().on(&enrolled.machine).build();
    let other = a_report().on(&enrolled.machine).with(|r| r.project.subject = Subject::Kernel);
    let refusal = (409, "project_subject_changed", "project.subject");
    refused(&service, &enrolled, first, other, refusal).await;
}

fn with_metric(
    builder: ReportBuilder,
    tasks: u32,
    unit: Unit,
    direction: Direction,
) -> ReportBuilder {
    let mut point = a_point(tasks, &[100.0]);
    if let Outcome::Measured(measured) = &mut point.outcome {
        measured.metrics[0].unit = unit;
        measured.metrics[0].direction = direction;
    }
    builder.with_points(vec![a_point(16, &[1.0]), point])
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_metric_keeps_its_unit_and_direction_over_the_whole_curve(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = || a_report().on(&enrolled.machine);
    let field = |part| format!("points[1].outcome.measured.metrics[0].{part}");
    for tasks in [1, 2] {
        let other = with_metric(report(), tasks, Unit::LoopsPerSecond, Direction::Higher);
        let refusal = (409, "metric_redefined", &*field("unit"));
        refused(&service, &enrolled, report().build(), other, refusal).await;
        let other = with_metric(report(), tasks, Unit::OpsPerSecond, Direction::Lower);
        let refusal = (409, "metric_redefined", &*field("direction"));
        refused(&service, &enrolled, report().build(), other, refusal).await;
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_report_that_contradicts_itself_is_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let report = a_report().on(&enrolled.machine);
    let report = with_metric(report, 1, Unit::Bytes, Direction::Higher).build();
    let answer = service.upload(&enrolled, &report).await;
    let (status, code, _) = answer.refusal();
    assert_eq!((status, code.as_str()), (409, "metric_redefined"), "{}", answer.text());
    assert_eq!(row_counts(&service.app.db).await, before);
}
