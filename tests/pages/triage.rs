//! The form by which people decide, as a browser posts it.

use axum::http::header;
use scalewatch::db::Pool;
use scalewatch::model::Role;

use super::read::read;
use super::{assert_shows, link, page};
use crate::support::Service;
use crate::support::history::{FAST, SLOW, a_run, upload_regression, work};

async fn with_incident(pool: Pool) -> (Service, String) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    (service, incident)
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_form_decides_and_leads_back_to_what_it_changed(pool: Pool) {
    let (service, incident) = with_incident(pool).await;
    let maria = service.person("maria", false).await;
    service.role(&maria, "linux", Role::Triager).await;
    let mut browser = service.browser_of(&maria).await;
    let html = browser.get(&incident).await.text();
    for part in ["value=\"acknowledged\"", "<option>noise</option>", "name=\"fixed_by\""] {
        assert!(html.contains(part), "{part} is missing");
    }
    let fields = [
        ("from", "new"),
        ("to", "invalid"),
        ("reason", "noise"),
        ("fixed_by", ""),
        ("note", "two <modes>"),
    ];
    let answer = browser.post(&incident, &incident, &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], incident.as_str());
    let shown = read(&browser.get(&incident).await.text());
    assert_shows(
        &shown,
        &["state: invalid: noise", "invalid: noise, by maria two <modes>", "Reopen"],
    );
    assert!(!shown.text.contains("Acknowledge"), "no way leads there from here");
    assert_shows(
        &page(&service, "/incidents?state=settled").await,
        &["1 incident", "invalid: noise"],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_form_that_makes_no_sense_changes_nothing(pool: Pool) {
    let (service, incident) = with_incident(pool).await;
    let maria = service.person("maria", true).await;
    let mut browser = service.browser_of(&maria).await;
    for (fields, status, told) in [
        (&[("from", "acknowledged"), ("to", "confirmed")][..], 409, "the incident is new by now"),
        (&[("from", "new"), ("to", "fixed")], 422, "fixed_by: must be"),
        (&[], 422, "to: `` is none of"),
    ] {
        let answer = browser.post(&incident, &incident, fields).await;
        assert_eq!(answer.status, status, "{told}: {}", answer.text());
        assert_shows(&read(&answer.text()), &[told]);
    }
    let nowhere = browser.post(&incident, "/incidents/999", &[("to", "confirmed")]).await;
    assert_eq!(nowhere.status, 404);
    assert_shows(&page(&service, &incident).await, &["state: new", "Log in to decide"]);
}

/// Fields by which a list names its incidents.
const ONE: &str = "incident_1";
const TWO: &str = "incident_2";

/// Two incidents, of projects `linux` and `other`.
async fn with_two(pool: Pool) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    for position in 1..=11 {
        let level = if position < 7 { FAST } else { SLOW };
        let other = |report: &mut wire::Report| report.project.name = "other".into();
        service.accept(&box_a, &a_run(&box_a, position, level).with(other).build()).await;
    }
    work(&service.app).await;
    service
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_list_decides_about_all_that_are_picked_at_once(pool: Pool) {
    let service = with_two(pool).await;
    let maria = service.person("maria", true).await;
    let mut browser = service.browser_of(&maria).await;
    let html = browser.get("/incidents").await.text();
    for part in [ONE, TWO] {
        assert!(html.contains(&format!("name=\"{part}\" value=\"new\"")), "{part} can be picked");
    }
    let fields = [
        (ONE, "new"),
        (TWO, "new"),
        ("to", "invalid"),
        ("reason", "environment"),
        ("note", "the room was hot"),
        ("list", "open"),
    ];
    let answer = browser.post("/incidents", "/incidents", &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], "/incidents?state=open");
    assert_shows(&page(&service, "/incidents?state=settled").await, &["2 incidents"]);
    for incident in ["/incidents/1", "/incidents/2"] {
        let shown = page(&service, incident).await;
        assert_shows(&shown, &["state: invalid: environment", "by maria the room was hot"]);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn where_one_of_those_picked_cannot_be_decided_none_is(pool: Pool) {
    let service = with_two(pool).await;
    let maria = service.person("maria", true).await;
    let mut browser = service.browser_of(&maria).await;
    let seen_differently = [(ONE, "new"), (TWO, "acknowledged"), ("to", "confirmed")];
    let without_reason = [(ONE, "new"), (TWO, "new"), ("to", "invalid")];
    for (fields, status, told) in [
        (&seen_differently[..], 409, "incident 2: the incident is new by now; nothing was changed"),
        (&without_reason, 422, "reason: "),
        (&[("to", "confirmed")], 422, "none was picked"),
        (&[(ONE, "new"), ("incident_99", "new"), ("to", "confirmed")], 404, "Not found"),
        (&[(ONE, "new"), ("incident_x", "new"), ("to", "confirmed")], 404, "Not found"),
    ] {
        let answer = browser.post("/incidents", "/incidents", fields).await;
        assert_eq!(answer.status, status, "{told}: {}", answer.text());
        assert_shows(&read(&answer.text()), &[told]);
    }
    for incident in ["/incidents/1", "/incidents/2"] {
        assert_shows(&page(&service, incident).await, &["state: new"]);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn only_what_one_may_decide_about_can_be_picked(pool: Pool) {
    let service = with_two(pool).await;
    assert!(!service.get("/incidents").await.text().contains("type=\"checkbox\""));
    let otto = service.person("otto", false).await;
    service.role(&otto, "linux", Role::Triager).await;
    let mut browser = service.browser_of(&otto).await;
    let html = browser.get("/incidents").await.text();
    assert_eq!(html.matches("type=\"checkbox\"").count(), 1);
    let fields = [(ONE, "new"), (TWO, "new"), ("to", "confirmed")];
    assert_eq!(browser.post("/incidents", "/incidents", &fields).await.status, 403);
    assert_shows(&page(&service, "/incidents/1").await, &["state: new"]);
}
