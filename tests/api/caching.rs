//! What a client holds already is not sent again.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;

use crate::support::{Answer, Service, a_report};

async fn get(service: &Service, path: &str, header: (&str, &str)) -> Answer {
    let request = Request::get(path).header(header.0, header.1).body(Body::empty());
    service.send(request.unwrap()).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_answer_is_sent_once_until_it_changes(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    let first = service.get("/api/v1/runs").await;
    let tag = first.headers[header::ETAG].to_str().unwrap().to_owned();
    assert!(tag.starts_with('"'), "what is not compressed is the same to the byte: {tag}");
    assert_eq!(first.headers[header::CACHE_CONTROL], "private, no-cache");
    for held in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".into()] {
        let again = get(&service, "/api/v1/runs", ("if-none-match", &held)).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{held}");
        assert_eq!(again.headers[header::ETAG].to_str().unwrap(), tag);
    }
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    let changed = get(&service, "/api/v1/runs", ("if-none-match", &tag)).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.headers[header::ETAG].to_str().unwrap(), tag);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_may_be_compressed_has_a_weak_tag_and_refusals_are_not_kept(pool: db::Pool) {
    let service = Service::on(pool);
    let document = get(&service, "/api/v1/openapi.json", ("accept-encoding", "gzip")).await;
    assert_eq!(document.headers[header::CONTENT_ENCODING], "gzip");
    assert!(document.headers[header::ETAG].to_str().unwrap().starts_with("W/\""));
    let refused = service.get("/api/v1/runs?limit=0").await;
    assert_eq!(refused.headers[header::CACHE_CONTROL], "no-store");
    assert!(!refused.headers.contains_key(header::ETAG));
}
