//! Weights of a project and the severities that follow them.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::support::history::{upload_regression, work};
use crate::support::{Answer, Service};

async fn put(service: &Service, token: &str, body: &Value) -> Answer {
    let request = Request::put("/api/v1/projects/linux/weights")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::from(body.to_string()));
    service.send(request.expect("a request")).await
}

async fn severity(service: &Service) -> Value {
    service.get("/api/v1/incidents").await.json()["items"][0]["severity"].clone()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_severity_follows_the_most_particular_weight(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let usual = severity(&service).await;
    let units = usual["noise_units"].as_f64().unwrap();
    // −35 % over the least effect of 0.5 %, or the noise between builds where that is wider.
    assert!((40.0..=100.0).contains(&units), "{usual}");
    assert_eq!(
        (&usual["weight"], &usual["curves"], &usual["score"]),
        (&json!(1.0), &json!(1), &json!(units))
    );

    let token = service.token(Scope::Triage).await;
    let workload = "fallocate/append-truncate";
    for (weights, weight) in [
        (json!([{ "weight": 3 }]), 3.0),
        (json!([{ "weight": 3 }, { "metric": "ops_per_s_total", "weight": 5 }]), 5.0),
        (
            json!([{ "metric": "ops_per_s_total", "weight": 9 }, { "workload": workload, "weight": 2 }]),
            2.0,
        ),
        (json!([{ "workload": "file/open", "weight": 7 }]), 1.0),
    ] {
        let body = json!({ "weights": weights });
        assert_eq!(put(&service, &token, &body).await.status, 200, "{body}");
        assert_eq!(severity(&service).await["weight"], weight, "{body}");
    }
    put(&service, &token, &json!({ "weights": [{ "weight": 0 }] })).await;
    assert_eq!(severity(&service).await["score"], 0.0);
    let kept = service.get("/api/v1/projects/linux/weights").await.json();
    assert_eq!(kept, json!({ "weights": [{ "weight": 0.0 }] }));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn weights_beyond_their_limits_or_without_the_right_change_nothing(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let token = service.token(Scope::Triage).await;
    for (body, field) in [
        (json!({ "weights": [{ "weight": -1 }] }), "weights[0].weight"),
        (json!({ "weights": [{ "weight": 1001 }] }), "weights[0].weight"),
        (json!({ "weights": [{ "weight": 1 }, { "weight": 2 }] }), "weights[1].metric"),
        (
            json!({ "weights": [{ "workload": "x".repeat(300), "weight": 1 }] }),
            "weights[0].workload",
        ),
        (json!({ "weights": [{ "weight": 1, "why": "" }] }), "weights[0].why"),
    ] {
        let answer = put(&service, &token, &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.refusal().2.as_deref()),
            (422, Some(field)),
            "{body}"
        );
    }
    let upload = put(&service, &box_a.token, &json!({ "weights": [] })).await;
    assert_eq!(upload.status, 403);
    let kept = service.get("/api/v1/projects/linux/weights").await.json();
    assert_eq!(kept, json!({ "weights": [] }));
    assert_eq!(service.get("/api/v1/projects/none/weights").await.status, 404);
}
