//! The queue: what is asked for, who gets it, and what becomes of it when agents die.

mod agent;
mod confirm;
mod hand_out;
mod page;
mod submit;

use scalewatch::model::Scope;
use serde_json::{Value, json};

use crate::support::{Answer, Enrolled, Service};

/// A request for one revision of the project `demo` on a machine, known from nothing.
fn request(machine: &str, position: i64) -> Value {
    json!({
        "project": "demo", "subject": "program", "machine": machine,
        "revision": { "commit": format!("{position:040x}"), "branch": "main", "position": position },
        "plan": { "workloads": ["sys/getppid"], "tasks": "1" },
    })
}

async fn submit(service: &Service, request: &Value) -> Answer {
    let token = service.token(Scope::Submit).await;
    service.post("/api/v1/jobs", &token, request.to_string()).await
}

/// Submits a request that must be accepted, and gives the number of its first job.
async fn submitted(service: &Service, request: &Value) -> i64 {
    let answer = submit(service, request).await;
    assert!(answer.status.is_success(), "{}", answer.text());
    answer.json()["jobs"][0]["id"].as_i64().expect("a number")
}

/// What an agent gets that can prepare `demo` and `other` and carries the label `lab`.
async fn claim(service: &Service, agent: &Enrolled) -> Value {
    let claim = json!({ "labels": ["lab"], "projects": ["demo", "other"], "runner": "0.1.0" });
    let answer = service.post("/api/v1/jobs/claim", &agent.token, claim.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["job"].clone()
}

/// A heartbeat of a claimed job; what the service says to it.
async fn beat(service: &Service, agent: &Enrolled, job: &Value) -> Value {
    let beat = json!({
        "lease": job["lease"], "state": "running", "log": "[2/8] as it goes\n",
        "progress": { "turns_done": 0, "points_done": 2, "points": 8, "words": "measuring" },
    });
    let path = format!("/api/v1/jobs/{}/heartbeat", job["id"]);
    let answer = service.post(&path, &agent.token, beat.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn finish(service: &Service, agent: &Enrolled, job: &Value, body: Value) -> Answer {
    let mut body = body;
    body["lease"] = job["lease"].clone();
    let path = format!("/api/v1/jobs/{}/finish", job["id"]);
    service.post(&path, &agent.token, body.to_string()).await
}

async fn show(service: &Service, id: i64) -> Value {
    service.get(&format!("/api/v1/jobs/{id}")).await.json()
}
