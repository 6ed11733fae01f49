//! Decisions about incidents: who may, which ways there are, and what is kept of them.

use axum::http::StatusCode;
use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::support::history::{upload, upload_regression, work};
use crate::support::{Answer, Service, a_report};

/// A service with one incident, its path, and a token that may decide.
async fn with_incident(pool: db::Pool) -> (Service, String, String) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let new = db::token::New {
        name: "maria",
        scope: Scope::Triage,
        machine: None,
        person: None,
        projects: &[],
        created_at: service.app.clock.now(),
        expires_at: None,
    };
    let token = service.token_of(&new).await;
    (service, format!("/api/v1/incidents/{id}/state"), token)
}

async fn decide(service: &Service, path: &str, token: &str, body: Value) -> Answer {
    service.post(path, token, body.to_string()).await
}

fn last_event(answer: &Answer) -> Value {
    answer.json()["events"].as_array().unwrap().last().unwrap().clone()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_decision_is_kept_with_who_when_and_why(pool: db::Pool) {
    let (service, path, token) = with_incident(pool).await;
    let fix = a_report().at(9).build().revision.commit;
    for (body, state, words) in [
        (json!({ "to": "acknowledged", "from": "new" }), "acknowledged", "acknowledged by maria"),
        (json!({ "to": "confirmed", "note": "seen by hand" }), "confirmed", "confirmed by maria"),
        (
            json!({ "to": "fixed", "fixed_by": fix[..9] }),
            "fixed",
            &*format!("fixed with {}, by maria", &fix[..10]),
        ),
        (json!({ "to": "reopened" }), "reopened", "reopened by maria"),
        (json!({ "to": "invalid", "reason": "noise" }), "invalid", "invalid: noise, by maria"),
        (json!({ "to": "reopened" }), "reopened", "reopened by maria"),
        (json!({ "to": "wont_fix" }), "wont_fix", "won’t fix, by maria"),
    ] {
        let answer = decide(&service, &path, &token, body.clone()).await;
        assert_eq!(answer.status, StatusCode::OK, "{body}: {}", answer.text());
        assert_eq!(answer.json()["state"], state);
        let event = last_event(&answer);
        assert_eq!(
            (&event["kind"], &event["detail"]["words"]),
            (&json!("state_changed"), &json!(words))
        );
        assert_eq!(event["detail"]["by"], "maria");
        assert_eq!(event["at"], "2026-03-01T12:00:00Z");
        assert_eq!(event["detail"]["note"], body["note"]);
        match state {
            "fixed" => assert_eq!(answer.json()["fixed_by"], fix, "in full where it is known"),
            "invalid" => assert_eq!(answer.json()["reason"], "noise"),
            _ => assert_eq!(
                (&answer.json()["fixed_by"], &answer.json()["reason"]),
                (&Value::Null, &Value::Null)
            ),
        }
    }
    let settled = service.get("/api/v1/incidents?state=settled").await.json();
    assert_eq!(settled["items"].as_array().unwrap().len(), 1);
    assert_eq!(service.get("/api/v1/incidents").await.json()["items"], json!([]));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_cannot_be_decided_is_refused_with_its_reason_and_changes_nothing(pool: db::Pool) {
    let (service, path, token) = with_incident(pool).await;
    let before = a_report().at(3).build().revision.commit;
    for (body, refusal) in [
        (json!({ "to": "reopened" }), (409, "transition_not_allowed", "to")),
        (json!({ "to": "new" }), (409, "transition_not_allowed", "to")),
        (json!({ "to": "retracted" }), (409, "transition_not_allowed", "to")),
        (json!({ "to": "merged" }), (409, "transition_not_allowed", "to")),
        (json!({ "to": "confirmed", "from": "acknowledged" }), (409, "incident_changed", "from")),
        (json!({ "to": "gone" }), (422, "invalid_field", "to")),
        (json!({ "to": "confirmed", "from": "gone" }), (422, "invalid_field", "from")),
        (json!({ "to": "invalid" }), (422, "invalid_field", "reason")),
        (json!({ "to": "invalid", "reason": "mood" }), (422, "invalid_field", "reason")),
        (json!({ "to": "fixed" }), (422, "invalid_field", "fixed_by")),
        (json!({ "to": "fixed", "fixed_by": "main" }), (422, "invalid_field", "fixed_by")),
        (json!({ "to": "fixed", "fixed_by": before }), (422, "invalid_field", "fixed_by")),
        (json!({ "to": "confirmed", "note": "x".repeat(2001) }), (422, "invalid_field", "note")),
        (json!({ "to": "confirmed", "who": "me" }), (422, "invalid_field", "who")),
    ] {
        let answer = decide(&service, &path, &token, body.clone()).await;
        let (status, code, field) = answer.refusal();
        assert_eq!(
            (status, &*code, field.as_deref()),
            (refusal.0, refusal.1, Some(refusal.2)),
            "{body}"
        );
    }
    let shown = service.get(path.trim_end_matches("/state")).await.json();
    assert_eq!(shown["state"], "new");
    let nowhere =
        decide(&service, "/api/v1/incidents/999/state", &token, json!({ "to": "confirmed" }));
    assert_eq!(nowhere.await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn only_a_token_of_scope_triage_or_admin_decides(pool: db::Pool) {
    let (service, path, _) = with_incident(pool).await;
    let body = json!({ "to": "acknowledged" });
    assert_eq!(decide(&service, &path, "sw_unknown", body.clone()).await.status, 401);
    for scope in [Scope::Read, Scope::Register] {
        let token = service.token(scope).await;
        assert_eq!(decide(&service, &path, &token, body.clone()).await.status, 403, "{scope:?}");
    }
    let admin = service.token(Scope::Admin).await;
    assert_eq!(decide(&service, &path, &admin, body).await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn of_two_who_decide_at_once_one_is_refused(pool: db::Pool) {
    let (service, path, token) = with_incident(pool).await;
    let confirm = json!({ "to": "confirmed", "from": "new" });
    let refute = json!({ "to": "invalid", "reason": "noise", "from": "new" });
    let (one, other) = tokio::join!(
        decide(&service, &path, &token, confirm),
        decide(&service, &path, &token, refute)
    );
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", one.text(), other.text());
    let refused = if one.status == 200 { other } else { one };
    assert_eq!(refused.refusal().1, "incident_changed");
    let shown = service.get(path.trim_end_matches("/state")).await;
    let events = shown.json()["events"].as_array().unwrap().len();
    assert_eq!(last_event(&shown)["kind"], "state_changed");
    assert_eq!(events, 1 + 5 + 1 + 1, "opened, five joined, mailed, decided once");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_fix_that_was_not_measured_yet_is_taken_at_its_word(pool: db::Pool) {
    let (service, path, token) = with_incident(pool).await;
    let body = json!({ "to": "fixed", "fixed_by": "0123456789abcdef" });
    let answer = decide(&service, &path, &token, body).await;
    assert_eq!(answer.json()["fixed_by"], "0123456789abcdef", "{}", answer.text());
    // The level comes back with it: the incident stays as people closed it.
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 12..=18, crate::support::history::FAST).await;
    work(&service.app).await;
    let shown = service.get(path.trim_end_matches("/state")).await.json();
    assert_eq!(shown["state"], "fixed");
}
