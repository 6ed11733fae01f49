//! What may be asked for, and that asking twice asks once.

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::{Value, json};

use super::{request, show, submit, submitted};
use crate::support::history::{FAST, upload};
use crate::support::{Answer, Service, a_report, row_counts};

async fn under_key(service: &Service, key: &str, request: &Value) -> Answer {
    let token = service.token(Scope::Submit).await;
    let sent = Request::post("/api/v1/jobs")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header("Idempotency-Key", key)
        .body(Body::from(request.to_string()));
    service.send(sent.unwrap()).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_job_waits_with_everything_it_was_asked_with(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut asked = request("box-a", 7);
    asked["base"] = json!({ "commit": "abcdef1", "position": 6 });
    asked["runs"] = json!(3);
    asked["priority"] = json!(5);
    asked["deadline"] = json!("2026-03-01T15:00:00+01:00");
    let id = submitted(&service, &asked).await;
    let job = show(&service, id).await;
    assert_eq!((&job["state"], &job["machine"]), (&json!("queued"), &json!(box_a.machine.id)));
    assert_eq!(job["turns"], json!([0, 1, 1, 0, 0, 1]), "base and head take turns");
    assert_eq!(job["revisions"][0]["commit"], "abcdef1");
    assert_eq!(job["revisions"][1]["commit"], format!("{:040x}", 7));
    assert_eq!(job["deadline"], "2026-03-01T14:00:00Z");
    assert_eq!((&job["priority"], &job["submitted_by"]), (&json!(5), &json!("test")));
    let of = async |query: &str| {
        let listed = service.get(&format!("/api/v1/jobs?{query}")).await.json();
        listed["items"].as_array().unwrap().len()
    };
    for (query, found) in [
        ("state=open", 1),
        ("state=live", 0),
        ("project=demo&state=queued", 1),
        ("commit=ABCD", 1),
        ("commit=ffff", 0),
        (&format!("machine={}", box_a.machine.id), 1),
    ] {
        assert_eq!(of(query).await, found, "{query}");
    }
    let refused = service.get("/api/v1/jobs?state=lost").await.refusal();
    assert_eq!((refused.0, refused.2.as_deref()), (400, Some("state")));
    assert_eq!(service.get("/api/v1/jobs/99").await.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_same_request_under_one_key_makes_its_jobs_once(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("box-a").await;
    let first = under_key(&service, "pipeline-12", &request("box-a", 1)).await;
    assert_eq!((first.status.as_u16(), &first.json()["new"]), (201, &json!(true)));
    let again = under_key(&service, "pipeline-12", &request("box-a", 1)).await;
    assert_eq!((again.status.as_u16(), &again.json()["new"]), (200, &json!(false)));
    assert_eq!(again.json()["jobs"], first.json()["jobs"]);
    let other = under_key(&service, "pipeline-12", &request("box-a", 2)).await;
    assert_eq!(other.refusal().1, "key_reused");
    let new = under_key(&service, "pipeline-13", &request("box-a", 1)).await;
    assert_eq!(new.status, 201);
    let third = request("box-a", 3);
    let (one, other) = tokio::join!(
        under_key(&service, "at-once", &third),
        under_key(&service, "at-once", &third)
    );
    assert_eq!(one.json()["jobs"], other.json()["jobs"]);
    let empty = under_key(&service, "with blank", &request("box-a", 1)).await.refusal();
    assert_eq!(empty.2.as_deref(), Some("Idempotency-Key"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn known_commits_need_their_digits_alone_and_a_range_is_a_job_each(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=5, FAST).await;
    let commit = |position| a_report().at(position).build().revision.commit;
    let plan = json!({ "workloads": ["sys/getppid"] });
    let one = json!({
        "project": "linux", "machine": box_a.machine.id, "plan": plan,
        "revision": { "commit": commit(3)[..12] },
    });
    let job = show(&service, submitted(&service, &one).await).await;
    assert_eq!(job["revisions"][0]["commit"], commit(3));
    assert_eq!(job["revisions"][0]["subject"], "ext4: change number 3");
    assert_eq!(job["revisions"][0]["position"], 3);
    let range = json!({
        "project": "linux", "label": "lab", "plan": plan,
        "range": { "after": commit(2), "upto": commit(5) },
    });
    let jobs = submit(&service, &range).await.json()["jobs"].clone();
    let commits: Vec<&str> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["revisions"][0]["commit"].as_str().unwrap())
        .collect();
    assert_eq!(commits, [commit(3), commit(4), commit(5)]);
    let backwards = json!({
        "project": "linux", "label": "lab", "plan": plan,
        "range": { "after": commit(5), "upto": commit(2) },
    });
    assert_eq!(submit(&service, &backwards).await.refusal().2.as_deref(), Some("range.upto"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_cannot_be_is_refused_by_its_field_and_leaves_nothing(pool: db::Pool) {
    let service = Service::on(pool.clone());
    service.registered("box-a").await;
    let token = service.token(Scope::Submit).await;
    let before = row_counts(&pool).await;
    let with = |field: &str, value: Value| {
        let mut changed = request("box-a", 1);
        let mut at = &mut changed;
        for name in field.split('.') {
            at = &mut at[name];
        }
        *at = value;
        changed
    };
    for (asked, field) in [
        (with("machine", json!("nowhere")), "machine"),
        (with("machine", Value::Null), "machine"),
        (with("label", json!("lab")), "label"),
        (with("subject", Value::Null), "subject"),
        (with("revision", Value::Null), "revision"),
        (with("revision.commit", json!("HEAD")), "revision.commit"),
        (with("revision.position", Value::Null), "revision.position"),
        (with("revision.committed_at", json!("yesterday")), "revision.committed_at"),
        (with("base", json!({ "commit": format!("{:040x}", 1) })), "base.commit"),
        (with("range", json!({ "after": "abcdef1", "upto": "abcdef2" })), "range"),
        (with("plan.workloads", json!([])), "plan.workloads"),
        (with("plan.workloads", json!(["--upload"])), "plan.workloads[0]"),
        (with("plan.mode", json!("fork")), "plan.mode"),
        (with("plan.window_ms", json!(0)), "plan.window_ms"),
        (with("plan.sweep", json!({ "a": [] })), "plan.sweep.a"),
        (with("plan.prepare", json!("rm -rf /")), "plan.prepare"),
        (with("runs", json!(101)), "runs"),
        (with("priority", json!(1000)), "priority"),
        (with("limit_s", json!(1)), "limit_s"),
        (with("deadline", json!("2026-03-01T11:59:59Z")), "deadline"),
    ] {
        let answer = service.post("/api/v1/jobs", &token, asked.to_string()).await;
        let (status, code, named) = answer.refusal();
        assert_eq!((status, named.as_deref()), (422, Some(field)), "{asked}: {code}");
    }
    let wrong = service.token(Scope::Read).await;
    let answer = service.post("/api/v1/jobs", &wrong, request("box-a", 1).to_string()).await;
    assert_eq!(answer.status, 403);
    let mut after = row_counts(&pool).await;
    after.insert("token".into(), before["token"]);
    assert_eq!(after, before);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_job_is_cancelled_once_and_asked_for_again(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("box-a").await;
    let id = submitted(&service, &request("box-a", 1)).await;
    let token = service.token(Scope::Submit).await;
    let ask =
        async |what: &str| service.post(&format!("/api/v1/jobs/{id}/{what}"), &token, "").await;
    assert_eq!(ask("retry").await.refusal().1, "job_stands_otherwise");
    let cancelled = ask("cancel").await.json();
    assert_eq!(
        (&cancelled["state"], &cancelled["reason"]),
        (&json!("cancelled"), &json!("by test"))
    );
    assert_eq!(ask("cancel").await.refusal().1, "job_stands_otherwise");
    assert_eq!(ask("retry").await.json()["state"], "queued");
}
