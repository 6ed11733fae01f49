//! Requests have ids, are counted by route, and what the service says of itself can be scraped.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;

use crate::support::history::{upload_regression, work};
use crate::support::{Answer, Service};

async fn get(service: &Service, path: &str, id: &str) -> Answer {
    let request = Request::get(path).header("x-request-id", id).body(Body::empty());
    service.send(request.unwrap()).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_answer_carries_the_id_of_its_request_or_a_new_one(pool: db::Pool) {
    let service = Service::on(pool);
    let id = |answer: &Answer| answer.headers["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(id(&get(&service, "/api/v1/runs", "build-17/3").await), "build-17/3");
    assert_eq!(id(&get(&service, "/nowhere", "a").await), "a");
    let long = "x".repeat(129);
    for strange in ["", "two words", &long] {
        let made = id(&get(&service, "/health", strange).await);
        assert_eq!(made.len(), 36, "{strange:?} is not taken over: {made}");
    }
    let (one, other) = (service.get("/").await, service.get("/").await);
    assert_ne!(id(&one), id(&other));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_was_done_and_what_waits_is_counted(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let waiting = service.get("/metrics").await;
    let media_type = waiting.headers[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    assert!(media_type.starts_with("application/openmetrics-text; version=1.0.0"), "{media_type}");
    assert!(waiting.text().contains("\nscalewatch_due_curves 1\n"), "{}", waiting.text());
    work(&service.app).await;
    service.get("/api/v1/curves/1").await;
    service.get("/api/v1/curves/2").await;
    let text = service.get("/metrics").await.text();
    for line in [
        "scalewatch_ingested_runs_total 11",
        "scalewatch_ingested_points_total 33",
        "scalewatch_due_curves 0",
        "scalewatch_unsent_mails 0",
        "scalewatch_mails_total{outcome=\"sent\"} 1",
        "scalewatch_http_requests_total{method=\"POST\",route=\"/api/v1/runs\",status=\"201\"} 11",
        "scalewatch_http_requests_total{method=\"GET\",route=\"/api/v1/curves/{id}\",status=\"200\"} 1",
        "scalewatch_http_requests_total{method=\"GET\",route=\"/api/v1/curves/{id}\",status=\"404\"} 1",
        "scalewatch_database_connections_max 4",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
    }
    assert!(
        text.contains("scalewatch_http_request_duration_seconds_bucket{le=\"0.001\""),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"));
    assert!(!text.contains(&box_a.machine.id), "ids make no series");
}
