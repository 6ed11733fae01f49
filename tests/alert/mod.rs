//! From uploaded histories to incidents.

mod bends;
mod late;
mod neighbour;
mod outcome;
mod race;

use scalewatch::db::incident::Filter;
use scalewatch::db::{self, Pool};
use scalewatch::model::Visible;
use scalewatch::model::incident::{Incident, State};
use scalewatch::model::step::Change;

use crate::support::history::{FAST, SLOW, a_run, upload, upload_regression, work};
use crate::support::{Service, a_point};

/// Every incident, oldest first.
async fn incidents(service: &Service) -> Vec<Incident> {
    let filter = Filter::default();
    let list = db::incident::list(&service.app.db, &Visible::ALL, &filter, 100);
    let mut all = list.await.unwrap();
    all.reverse();
    all
}

/// The one incident there is.
async fn the_incident(service: &Service) -> Incident {
    let all = incidents(service).await;
    assert_eq!(all.len(), 1, "{all:#?}");
    all.into_iter().next().unwrap()
}

/// Kinds of an incident's history, in order.
async fn history(service: &Service, incident: &Incident) -> Vec<String> {
    let events = db::incident::list_events(&service.app.db, incident.id).await.unwrap();
    events.into_iter().map(|event| event.kind).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_slower_revision_is_one_incident_over_all_points_and_metrics(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;

    let incident = the_incident(&service).await;
    assert_eq!((incident.change, incident.state), (Change::Regression, State::New));
    assert_eq!((incident.good.rank, incident.bad.rank), (6, 7));
    assert_eq!(incident.bad.subject, "ext4: change number 7");
    assert_eq!((incident.steps, incident.machines), (6, 1));
    assert_eq!(incident.headline.metric, "ops_per_s_total");
    assert_eq!(incident.headline.all_tasks, [1, 2, 4]);
    let (ratio, low, high) = incident.headline.ratio.unwrap();
    assert!((0.64..0.66).contains(&ratio) && low <= ratio && ratio <= high, "{low} {ratio} {high}");
    for step in db::incident_step::list(&service.app.db, incident.id).await.unwrap() {
        assert!(!step.evidence.used.is_empty() && !step.evidence.inequalities.is_empty());
        assert!(step.evidence.decided_by.is_some());
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_faster_revision_is_an_incident_that_nobody_is_mailed_about(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=6, SLOW).await;
    upload(&service, &box_a, 7..=11, FAST).await;
    work(&service.app).await;

    let incident = the_incident(&service).await;
    assert_eq!(incident.change, Change::Improvement);
    let messages = db::incident::list_messages(&service.app.db, incident.id).await.unwrap();
    assert_eq!(messages, []);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_steady_history_is_no_incident(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=14, FAST).await;
    work(&service.app).await;
    assert_eq!(incidents(&service).await, []);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_workloads_and_two_machines_with_one_cause_are_one_incident(pool: Pool) {
    let service = Service::on(pool);
    for name in ["box-a", "box-b"] {
        let machine = service.registered(name).await;
        upload_regression(&service, &machine).await;
        for position in 1..=11 {
            let level = if position < 7 { FAST } else { SLOW };
            let mut point = a_point(2, &crate::support::history::noisy(position, 2, level));
            point.workload = "file/open".into();
            let report = a_run(&machine, position, level).with_points(vec![point]).build();
            service.accept(&machine, &report).await;
        }
    }
    work(&service.app).await;
    let incident = the_incident(&service).await;
    assert_eq!((incident.machines, incident.steps), (2, 2 * (6 + 2)));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_causes_are_two_incidents(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    upload(&service, &box_a, 12..=18, SLOW * 0.6).await;
    work(&service.app).await;
    let mut ranges: Vec<(i64, i64)> =
        incidents(&service).await.iter().map(|one| (one.good.rank, one.bad.rank)).collect();
    ranges.sort_unstable();
    assert_eq!(ranges, [(6, 7), (11, 12)]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn another_environment_splits_the_baseline_and_every_later_step_says_so(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=6, FAST).await;
    let slower = |position, level| {
        a_run(&box_a, position, level).in_environment("cpu.governor", "powersave").build()
    };
    for position in 7..=12 {
        service.accept(&box_a, &slower(position, SLOW)).await;
    }
    work(&service.app).await;
    assert_eq!(incidents(&service).await, [], "the governor is no commit's doing");

    for position in 13..=18 {
        service.accept(&box_a, &slower(position, SLOW / 2.0)).await;
    }
    work(&service.app).await;
    let incident = the_incident(&service).await;
    assert_eq!((incident.good.rank, incident.bad.rank), (12, 13));
    for step in db::incident_step::list(&service.app.db, incident.id).await.unwrap() {
        let told = step.evidence.set_aside.join(" ");
        assert!(told.contains("6 of its runs judged apart"), "{told}");
        assert!(told.contains("cpu.governor powersave → performance"), "{told}");
    }
}
