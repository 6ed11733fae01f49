//! Noise floors: sent by a machine, known from history and refutations, and what they do to verdicts.

use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::support::history::{FAST, a_run, upload, upload_regression, work};
use crate::support::{Answer, Enrolled, Service};

fn floors(relative: f64, measured_at: &str) -> Value {
    json!({ "floors": [{
        "workload": "fallocate/append-truncate", "metric": "ops_per_s_total",
        "relative": relative, "pairs": 10, "measured_at": measured_at,
    }] })
}

async fn send(service: &Service, enrolled: &Enrolled, body: &Value) -> Answer {
    let path = format!("/api/v1/machines/{}/noise-floors", enrolled.machine.id);
    service.post(&path, &enrolled.token, body.to_string()).await
}

async fn known(service: &Service, enrolled: &Enrolled, source: &str) -> Vec<Value> {
    let path = format!("/api/v1/machines/{}/noise-floors", enrolled.machine.id);
    let all = service.get(&path).await.json();
    let of = |floor: &&Value| floor["source"] == source && floor["metric"] == "ops_per_s_total";
    all["items"].as_array().unwrap().iter().filter(of).cloned().collect()
}

/// Metrics of the standing steps of the one incident.
async fn moved(service: &Service) -> Vec<String> {
    let list = service.get("/api/v1/incidents?state=all").await.json();
    let Some(id) = list["items"][0]["id"].as_i64() else { return Vec::new() };
    let shown = service.get(&format!("/api/v1/incidents/{id}")).await.json();
    let standing =
        shown["moved"].as_array().unwrap().iter().filter(|step| step["retracted_at"].is_null());
    let mut metrics: Vec<String> =
        standing.map(|step| step["metric"].as_str().unwrap().to_owned()).collect();
    metrics.dedup();
    metrics
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_floor_that_is_sent_is_kept_until_a_newer_one_comes(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for (relative, at, kept) in [
        (0.01, "2026-02-01T00:00:00Z", 1),
        (0.01, "2026-02-01T00:00:00Z", 0),
        (0.02, "2026-01-01T00:00:00Z", 0),
        (0.03, "2026-02-02T00:00:00+01:00", 1),
    ] {
        let answer = send(&service, &box_a, &floors(relative, at)).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({ "kept": kept })), "{at}");
    }
    let known = known(&service, &box_a, "calibrated").await;
    assert_eq!((known.len(), &known[0]["relative"]), (1, &json!(0.03)));
    assert_eq!(
        (&known[0]["observations"], &known[0]["observed_at"]),
        (&json!(10), &json!("2026-02-01T23:00:00Z"))
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_floor_of_another_machine_or_beyond_its_limits_is_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("box-a").await, service.registered("box-b").await);
    let good = floors(0.01, "2026-02-01T00:00:00Z");
    let stranger = Enrolled { token: b.token.clone(), ..a.clone() };
    assert_eq!(send(&service, &stranger, &good).await.status, 403);
    let reader = Enrolled { token: service.token(Scope::Read).await, ..a.clone() };
    assert_eq!(send(&service, &reader, &good).await.status, 403);
    for (body, field) in [
        (floors(-0.1, "2026-02-01T00:00:00Z"), "floors[0].relative"),
        (floors(0.1, "yesterday"), "floors[0].measured_at"),
        (json!({ "floors": [], "more": 1 }), "more"),
    ] {
        let answer = send(&service, &a, &body).await;
        assert_eq!((answer.status.as_u16(), answer.refusal().2.as_deref()), (422, Some(field)));
    }
    assert_eq!(known(&service, &a, "calibrated").await, [] as [Value; 0]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_floor_above_a_step_takes_it_back_and_a_lower_one_finds_it_again(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    assert_eq!(moved(&service).await, ["ops_per_s_total", "ops_per_cpu_s"]);
    send(&service, &box_a, &floors(0.5, "2026-02-01T00:00:00Z")).await;
    work(&service.app).await;
    assert_eq!(moved(&service).await, ["ops_per_cpu_s"], "the other metric has no such floor");
    send(&service, &box_a, &floors(0.02, "2026-02-02T00:00:00Z")).await;
    work(&service.app).await;
    assert_eq!(moved(&service).await, ["ops_per_s_total", "ops_per_cpu_s"]);
    let list = service.get("/api/v1/incidents").await.json();
    let shown = service.get(&format!("/api/v1/incidents/{}", list["items"][0]["id"])).await.json();
    let notes = shown["moved"][0]["evidence"]["notes"].to_string();
    assert!(notes.contains("noise floor ±2.00 % from A/A runs, 10 pairs"), "{notes}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_comparison_calls_nothing_below_the_floor_and_says_which(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for _ in 0..5 {
        upload(&service, &box_a, [1], FAST).await;
        upload(&service, &box_a, [2], FAST * 0.9).await;
    }
    let commit = |position| a_run(&box_a, position, FAST).build().revision.commit;
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let path = format!("/api/v1/compare?curve={curve}&base={}&head={}", commit(1), commit(2));
    let before = service.get(&path).await.json();
    assert_eq!(
        (&before["points"][0]["verdict"], &before["noise_floor"]),
        (&json!("regression"), &Value::Null)
    );
    send(&service, &box_a, &floors(0.2, "2026-02-01T00:00:00Z")).await;
    let after = service.get(&path).await.json();
    assert_eq!(after["points"][0]["verdict"], "no change", "{after}");
    assert_eq!(after["noise_floor"]["source"], "calibrated");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_noise_between_builds_is_known_from_history(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=12, FAST).await;
    work(&service.app).await;
    let known = known(&service, &box_a, "builds").await;
    // Three task counts, eleven pairs each; the windows differ by 1 % at most.
    assert_eq!((known.len(), &known[0]["observations"]), (1, &json!(33)));
    let relative = known[0]["relative"].as_f64().unwrap();
    assert!((1e-4..0.01).contains(&relative), "{relative}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_people_call_noise_raises_the_floor_until_they_think_better_of_it(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=8, FAST).await;
    upload(&service, &box_a, 9..=16, FAST * 0.96).await;
    work(&service.app).await;
    assert_eq!(moved(&service).await.len(), 2);
    let token = service.token(Scope::Triage).await;
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let decide = async |body: Value| {
        let path = format!("/api/v1/incidents/{id}/state");
        let answer = service.post(&path, &token, body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        work(&service.app).await;
    };
    decide(json!({ "to": "invalid", "reason": "noise" })).await;
    let refuted = known(&service, &box_a, "refuted").await;
    assert_eq!((refuted.len(), &refuted[0]["observations"]), (1, &json!(3)));
    let relative = refuted[0]["relative"].as_f64().unwrap();
    assert!((0.035..0.045).contains(&relative), "{relative}");
    let mail = service.get("/api/v1/incidents?state=all").await.json();
    assert_eq!(
        (mail["items"].as_array().unwrap().len(), &mail["items"][0]["state"]),
        (1, &json!("invalid"))
    );

    decide(json!({ "to": "reopened" })).await;
    assert_eq!(known(&service, &box_a, "refuted").await, [] as [Value; 0]);
    assert_eq!(moved(&service).await.len(), 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn one_wrong_word_does_not_hide_every_later_regression(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let token = service.token(Scope::Triage).await;
    let body = json!({ "to": "invalid", "reason": "noise" }).to_string();
    service.post(&format!("/api/v1/incidents/{id}/state"), &token, body).await;
    let refuted = known(&service, &box_a, "refuted").await;
    assert_eq!(refuted[0]["relative"], scalewatch::detect::policy::REFUTED_CEILING);
}
