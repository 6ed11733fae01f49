//! What becomes of incidents: merged, split, returned, and closed by people for good.

use scalewatch::db;
use scalewatch::db::Pool;
use scalewatch::model::Scope;
use scalewatch::model::incident::{Incident, State};
use scalewatch::model::step::Change;
use serde_json::json;

use super::{history, incidents, the_incident};
use crate::support::history::{
    FAST, SLOW, a_run, noisy, upload, upload_regression, upload_two_modes, work,
};
use crate::support::{Service, a_point};

/// Regressions, oldest first.
async fn regressions(service: &Service) -> Vec<Incident> {
    let mut all = incidents(service).await;
    all.retain(|one| one.change == Change::Regression);
    all
}

/// Takes an incident to a state, as somebody who may.
async fn decide(service: &Service, incident: &Incident, body: serde_json::Value) {
    let token = service.token(Scope::Triage).await;
    let path = format!("/api/v1/incidents/{}/state", incident.id);
    let answer = service.post(&path, &token, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn ranges(incidents: &[Incident]) -> Vec<(State, i64, i64)> {
    incidents.iter().map(|one| (one.state, one.good.rank, one.bad.rank)).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_incidents_that_late_data_show_to_be_one_are_merged_and_told_so(pool: Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("box-a").await, service.registered("box-b").await);
    upload(&service, &a, 1..=6, FAST).await;
    upload(&service, &a, 9..=14, SLOW).await;
    upload(&service, &b, 1..=9, FAST).await;
    upload(&service, &b, 12..=16, SLOW).await;
    work(&service.app).await;
    let two = incidents(&service).await;
    assert_eq!(ranges(&two), [(State::New, 6, 9), (State::New, 9, 12)]);

    for _ in 0..6 {
        upload(&service, &b, 9..=11, SLOW).await;
    }
    work(&service.app).await;
    let merged = incidents(&service).await;
    assert_eq!(ranges(&merged), [(State::New, 8, 9), (State::Merged, 9, 12)]);
    assert_eq!((merged[0].machines, merged[1].merged_into), (2, Some(merged[0].id)));
    let told = db::incident::list_messages(&service.app.db, merged[1].id).await.unwrap();
    assert_eq!(told.len(), 2, "opened, and merged: {told:#?}");
    assert!(told.iter().all(|message| message.sent_at.is_some()));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_whose_machines_late_data_set_apart_is_split(pool: Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("box-a").await, service.registered("box-b").await);
    for machine in [&a, &b] {
        upload(&service, machine, 1..=6, FAST).await;
        upload(&service, machine, 12..=17, SLOW).await;
    }
    work(&service.app).await;
    assert_eq!(the_incident(&service).await.machines, 2);

    upload(&service, &a, [7, 8], SLOW).await;
    upload(&service, &b, 8..=10, FAST).await;
    work(&service.app).await;
    let mut apart = incidents(&service).await;
    assert_eq!(apart.len(), 2, "{apart:#?}");
    assert!(history(&service, &apart[0]).await.contains(&"step_left".to_owned()));
    let events = db::incident::list_events(&service.app.db, apart[1].id).await.unwrap();
    let split = format!("split from incident {}", apart[0].id);
    assert!(events[0].words().ends_with(&split), "{}", events[0].words());
    apart.sort_by_key(|one| one.good.rank);
    assert_eq!(ranges(&apart), [(State::New, 6, 7), (State::New, 10, 12)]);
    assert_eq!((apart[0].machines, apart[1].machines), (1, 1));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_level_that_comes_back_closes_the_incident_until_later_runs_disprove_it(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    upload(&service, &box_a, 12..=18, FAST).await;
    work(&service.app).await;
    let returned = regressions(&service).await;
    assert_eq!(ranges(&returned), [(State::Returned, 6, 7)]);
    let events = db::incident::list_events(&service.app.db, returned[0].id).await.unwrap();
    let words: Vec<&str> = events.iter().map(|event| event.words()).collect();
    assert!(words.iter().any(|words| words.starts_with("the level is back since ")), "{words:?}");

    for _ in 0..8 {
        upload(&service, &box_a, 12..=18, SLOW).await;
    }
    work(&service.app).await;
    let again = regressions(&service).await;
    assert_eq!(ranges(&again), [(State::Reopened, 6, 7)]);
    let events: Vec<String> = db::incident::list_messages(&service.app.db, again[0].id)
        .await
        .unwrap()
        .into_iter()
        .map(|message| message.event.split_once('/').unwrap().1.to_owned())
        .map(|event| event.split('/').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(events, ["opened", "changed", "opened"]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_history_that_went_and_came_back_is_shown_and_never_mailed(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    upload(&service, &box_a, 12..=18, FAST).await;
    work(&service.app).await;
    let returned = regressions(&service).await;
    assert_eq!(ranges(&returned), [(State::Returned, 6, 7)]);
    let messages = db::incident::list_messages(&service.app.db, returned[0].id).await.unwrap();
    assert!(messages.iter().all(|message| message.sent_at.is_none()), "{messages:#?}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_people_closed_stays_closed_whatever_late_data_say(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = the_incident(&service).await;
    decide(&service, &incident, json!({ "to": "invalid", "reason": "workload" })).await;

    upload_two_modes(&service, &box_a).await;
    work(&service.app).await;
    let kept = the_incident(&service).await;
    assert_eq!((kept.state, kept.steps > 0), (State::Invalid, true), "its steps still speak");
    let steps = db::incident_step::list(&service.app.db, kept.id).await.unwrap();
    assert!(steps.iter().all(|step| step.retracted_at.is_some()));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn another_workload_in_the_range_of_an_invalid_incident_is_told_apart(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let invalid = the_incident(&service).await;
    decide(&service, &invalid, json!({ "to": "invalid", "reason": "measurement" })).await;

    for position in 1..=11 {
        let level = if position < 7 { FAST } else { SLOW };
        let mut point = a_point(2, &noisy(position, 2, level));
        point.workload = "file/open".into();
        let report = a_run(&box_a, position, level).with_points(vec![point]).build();
        service.accept(&box_a, &report).await;
    }
    work(&service.app).await;
    let all = incidents(&service).await;
    assert_eq!(ranges(&all), [(State::Invalid, 6, 7), (State::New, 6, 7)]);
    assert_eq!(all[1].headline.workload, "file/open");
}
