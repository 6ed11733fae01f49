//! Who gets a job, how long it is kept, and how it ends.

use scalewatch::db;
use scalewatch::jobs::LEASE;
use scalewatch::model::Scope;
use scalewatch::worker::Did;
use serde_json::{Value, json};
use time::Duration;

use super::{beat, claim, finish, request, show, submitted};
use crate::support::history::work;
use crate::support::{Service, a_point, a_report};

/// What one demo job asks, on any machine that carries the label `lab`.
fn labelled(position: i64) -> Value {
    let mut request = request("any", position);
    request["machine"] = Value::Null;
    request["label"] = json!("lab");
    request
}

fn of_project(project: &str, position: i64, priority: i64) -> Value {
    let mut request = labelled(position);
    request["project"] = json!(project);
    request["priority"] = json!(priority);
    request
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_agent_takes_a_job_tells_how_far_it_is_and_ends_it_with_its_runs(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    assert_eq!(claim(&service, &box_a).await, Value::Null, "nothing waits yet");
    let id = submitted(&service, &request("box-a", 1)).await;
    let job = claim(&service, &box_a).await;
    assert_eq!((job["id"].as_i64(), &job["turns"]), (Some(id), &json!([0])));
    assert_eq!(job["plan"]["workloads"], json!(["sys/getppid"]));
    assert_eq!(show(&service, id).await["state"], "claimed");
    assert_eq!(beat(&service, &box_a, &job).await["stop"], Value::Null);
    let shown = show(&service, id).await;
    assert_eq!((&shown["state"], &shown["log"]), (&json!("running"), &json!("[2/8] as it goes\n")));
    assert_eq!(shown["progress"]["points_done"], 2);

    let report = a_report().on(&box_a.machine).build();
    let done = json!({ "runs": [report.run] });
    let early = finish(&service, &box_a, &job, done.clone()).await.refusal();
    assert_eq!((early.1.as_str(), early.2.as_deref()), ("unknown_run", Some("runs[0]")));
    let none = finish(&service, &box_a, &job, json!({ "runs": [] })).await.refusal();
    assert_eq!(none.2.as_deref(), Some("runs"));
    service.accept(&box_a, &report).await;
    for _ in 0..2 {
        let ended = finish(&service, &box_a, &job, done.clone()).await.json();
        assert_eq!((&ended["state"], &ended["runs"]), (&json!("done"), &json!([report.run])));
    }
    let stop = beat(&service, &box_a, &job).await["stop"].clone();
    assert_eq!(stop, "the job is done");
    let other = finish(&service, &box_a, &job, json!({ "failed": "no" })).await.refusal();
    assert_eq!(other.1, "lease_lost");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_has_one_live_job_however_many_agents_ask_at_once(pool: db::Pool) {
    let service = Service::on(pool.clone());
    let box_a = service.registered("box-a").await;
    for position in 1..=4 {
        submitted(&service, &request("box-a", position)).await;
    }
    let asked = tokio::join!(
        claim(&service, &box_a),
        claim(&service, &box_a),
        claim(&service, &box_a),
        claim(&service, &box_a)
    );
    let got = [asked.0, asked.1, asked.2, asked.3];
    assert_eq!(got.iter().filter(|job| !job.is_null()).count(), 1, "{got:?}");
    assert_eq!(claim(&service, &box_a).await, Value::Null);
    // The database itself refuses a second one.
    let forced = sqlx::query(
        "update job set state = 'claimed', machine_id = (select id from machine),
                lease = gen_random_uuid(), lease_until = now() where state = 'queued'",
    );
    let refused = forced.execute(&pool).await.unwrap_err();
    assert!(refused.to_string().contains("job_machine_has_one_live_job"), "{refused}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_machines_never_get_the_same_job(pool: db::Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    for position in 1..=2 {
        submitted(&service, &labelled(position)).await;
    }
    let (one, other) = tokio::join!(claim(&service, &box_a), claim(&service, &box_b));
    assert!(!one.is_null() && !other.is_null() && one["id"] != other["id"], "{one} {other}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn projects_take_turns_and_priority_counts_within_one(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for (project, position, priority) in
        [("demo", 1, 100), ("demo", 2, 0), ("demo", 3, 50), ("other", 4, -100), ("other", 5, -50)]
    {
        submitted(&service, &of_project(project, position, priority)).await;
    }
    let mut order = Vec::new();
    for _ in 0..5 {
        let job = claim(&service, &box_a).await;
        order.push(job["revisions"][0]["position"].as_i64().unwrap());
        let ended = finish(&service, &box_a, &job, json!({ "failed": "enough" })).await;
        assert_eq!(ended.json()["state"], "failed");
        service.advance(Duration::seconds(1));
    }
    assert_eq!(order, [1, 5, 3, 4, 2]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_agent_gets_only_what_it_can_prepare_and_what_is_for_its_machine(pool: db::Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    submitted(&service, &of_project("alien", 1, 0)).await;
    submitted(&service, &request("box-b", 2)).await;
    let mut elsewhere = labelled(3);
    elsewhere["label"] = json!("arm");
    submitted(&service, &elsewhere).await;
    assert_eq!(claim(&service, &box_a).await, Value::Null);
    assert_eq!(claim(&service, &box_b).await["revisions"][0]["position"], 2);
    let token = service.token(Scope::Admin).await;
    let claim = json!({ "projects": [], "runner": "1" }).to_string();
    let unbound = service.post("/api/v1/jobs/claim", &token, claim).await;
    assert_eq!(unbound.status, 403, "a claim is for the machine of its token");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_job_of_a_dead_agent_is_given_again_and_given_up_at_last(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let id = submitted(&service, &request("box-a", 1)).await;
    for attempt in 1..=3 {
        let job = claim(&service, &box_a).await;
        assert_eq!(job["id"].as_i64(), Some(id), "attempt {attempt}");
        service.advance(LEASE - Duration::seconds(1));
        assert!(work(&service.app).await.is_empty(), "the lease holds");
        service.advance(Duration::seconds(1));
        let done = work(&service.app).await;
        assert!(matches!(done.as_slice(), [Did::Settled(..)]), "{done:?}");
    }
    let job = show(&service, id).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("failed"), &json!(3)));
    assert_eq!(job["reason"], "the agent was lost 3 times");
    assert_eq!(claim(&service, &box_a).await, Value::Null);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_agent_that_was_out_of_reach_goes_on_unless_another_has_the_job(pool: db::Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    let id = submitted(&service, &labelled(1)).await;
    let job = claim(&service, &box_a).await;
    service.advance(LEASE);
    work(&service.app).await;
    assert_eq!(show(&service, id).await["state"], "queued");
    assert_eq!(beat(&service, &box_a, &job).await["stop"], Value::Null, "nobody took it");
    assert_eq!(show(&service, id).await["state"], "running");
    service.advance(LEASE);
    work(&service.app).await;
    let taken = claim(&service, &box_b).await;
    assert_eq!(taken["id"].as_i64(), Some(id));
    let stop = beat(&service, &box_a, &job).await["stop"].to_string();
    assert!(stop.contains("given away"), "{stop}");
    let late = finish(&service, &box_a, &job, json!({ "failed": "late" })).await.refusal();
    assert_eq!(late.1, "lease_lost");
    assert_eq!(beat(&service, &box_b, &taken).await["stop"], Value::Null);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_that_says_it_boots_is_waited_for(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    submitted(&service, &request("box-a", 1)).await;
    let job = claim(&service, &box_a).await;
    let away = json!({
        "lease": job["lease"], "state": "preparing", "away_s": 900,
        "progress": { "words": "booting" },
    });
    let path = format!("/api/v1/jobs/{}/heartbeat", job["id"]);
    assert_eq!(service.post(&path, &box_a.token, away.to_string()).await.status, 200);
    service.advance(Duration::minutes(16));
    assert!(work(&service.app).await.is_empty());
    service.advance(Duration::minutes(1));
    assert_eq!(work(&service.app).await.len(), 1);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn deadline_limit_and_cancel_end_a_job_and_its_agent_is_told(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let token = service.token(Scope::Submit).await;
    let mut limited = request("box-a", 1);
    limited["limit_s"] = json!(60);
    let id = submitted(&service, &limited).await;
    let job = claim(&service, &box_a).await;
    service.advance(Duration::seconds(60));
    work(&service.app).await;
    let shown = show(&service, id).await;
    assert_eq!(shown["reason"], "it took longer than its limit of 60 s");
    let stop = beat(&service, &box_a, &job).await["stop"].to_string();
    assert!(stop.contains("timed out: it took longer"), "{stop}");

    let mut late = request("box-a", 2);
    late["deadline"] = json!("2026-03-01T12:10:00Z");
    let waiting = submitted(&service, &late).await;
    service.advance(Duration::minutes(9));
    assert_eq!(claim(&service, &box_a).await, Value::Null, "too late to begin");
    work(&service.app).await;
    assert_eq!(show(&service, waiting).await["state"], "timed_out");

    let id = submitted(&service, &request("box-a", 3)).await;
    let job = claim(&service, &box_a).await;
    service.post(&format!("/api/v1/jobs/{id}/cancel"), &token, "").await;
    let stop = beat(&service, &box_a, &job).await["stop"].to_string();
    assert!(stop.contains("cancelled: by test"), "{stop}");
    let done = a_report().on(&box_a.machine).with_points(vec![a_point(1, &[1.0])]).build();
    service.accept(&box_a, &done).await;
    let finished = finish(&service, &box_a, &job, json!({ "runs": [done.run] })).await;
    assert_eq!(finished.refusal().1, "lease_lost", "what was cancelled is not done");
}
