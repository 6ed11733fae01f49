//! A neighbour on the machine is not a regression; tasks that sleep are one.

use scalewatch::db;
use scalewatch::db::Pool;
use wire::Subject;

use super::{incidents, the_incident};
use crate::support::history::{FAST, SLOW, noisy, with_cpu_share, work};
use crate::support::{Enrolled, Service, a_point, a_report};

/// Six revisions with all the CPU, then five with 65 % of it while others take `taken_ns` of every
/// second: ops per CPU-second stand still.
async fn upload_share(service: &Service, machine: &Enrolled, subject: Subject, taken_ns: u64) {
    for position in 1..=11 {
        let (level, share, taken) =
            if position < 7 { (FAST, 1.0, 0) } else { (SLOW, SLOW / FAST, taken_ns) };
        let point = with_cpu_share(a_point(2, &noisy(position, 2, level)), share, taken);
        let report = a_report().on(&machine.machine).at(position).with_points(vec![point]);
        let report = report.with(|report| report.project.subject = subject);
        service.accept(machine, &report.build()).await;
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_neighbour_that_takes_the_cpu_is_noted_and_opens_no_incident(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_share(&service, &box_a, Subject::Program, 400_000_000).await;
    work(&service.app).await;
    assert_eq!(incidents(&service).await, []);

    let curve = sqlx::query_scalar::<_, i64>("select id from curve").fetch_one(&service.app.db);
    let curve = scalewatch::model::CurveId(curve.await.unwrap());
    let steps = db::incident_step::list_standing_of_curve(&service.app.db, curve).await.unwrap();
    assert_eq!(steps.len(), 1);
    let neighbour = steps[0].evidence.neighbour.as_ref().expect("it was weighed");
    assert!(neighbour.blamed && neighbour.words.contains("put down to others"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn tasks_that_sleep_more_are_a_regression_though_each_cpu_second_does_as_much(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_share(&service, &box_a, Subject::Program, 0).await;
    work(&service.app).await;
    assert_eq!(the_incident(&service).await.headline.metric, "ops_per_s_total");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn cpu_time_that_went_elsewhere_does_not_excuse_a_kernel(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_share(&service, &box_a, Subject::Kernel, 400_000_000).await;
    work(&service.app).await;
    assert_eq!(the_incident(&service).await.steps, 1, "it may be the kernel's own threads");
}
