use std::io::Write as _;

use axum::body::Body;
use axum::http::{Request, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use scalewatch::db;

use crate::support::{Service, a_point, a_report, row_counts};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_new_run_answers_201_and_what_was_stored(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let points = vec![a_point(1, &[100.0, 101.0]), a_point(2, &[190.0, 195.0])];
    let report = a_report().on(&enrolled.machine).with_points(points).build();
    let answer = service.upload(&enrolled, &report).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let accepted: wire::Accepted = answer.parsed();
    assert_eq!(accepted, wire::Accepted { run: report.run, new: true, points: 2, windows: 4 });
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_second_upload_of_a_report_changes_nothing(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = a_report().on(&enrolled.machine).build();
    service.accept(&enrolled, &report).await;
    let before = row_counts(&service.app.db).await;
    let again = service.upload(&enrolled, &report).await;
    assert_eq!(again.status, 200);
    assert!(!again.parsed::<wire::Accepted>().new);
    let spaced = serde_json::to_string_pretty(&report).unwrap();
    let again = service.post("/api/v1/runs", &enrolled.token, spaced).await;
    assert_eq!(again.status, 200, "spaces are no other report: {}", again.text());
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_run_reused_for_another_report_is_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let other = service.registered("box-b").await;
    let report = a_report().on(&enrolled.machine).build();
    service.accept(&enrolled, &report).await;
    let before = row_counts(&service.app.db).await;
    let mut changed = report.clone();
    changed.points = vec![a_point(1, &[100.0, 101.0, 98.0])];
    let moved = wire::Report { machine: other.machine.clone(), ..report };
    for (enrolled, report) in [(&enrolled, changed), (&other, moved)] {
        let answer = service.upload(enrolled, &report).await;
        assert_eq!(answer.refusal(), (409, "run_reused".into(), Some("run".into())));
    }
    assert_eq!(row_counts(&service.app.db).await, before);
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn encoded(token: &str, media_type: &str, encoding: &str, body: Vec<u8>) -> Request<Body> {
    Request::post("/api/v1/runs")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, media_type)
        .header(header::CONTENT_ENCODING, encoding)
        .body(body.into())
        .unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_gzip_body_is_the_same_report(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = a_report().on(&enrolled.machine).build();
    let body = gzip(&serde_json::to_vec(&report).unwrap());
    let request = encoded(&enrolled.token, "application/json; charset=utf-8", "gzip", body);
    assert_eq!(service.send(request).await.status, 201);
    assert_eq!(service.upload(&enrolled, &report).await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_zstd_body_is_the_same_report(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = a_report().on(&enrolled.machine).build();
    let json = serde_json::to_vec(&report).unwrap();
    let body = compress_to_vec(json.as_slice(), CompressionLevel::Fastest);
    let request = |body| encoded(&enrolled.token, "application/json", "zstd", body);
    let cut = service.send(request(body[..body.len() - 5].to_vec())).await;
    assert_eq!(cut.refusal(), (400, "malformed_zstd".into(), None));
    assert_eq!(service.send(request(body)).await.status, 201);
    assert_eq!(service.upload(&enrolled, &report).await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn bodies_of_other_types_and_encodings_are_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let json = serde_json::to_vec(&a_report().on(&enrolled.machine).build()).unwrap();
    let cut = gzip(&json)[..100].to_vec();
    for (media_type, encoding, body, status, code) in [
        ("text/plain", "identity", json.clone(), 415, "unsupported_media_type"),
        ("application/json", "br", json.clone(), 415, "unsupported_media_type"),
        ("application/json", "gzip", json.clone(), 400, "malformed_gzip"),
        ("application/json", "gzip", cut, 400, "malformed_gzip"),
        ("application/json", "identity", gzip(&json), 400, "malformed_json"),
    ] {
        let answer = service.send(encoded(&enrolled.token, media_type, encoding, body)).await;
        assert_eq!(answer.refusal(), (status, code.into(), None), "{media_type} {encoding}");
    }
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_body_over_the_limit_is_refused_raw_and_inflated(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let huge = vec![b' '; 100 << 20];
    let bomb = encoded(&enrolled.token, "application/json", "gzip", gzip(&huge));
    let too_large = (413, "body_too_large".to_owned(), None);
    assert_eq!(service.send(bomb).await.refusal(), too_large);
    let raw = service.post("/api/v1/runs", &enrolled.token, huge).await;
    assert_eq!(raw.refusal(), too_large);
    assert!(raw.text().contains("33554432"), "{}", raw.text());
    assert_eq!(row_counts(&service.app.db).await, before);
}
