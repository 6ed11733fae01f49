//! A suspect is measured again before it is told, and the mail says what came of it.

use scalewatch::db;
use scalewatch::jobs::confirm::PATIENCE;
use scalewatch::worker::Did;
use serde_json::{Value, json};

use super::{beat, finish};
use crate::support::history::{FAST, SLOW, a_run, upload_regression, work};
use crate::support::smtp::Mail;
use crate::support::{Enrolled, Service};

/// An agent of the machine says that it can prepare revisions of `linux`; what it is given.
async fn claim(service: &Service, agent: &Enrolled) -> Value {
    let claim = json!({ "projects": ["linux"], "runner": "0.1.0" }).to_string();
    service.post("/api/v1/jobs/claim", &agent.token, claim).await.json()["job"].clone()
}

fn mails(service: &Service) -> Vec<Mail> {
    let folder = service.app.config.data.join("mail");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| Mail::read(&entry.unwrap().path())).collect()
}

/// Measures the job's turns at these levels, base and head, and ends it.
async fn measure(service: &Service, agent: &Enrolled, job: &Value, levels: [f64; 2]) {
    let mut runs = Vec::new();
    for (turn, side) in job["turns"].as_array().unwrap().iter().enumerate() {
        let side = side.as_u64().unwrap() as usize;
        let position = job["revisions"][side]["position"].as_i64().unwrap();
        // Another turn, other noise.
        let noise = 1.0 + 0.001 * (turn % 3) as f64;
        let report = a_run(agent, position, levels[side] * noise).build();
        service.accept(agent, &report).await;
        runs.push(report.run);
    }
    let done = finish(service, agent, job, json!({ "runs": runs })).await;
    assert_eq!(done.json()["state"], "done", "{}", done.text());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_suspect_is_measured_again_in_turns_and_told_as_confirmed(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    assert!(claim(&service, &box_a).await.is_null());
    upload_regression(&service, &box_a).await;
    let done = work(&service.app).await;
    assert!(done.iter().any(|did| matches!(did, Did::Suspected(_))), "{done:?}");
    assert!(mails(&service).is_empty(), "it is not told before it is measured again");
    let job = claim(&service, &box_a).await;
    assert_eq!(job["turns"], json!([0, 1, 1, 0, 0, 1]));
    assert_eq!(job["plan"]["workloads"], json!(["fallocate/append-truncate"]));
    assert_eq!(job["plan"]["mode"], "process");
    assert_eq!((&job["plan"]["windows"], &job["plan"]["window_ms"]), (&json!(5), &json!(1000)));
    let positions = [0, 1].map(|side| job["revisions"][side]["position"].as_i64().unwrap());
    assert_eq!(positions, [6, 7]);
    beat(&service, &box_a, &job).await;
    measure(&service, &box_a, &job, [FAST, SLOW]).await;
    let done = work(&service.app).await;
    assert!(done.iter().any(|did| matches!(did, Did::Confirmed(_))), "{done:?}");
    let mails = mails(&service);
    assert_eq!(mails.len(), 1);
    let text = mails[0].part("text/plain");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("confirmed by 3 runs of each in turns on box-a"), "{text}");
    assert!(mails[0].part("text/html").contains("confirmed by 3 runs"));
    let shown = service.get("/api/v1/incidents").await.json();
    let id = shown["items"][0]["id"].clone();
    let incident = service.get(&format!("/api/v1/incidents/{id}")).await.json();
    assert_eq!(incident["confirmation"]["outcome"], "confirmed");
    assert!(service.get(&format!("/incidents/{id}")).await.text().contains("confirmed by 3 runs"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_does_not_show_again_is_told_as_refuted(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    claim(&service, &box_a).await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let job = claim(&service, &box_a).await;
    measure(&service, &box_a, &job, [SLOW, SLOW]).await;
    work(&service.app).await;
    let incident = service.get("/api/v1/incidents?state=all").await.json()["items"][0].clone();
    let path = format!("/api/v1/incidents/{}", incident["id"]);
    let confirmation = service.get(&path).await.json()["confirmation"].clone();
    assert_eq!(confirmation["outcome"], "refuted", "{confirmation}");
    assert!(confirmation["words"].as_str().unwrap().starts_with("refuted by 3 runs"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_mail_goes_out_without_a_measurement_where_none_can_be_had(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let mails = mails(&service);
    assert_eq!(mails.len(), 1, "no agent: it is told at once");
    assert!(mails[0].part("text/plain").contains("not measured again: box-a has no agent"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_mail_waits_no_longer_than_a_few_hours(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    claim(&service, &box_a).await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service.advance(PATIENCE - time::Duration::seconds(1));
    work(&service.app).await;
    assert!(mails(&service).is_empty());
    service.advance(time::Duration::seconds(1));
    work(&service.app).await;
    let text = mails(&service).first().map(|mail| mail.part("text/plain")).unwrap_or_default();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("not measured again: job 1 timed out: its deadline passed"), "{text}");
}
