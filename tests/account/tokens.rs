//! Tokens of people, tokens that are limited, and how often one may be used.

use axum::http::header;
use scalewatch::db::{self, Pool};
use scalewatch::model::{Role, Scope};
use serde_json::json;
use time::Duration;

use crate::pages::read::read;
use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_report, row_counts};

const DECIDE: &str = "/api/v1/incidents/1/state";

async fn with_incident(pool: Pool) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service
}

/// The secret that a page shows.
fn secret(html: &str) -> String {
    let (_, rest) = html.split_once("<pre>sw_").expect("a secret is shown");
    format!("sw_{}", rest.split('<').next().unwrap_or_default())
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_of_a_person_does_what_the_person_may_and_no_longer_than_that(pool: Pool) {
    let service = with_incident(pool).await;
    let ada = service.person("ada", false).await;
    service.role(&ada, "linux", Role::Triager).await;
    let mut browser = service.browser_of(&ada).await;
    let form = browser.get("/account").await.text();
    for (scope, offered) in [("read", true), ("triage", true), ("submit", false), ("admin", false)]
    {
        assert_eq!(form.contains(&format!("<option>{scope}</option>")), offered, "{scope}");
    }
    let fields = [("name", "my bot"), ("scope", "triage"), ("project", "linux"), ("days", "30")];
    let made = browser.post("/account", "/account/tokens", &fields).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let token = secret(&made.text());
    let shown = browser.get("/account").await.text();
    assert!(!shown.contains(&token[3..]), "it is shown once");
    let text = read(&shown).text;
    assert!(text.contains("my bot triage in linux good until 2026-03-31"), "{text}");
    assert!(text.contains("never Revoke"), "{text}");

    let decide = async |to: &str| {
        let body = json!({ "to": to }).to_string();
        service.post(DECIDE, &token, body).await.status.as_u16()
    };
    assert_eq!(decide("acknowledged").await, 200);
    service.role(&ada, "linux", Role::Viewer).await;
    assert_eq!(decide("confirmed").await, 403, "the person may no longer");
    service.role(&ada, "linux", Role::Admin).await;
    assert_eq!(decide("confirmed").await, 200);
    let id = read(&browser.get("/account").await.text()).text;
    assert!(
        id.contains("just now") || id.contains("0 s ago") || !id.contains("never Revoke"),
        "{id}"
    );
    let mut connection = service.app.db.acquire().await.unwrap();
    let now = service.app.clock.now();
    db::person::set_disabled(&mut connection, ada.id, Some(now)).await.unwrap();
    assert_eq!(decide("fixed").await, 401, "of who is disabled");
    db::person::set_disabled(&mut connection, ada.id, None).await.unwrap();
    service.advance(Duration::days(30));
    assert_eq!(decide("fixed").await, 401, "it has expired");
    let history = service.get("/api/v1/incidents/1").await.text();
    assert!(history.contains("confirmed by my bot"), "{history}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn nobody_makes_a_token_for_more_than_they_may_or_revokes_another_ones(pool: Pool) {
    let service = with_incident(pool).await;
    let ada = service.person("ada", false).await;
    let mut browser = service.browser_of(&ada).await;
    for (fields, status) in [
        (vec![("name", "x"), ("scope", "triage")], 403),
        (vec![("name", "x"), ("scope", "admin")], 403),
        (vec![("name", "x"), ("scope", "upload")], 403),
        (vec![("name", "x"), ("scope", "everything")], 422),
        (vec![("name", " "), ("scope", "read")], 422),
        (vec![("name", "x"), ("scope", "read"), ("days", "0")], 422),
        (vec![("name", "x"), ("scope", "read"), ("days", "soon")], 422),
        (vec![("name", "x"), ("scope", "read"), ("project", "none")], 404),
    ] {
        let answer = browser.post("/account", "/account/tokens", &fields).await;
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.text());
    }
    assert!(db::token::list_of(&service.app.db, Some(ada.id)).await.unwrap().is_empty());
    let made =
        browser.post("/account", "/account/tokens", &[("name", "x"), ("scope", "read")]).await;
    let token = secret(&made.text());
    let own = db::token::list_of(&service.app.db, Some(ada.id)).await.unwrap()[0].id.to_string();
    let bob = service.person("bob", true).await;
    let mut others = service.browser_of(&bob).await;
    let revoke = [("token", own.as_str())];
    assert_eq!(others.post("/account", "/account/tokens/revoke", &revoke).await.status, 404);
    assert_eq!(browser.post("/account", "/account/tokens/revoke", &revoke).await.status, 303);
    assert_eq!(browser.post("/account", "/account/tokens/revoke", &revoke).await.status, 404);
    let request = axum::http::Request::get("/api/v1/runs")
        .header(header::AUTHORIZATION, format!("Bearer {token}"));
    let answer = service.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answer.refusal().0, 401, "a token that is refused is no nobody");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_limited_token_uploads_to_its_project_alone(pool: Pool) {
    let service = with_incident(pool).await;
    let box_b = service.registered("box-b").await;
    let linux = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let token = service
        .token_of(&db::token::New {
            name: "limited",
            scope: Scope::Upload,
            machine: Some(box_b.id),
            person: None,
            projects: &[linux.id],
            created_at: service.app.clock.now(),
            expires_at: None,
        })
        .await;
    let own = serde_json::to_vec(&a_report().on(&box_b.machine).build()).unwrap();
    assert_eq!(service.post("/api/v1/runs", &token, own).await.status, 201);
    let before = row_counts(&service.app.db).await;
    let other = a_report().on(&box_b.machine).with(|report| report.project.name = "musl".into());
    let other = serde_json::to_vec(&other.build()).unwrap();
    let request = axum::http::Request::post("/api/v1/runs/batch")
        .header(header::CONTENT_TYPE, "application/x-ndjson")
        .header(header::AUTHORIZATION, format!("Bearer {token}"));
    let batch = service.send(request.body(other.clone().into()).unwrap()).await;
    assert_eq!(batch.json()["outcomes"][0]["status"], 403, "{}", batch.text());
    let answer = service.post("/api/v1/runs", &token, other).await;
    assert_eq!(answer.refusal().0, 403);
    assert!(answer.text().contains("limited to other projects"));
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_that_is_used_too_often_is_told_when_to_come_back(pool: Pool) {
    let mut service = Service::on(pool);
    service.configure(|config| config.token_requests_per_minute = 3);
    let (busy, other) = (service.token(Scope::Read).await, service.token(Scope::Read).await);
    let ask = async |token: &str| {
        let request = axum::http::Request::get("/api/v1/runs")
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        service.send(request.body(axum::body::Body::empty()).unwrap()).await
    };
    for _ in 0..3 {
        assert_eq!(ask(&busy).await.status, 200);
        service.advance(Duration::seconds(10));
    }
    let refused = ask(&busy).await;
    assert_eq!(refused.refusal(), (429, "too_many_requests".into(), None));
    assert_eq!(refused.headers[header::RETRY_AFTER], "30");
    assert_eq!(ask(&other).await.status, 200, "each is counted by itself");
    service.advance(Duration::seconds(30));
    assert_eq!(ask(&busy).await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_tokens_and_machines_do_is_kept_too(pool: Pool) {
    let service = with_incident(pool).await;
    let triage = service.token(Scope::Triage).await;
    service.post(DECIDE, &triage, json!({ "to": "confirmed" }).to_string()).await;
    let weights = json!({ "weights": [{ "metric": "ops_per_cpu_s", "weight": 2 }] }).to_string();
    let request = axum::http::Request::put("/api/v1/projects/linux/weights")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {triage}"));
    let put = service.send(request.body(axum::body::Body::from(weights)).unwrap()).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let deeds = db::audit::list(&service.app.db, None, 10).await.unwrap();
    let told: Vec<(&str, &str, &str)> = deeds
        .iter()
        .rev()
        .map(|deed| (deed.who.as_str(), deed.what.as_str(), deed.about.as_str()))
        .collect();
    let id = crate::support::a_machine("box-a").id;
    let machine = format!("machine box-a ({id})");
    assert_eq!(
        told,
        [
            ("test", "machine_registered", machine.as_str()),
            ("test", "incident_decided", "incident 1 of linux"),
            ("test", "weights_replaced", "project linux"),
        ]
    );
    assert_eq!(deeds[0].became, Some(json!({ "weights": [["", "ops_per_cpu_s", 2.0]] })));
}
