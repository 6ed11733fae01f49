//! Many reports in one request: each line stands for itself.

use axum::body::Body;
use axum::http::{Request, header};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use scalewatch::db;
use serde_json::{Value, json};

use crate::support::{Answer, Enrolled, Service, a_report, row_counts};

async fn send(service: &Service, enrolled: &Enrolled, body: Vec<u8>, encoding: &str) -> Answer {
    let request = Request::post("/api/v1/runs/batch")
        .header(header::CONTENT_TYPE, "application/x-ndjson")
        .header(header::CONTENT_ENCODING, encoding)
        .header(header::AUTHORIZATION, format!("Bearer {}", enrolled.token))
        .body(Body::from(body));
    service.send(request.unwrap()).await
}

fn lines(reports: &[wire::Report]) -> String {
    let line = |report| serde_json::to_string(report).unwrap() + "\n";
    reports.iter().map(line).collect()
}

fn statuses(answer: &Answer) -> Vec<u64> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let outcomes = answer.json()["outcomes"].as_array().unwrap().clone();
    let lines: Vec<_> = outcomes.iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, (1..=outcomes.len() as u64).collect::<Vec<_>>());
    outcomes.iter().map(|one| one["status"].as_u64().unwrap()).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_report_of_a_batch_is_stored_or_refused_for_itself(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let reports: Vec<_> =
        (1..=5).map(|position| a_report().on(&enrolled.machine).at(position).build()).collect();
    service.accept(&enrolled, &reports[1]).await;
    let mut bad = reports[2].clone();
    bad.points[0].tasks = 0;
    let mut body = lines(&[reports[0].clone(), reports[1].clone(), bad]);
    body += "{ no JSON\n\n";
    body += &lines(&reports[3..]);
    let answer = send(&service, &enrolled, body.clone().into_bytes(), "identity").await;
    assert_eq!(statuses(&answer), [201, 200, 422, 400, 201, 201]);
    let told = answer.json();
    assert_eq!((&told["new"], &told["known"], &told["refused"]), (&json!(3), &json!(1), &json!(2)));
    assert_eq!(told["outcomes"][2]["error"]["field"], "points[0].tasks");
    assert_eq!(told["outcomes"][0]["accepted"]["run"], Value::from(reports[0].run.clone()));
    let before = row_counts(&service.app.db).await;
    let again = send(&service, &enrolled, body.into_bytes(), "identity").await;
    assert_eq!(statuses(&again), [200, 200, 422, 400, 200, 200], "again changes nothing");
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_batch_may_come_as_zstd_and_one_run_in_it_twice(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = a_report().on(&enrolled.machine).build();
    let body = lines(&[report.clone(), report.clone(), report]);
    let body = compress_to_vec(body.as_bytes(), CompressionLevel::Fastest);
    let mut found = statuses(&send(&service, &enrolled, body, "zstd").await);
    found.sort_unstable();
    assert_eq!(found, [200, 200, 201]);
    assert_eq!(row_counts(&service.app.db).await["run"], 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_batch_that_breaks_off_keeps_what_came_whole_and_says_where_it_ended(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    // Two streams of gzip are one body; the second breaks off.
    let packed = |position| {
        let report = a_report().on(&enrolled.machine).at(position).build();
        super::runs::gzip(lines(&[report]).as_bytes())
    };
    let (first, second) = (packed(1), packed(2));
    let body = [first.as_slice(), &second[..second.len() / 2]].concat();
    let answer = send(&service, &enrolled, body, "gzip").await;
    assert_eq!(statuses(&answer), [201], "{}", answer.text());
    assert_eq!(answer.json()["ended"]["code"], "malformed_gzip");
    assert_eq!(row_counts(&service.app.db).await["run"], 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_batch_takes_json_lines_alone(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let answer = service.post("/api/v1/runs/batch", &enrolled.token, "{}").await;
    assert_eq!(answer.refusal(), (415, "unsupported_media_type".into(), None));
    let answer = send(&service, &enrolled, Vec::new(), "br").await;
    assert_eq!(answer.refusal(), (415, "unsupported_media_type".into(), None));
    assert!(statuses(&send(&service, &enrolled, Vec::new(), "identity").await).is_empty());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_finds_no_room_is_told_when_to_come_again(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let report = a_report().on(&enrolled.machine).build();
    let mut inside = Vec::new();
    while let Ok(room) = service.app.gate.admit() {
        inside.push(room);
    }
    let answer = service.upload(&enrolled, &report).await;
    assert_eq!(answer.refusal(), (429, "busy".into(), None));
    assert_eq!(answer.headers[header::RETRY_AFTER], "1");
    let batch = send(&service, &enrolled, Vec::new(), "identity").await;
    assert_eq!(batch.status, 429);
    assert_eq!(service.get("/").await.status, 200, "readers are answered meanwhile");
    drop(inside);
    assert_eq!(service.upload(&enrolled, &report).await.status, 201);
}
