use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;
use scalewatch::model::{Scope, Secret};
use time::Duration;

use crate::support::{Service, a_report, noon, row_counts};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_call_without_a_token_is_told_what_to_send(pool: db::Pool) {
    let service = Service::on(pool);
    for authorization in [None, Some("Basic c3c6cHc="), Some("sw_0123"), Some("Bearer")] {
        let mut request = Request::post("/api/v1/runs");
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let answer = service.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "unauthorised".into(), None), "{authorization:?}");
        assert!(answer.headers[header::WWW_AUTHENTICATE].to_str().unwrap().starts_with("Bearer"));
        assert!(answer.text().contains("Authorization: Bearer"));
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn unknown_revoked_and_expired_tokens_are_refused_and_nothing_is_kept(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let new = |expires_at| db::token::New {
        name: "test",
        scope: Scope::Upload,
        machine: Some(enrolled.id),
        person: None,
        projects: &[],
        created_at: noon(),
        expires_at,
    };
    let unknown = Secret::random().reveal().to_owned();
    let expired = service.token_of(&new(Some(noon()))).await;
    let revoked = service.token_of(&new(None)).await;
    let id = db::token::list(&service.app.db).await.unwrap().last().unwrap().id;
    assert!(db::token::mark_revoked(&service.app.db, id, noon()).await.unwrap());
    assert!(!db::token::mark_revoked(&service.app.db, id, noon()).await.unwrap());
    let report = serde_json::to_vec(&a_report().on(&enrolled.machine).build()).unwrap();
    let before = row_counts(&service.app.db).await;
    for (token, word) in [(unknown, "not known"), (expired, "expired"), (revoked, "revoked")] {
        let answer = service.post("/api/v1/runs", &token, report.clone()).await;
        assert_eq!(answer.refusal(), (401, "unauthorised".into(), None), "{word}");
        assert!(answer.text().contains(word), "{}", answer.text());
        assert!(!answer.text().contains(&token));
    }
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_is_good_until_the_moment_it_expires(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let token = service
        .token_of(&db::token::New {
            name: "for a day",
            scope: Scope::Upload,
            machine: Some(enrolled.id),
            person: None,
            projects: &[],
            created_at: noon(),
            expires_at: Some(noon() + Duration::days(1)),
        })
        .await;
    let upload = async || {
        let report = serde_json::to_vec(&a_report().on(&enrolled.machine).build()).unwrap();
        service.post("/api/v1/runs", &token, report).await.status.as_u16()
    };
    service.advance(Duration::days(1) - Duration::SECOND);
    assert_eq!(upload().await, 201);
    service.advance(Duration::SECOND);
    assert_eq!(upload().await, 401);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_notes_when_it_was_used(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let used = async || {
        let tokens = db::token::list(&service.app.db).await.unwrap();
        tokens.into_iter().find(|token| token.scope == Scope::Upload).unwrap().last_used_at
    };
    assert_eq!(used().await, None);
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    assert_eq!(used().await, Some(noon()));
    service.advance(Duration::minutes(5));
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    assert_eq!(used().await, Some(noon() + Duration::minutes(5)));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_uploads_for_its_own_machine_alone(pool: db::Pool) {
    let service = Service::on(pool);
    let (one, other) = (service.registered("box-a").await, service.registered("box-b").await);
    let before = row_counts(&service.app.db).await;
    let answer = service.upload(&one, &a_report().on(&other.machine).build()).await;
    assert_eq!(answer.refusal(), (403, "forbidden".into(), None));
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_admin_token_uploads_for_any_machine_and_a_read_token_for_none(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    for (scope, status) in [(Scope::Admin, 201), (Scope::Read, 403), (Scope::Register, 403)] {
        let token = service.token(scope).await;
        let report = serde_json::to_vec(&a_report().on(&enrolled.machine).build()).unwrap();
        let answer = service.post("/api/v1/runs", &token, report).await;
        assert_eq!(answer.status.as_u16(), status, "{scope:?}: {}", answer.text());
    }
}
