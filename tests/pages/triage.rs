//! The form by which people decide, as a browser posts it.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db::Pool;
use scalewatch::model::Scope;

use super::read::read;
use super::{assert_shows, link, page};
use crate::support::history::{upload_regression, work};
use crate::support::{Answer, Service};

async fn with_incident(pool: Pool) -> (Service, String) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    (service, incident)
}

async fn post(service: &Service, address: &str, site: &str, body: String) -> Answer {
    let request = Request::post(address)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header("sec-fetch-site", site)
        .body(Body::from(body));
    service.send(request.expect("a request")).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_form_decides_and_leads_back_to_what_it_changed(pool: Pool) {
    let (service, incident) = with_incident(pool).await;
    let html = service.get(&incident).await.text();
    for part in [
        "value=\"acknowledged\"",
        "<option>noise</option>",
        "name=\"fixed_by\"",
        "type=\"password\"",
    ] {
        assert!(html.contains(part), "{part} is missing");
    }
    let token = service.token(Scope::Triage).await;
    let body =
        format!("from=new&to=invalid&reason=noise&fixed_by=&note=two+%3Cmodes%3E&token={token}");
    let answer = post(&service, &incident, "same-origin", body).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], incident.as_str());
    let shown = page(&service, &incident).await;
    assert_shows(
        &shown,
        &["state: invalid: noise", "invalid: noise, by test two <modes>", "Reopen"],
    );
    assert!(!shown.text.contains("Acknowledge"), "no way leads there from here");
    assert!(!service.get(&incident).await.text().contains(&token), "it is never shown");
    assert_shows(
        &page(&service, "/incidents?state=settled").await,
        &["1 incident", "invalid: noise"],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_form_without_the_right_or_from_another_site_changes_nothing(pool: Pool) {
    let (service, incident) = with_incident(pool).await;
    let token = service.token(Scope::Triage).await;
    let reader = service.token(Scope::Read).await;
    let with = |token: &str| format!("from=new&to=confirmed&token={token}");
    for (site, body, status, told) in [
        ("cross-site", with(&token), 403, "this form was sent from another site"),
        ("same-site", with(&token), 403, "this form was sent from another site"),
        ("same-origin", with("sw_guess"), 401, "this token is not known here"),
        ("same-origin", with(&reader), 403, "this takes a token of scope triage"),
        (
            "same-origin",
            format!("from=acknowledged&to=confirmed&token={token}"),
            409,
            "the incident is new by now",
        ),
        ("same-origin", format!("from=new&to=fixed&token={token}"), 422, "fixed_by: must be"),
        ("same-origin", "from=new&to=confirmed".into(), 401, "this takes a token"),
        ("same-origin", format!("token={token}"), 422, "to: `` is none of"),
    ] {
        let answer = post(&service, &incident, site, body).await;
        assert_eq!(answer.status, status, "{told}: {}", answer.text());
        assert_shows(&read(&answer.text()), &[told]);
    }
    assert_shows(&page(&service, &incident).await, &["state: new"]);
}
