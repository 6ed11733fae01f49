//! The form by which people decide, as a browser posts it.

use axum::http::header;
use scalewatch::db::Pool;
use scalewatch::model::Role;

use super::read::read;
use super::{assert_shows, link, page};
use crate::support::Service;
use crate::support::history::{upload_regression, work};

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
