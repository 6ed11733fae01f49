//! What a report must not be. Each case names the status, the code and the field, and leaves every
//! table as it was.

use scalewatch::db;
use serde_json::{Value, json};

use crate::support::{Service, a_point, a_report, row_counts};

/// JSON pointer of a field, its new value (none removes it), status, code, field.
type Case = (&'static str, Option<Value>, u16, &'static str, &'static str);

const WINDOW: &str = "/points/0/outcome/measured/windows/0";

fn cases() -> Vec<Case> {
    let invalid = "invalid_field";
    let window = "points[0].outcome.measured.windows[0]";
    let at = |part: &str| -> &'static str { format!("{window}.{part}").leak() };
    let pointer = |part: &str| -> &'static str { format!("{WINDOW}/{part}").leak() };
    vec![
        ("/format", Some(json!(2)), 422, invalid, "format"),
        ("/run", Some(json!("0000")), 422, invalid, "run"),
        ("/run", None, 422, invalid, "."),
        ("/surprise", Some(json!(1)), 422, invalid, "surprise"),
        ("/revision/author", Some(json!("ada")), 422, invalid, "revision.author"),
        ("/started_at", Some(json!("yesterday")), 422, invalid, "started_at"),
        ("/started_at", Some(json!("2026-03-01T12:00:00")), 422, invalid, "started_at"),
        ("/finished_at", Some(json!("2026-02-30T12:00:00Z")), 422, invalid, "finished_at"),
        ("/finished_at", Some(json!("2020-01-01T00:00:00Z")), 422, invalid, "finished_at"),
        ("/revision/committed_at", Some(json!("now")), 422, invalid, "revision.committed_at"),
        ("/revision/position", None, 422, invalid, "revision.position"),
        ("/machine/id", Some(json!("0123456789abcdef")), 422, "unknown_machine", "machine.id"),
        (
            "/machine/identity/cores",
            Some(json!(64)),
            422,
            "machine_identity_changed",
            "machine.identity",
        ),
        ("/points", Some(json!([])), 422, invalid, "points"),
        ("/points/0/tasks", Some(json!(0)), 422, invalid, "points[0].tasks"),
        ("/points/0/tasks", Some(json!(-1)), 422, invalid, "points[0].tasks"),
        (
            "/points/0/outcome/measured/windows",
            Some(json!([])),
            422,
            invalid,
            "points[0].outcome.measured.windows",
        ),
        (pointer("dt_ns"), Some(json!(-1)), 422, invalid, at("dt_ns")),
        (pointer("dt_ns"), Some(json!(0)), 422, invalid, at("dt_ns")),
        (pointer("dt_ns"), Some(json!(1.5)), 422, invalid, at("dt_ns")),
        (pointer("ops"), Some(json!([1, 2])), 422, invalid, at("ops")),
        (
            "/points/0/outcome/measured/metrics/0/unit",
            Some(json!("furlongs")),
            422,
            invalid,
            "points[0].outcome.measured.metrics[0].unit",
        ),
        (
            "/points/0/outcome/measured/metrics/0/direction",
            None,
            422,
            invalid,
            "points[0].outcome.measured.metrics[0]",
        ),
        (
            "/points/0/outcome/measured/metrics/0/source",
            Some(json!({"values": [1e308, -1e308, 1e308]})),
            422,
            invalid,
            "points[0].outcome.measured.metrics[0].source.values",
        ),
    ]
}

fn edited(mut report: Value, pointer: &str, value: Option<Value>) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = report.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => drop(parent.insert(key.to_owned(), value)),
        None => drop(parent.remove(key)),
    }
    report
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_bad_report_is_refused_by_field_and_leaves_nothing_behind(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let report = serde_json::to_value(a_report().on(&enrolled.machine).build()).unwrap();
    for (pointer, value, status, code, field) in cases() {
        let shown = format!("{pointer} = {value:?}");
        let body = edited(report.clone(), pointer, value).to_string();
        let answer = service.post("/api/v1/runs", &enrolled.token, body).await;
        assert_eq!(answer.refusal(), (status, code.into(), Some(field.into())), "{shown}");
        assert_eq!(row_counts(&service.app.db).await, before, "{shown}");
    }
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_not_json_is_refused_with_the_place(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let good = serde_json::to_string(&a_report().on(&enrolled.machine).build()).unwrap();
    let with_dt = |value: &str| good.replace("\"dt_ns\":1000000000", &format!("\"dt_ns\":{value}"));
    let not_utf8 = [&good.as_bytes()[..10], b"\xff\xfe", &good.as_bytes()[10..]].concat();
    for body in [
        b"".to_vec(),
        b"{".to_vec(),
        b"run: 1".to_vec(),
        good[..good.len() - 1].into(),
        format!("{good} {{}}").into_bytes(),
        with_dt("NaN").into_bytes(),
        with_dt("Infinity").into_bytes(),
        with_dt("-").into_bytes(),
        not_utf8,
    ] {
        let shown = String::from_utf8_lossy(&body[body.len().saturating_sub(40)..]).into_owned();
        let answer = service.post("/api/v1/runs", &enrolled.token, body).await;
        assert_eq!(answer.refusal(), (400, "malformed_json".into(), None), "{shown}");
        assert!(answer.text().contains("line 1 column"), "{}", answer.text());
    }
    assert_eq!(row_counts(&service.app.db).await, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_number_too_large_for_a_double_is_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("box-a").await;
    let before = row_counts(&service.app.db).await;
    let mut point = a_point(1, &[100.0]);
    if let wire::Outcome::Measured(measured) = &mut point.outcome {
        measured.metrics[1].source = wire::Source::Values(vec![4321.5]);
    }
    let report = a_report().on(&enrolled.machine).with_points(vec![point]).build();
    let good = serde_json::to_string(&report).unwrap();
    for huge in ["1e999", "-1e999"] {
        let answer =
            service.post("/api/v1/runs", &enrolled.token, good.replace("4321.5", huge)).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    assert_eq!(row_counts(&service.app.db).await, before);
    service.accept(&enrolled, &report).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn paths_and_methods_that_do_not_exist_answer_in_json(pool: db::Pool) {
    let service = Service::on(pool);
    for path in ["/api/v1/nothing", "/api/v1", "/api/v2/runs"] {
        assert_eq!(service.get(path).await.refusal(), (404, "not_found".into(), None), "{path}");
    }
    let answer = service.post("/api/v2/runs", "sw_0", "{}").await;
    assert_eq!(answer.refusal(), (404, "not_found".into(), None));
    let request = axum::http::Request::delete("/api/v1/runs").body(axum::body::Body::empty());
    let answer = service.send(request.unwrap()).await;
    assert_eq!(answer.refusal(), (405, "method_not_allowed".into(), None));
}
