//! How often incidents were right, as people's decisions tell.

use scalewatch::db::{self, Pool};
use scalewatch::model::{Role, Scope};
use serde_json::{Value, json};

use super::{assert_shows, link, page};
use crate::support::Service;
use crate::support::history::{FAST, SLOW, a_run, work};

/// One machine, and an incident in each of so many projects.
async fn with_incidents(pool: Pool, projects: usize) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for project in 0..projects {
        for position in 1..=11 {
            let level = if position < 7 { FAST } else { SLOW };
            let named = |report: &mut wire::Report| report.project.name = format!("p{project}");
            service.accept(&box_a, &a_run(&box_a, position, level).with(named).build()).await;
        }
    }
    work(&service.app).await;
    service
}

async fn decide(service: &Service, incident: i64, decision: Value) {
    let token = service.token(Scope::Triage).await;
    let path = format!("/api/v1/incidents/{incident}/state");
    let answer = service.post(&path, &token, decision.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

async fn incidents(service: &Service) -> Vec<i64> {
    let all = service.get("/api/v1/incidents?state=all").await.json();
    let mut ids: Vec<i64> =
        all["items"].as_array().unwrap().iter().filter_map(|one| one["id"].as_i64()).collect();
    ids.sort_unstable();
    ids
}

/// The group of all incidents.
async fn all(service: &Service) -> Value {
    let answer = service.get("/api/v1/alert-quality").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["groups"][0].clone()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn no_share_is_said_before_enough_was_decided(pool: Pool) {
    let service = with_incidents(pool, 1).await;
    let before = all(&service).await;
    assert_eq!(before["undecided"], 1);
    let incident = incidents(&service).await[0];
    decide(&service, incident, json!({ "to": "acknowledged" })).await;
    assert_eq!(all(&service).await, before, "to take care of it says nothing about it");
    decide(&service, incident, json!({ "to": "confirmed" })).await;
    let shown = page(&service, "/alert-quality").await;
    assert_shows(
        &shown,
        &[
            "Over all incidents: not enough data: 1 of 5 decided.",
            "level of a point",
            "box-a not enough data: 1 of 5 decided 1 0 0",
            "fallocate/append-truncate",
        ],
    );
    link(&shown, "/machines/");
    assert_eq!(all(&service).await["precision"], Value::Null);
    link(&page(&service, "/incidents").await, "/alert-quality");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_share_is_of_those_that_people_decided_and_the_last_word_counts(pool: Pool) {
    let service = with_incidents(pool, 6).await;
    let ids = incidents(&service).await;
    assert_eq!(ids.len(), 6);
    for (id, to) in ids.iter().zip(["confirmed", "confirmed", "wont_fix"]) {
        decide(&service, *id, json!({ "to": to })).await;
    }
    for id in &ids[3..5] {
        decide(&service, *id, json!({ "to": "invalid", "reason": "noise" })).await;
    }
    let five = all(&service).await;
    assert_eq!((&five["confirmed"], &five["invalid"]), (&json!(3), &json!(2)));
    assert_eq!(five["undecided"], 1);
    assert_eq!(five["precision"]["value"], 0.6);
    assert_shows(
        &page(&service, "/alert-quality").await,
        &["People confirmed 60.0 % [23.1, 88.2] of the incidents they decided about."],
    );
    // Invalid is taken back by opening again; what was confirmed and left stays confirmed.
    decide(&service, ids[3], json!({ "to": "reopened" })).await;
    decide(&service, ids[2], json!({ "to": "reopened" })).await;
    let four = all(&service).await;
    assert_eq!((&four["confirmed"], &four["invalid"]), (&json!(3), &json!(1)));
    assert_eq!(four["precision"], Value::Null);
    decide(&service, ids[3], json!({ "to": "confirmed" })).await;
    assert_eq!(all(&service).await["precision"]["value"], 0.8);
    let one = service.get("/api/v1/alert-quality?project=p0").await.json();
    assert_eq!(one["groups"][0]["confirmed"], 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn incidents_of_a_private_project_are_counted_for_its_own_alone(pool: Pool) {
    let service = with_incidents(pool, 2).await;
    let project = db::project::find_by_name(&service.app.db, "p1").await.unwrap().unwrap();
    let mut connection = service.app.db.acquire().await.unwrap();
    db::project::set_public(&mut connection, project.id, false).await.unwrap();
    assert_eq!(all(&service).await["undecided"], 1);
    let maria = service.person("maria", false).await;
    service.role(&maria, "p1", Role::Viewer).await;
    let mut browser = service.browser_of(&maria).await;
    let seen = browser.get("/api/v1/alert-quality").await.json();
    assert_eq!(seen["groups"][0]["undecided"], 2);
    assert_eq!(service.get("/api/v1/alert-quality?project=p1").await.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn without_an_incident_the_page_says_what_would_fill_it(pool: Pool) {
    let service = Service::on(pool);
    assert_shows(&page(&service, "/alert-quality").await, &["No incident was opened yet."]);
}
