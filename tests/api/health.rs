//! What `/health/live` and `/health/ready` say, for each reason there can be.

use scalewatch::db::Pool;
use scalewatch::worker::Worker;
use serde_json::Value;
use time::Duration;

use crate::support::Service;
use crate::support::history::{upload_regression, work};

/// Status, and what is said of a part.
async fn part(service: &Service, address: &str, name: &str) -> (u16, Value) {
    let answer = service.get(address).await;
    (answer.status.as_u16(), answer.json()["parts"][name].clone())
}

async fn reasons(service: &Service) -> Vec<String> {
    let reasons = service.get("/health/ready").await.json()["reasons"].clone();
    serde_json::from_value(reasons).unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_service_that_is_well_is_ready_in_every_part(pool: Pool) {
    let service = Service::on(pool);
    work(&service.app).await;
    let answer = service.get("/health/ready").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let ready = answer.json();
    assert_eq!(
        (ready["state"].as_str(), ready["reasons"].as_array().unwrap().len()),
        (Some("ok"), 0)
    );
    let names: Vec<&String> = ready["parts"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["database", "disk", "mail", "migrations", "partitions", "worker"]);
    for (name, part) in ready["parts"].as_object().unwrap() {
        assert_eq!(part["state"], "ok", "{name}: {part}");
    }
    assert_eq!(ready["parts"]["worker"]["age_s"], 0.0);
    assert_eq!(ready["parts"]["mail"]["transport"], "folder");
    assert!(ready["parts"]["disk"]["free_percent"].as_f64().unwrap() > 0.0);
    assert_eq!(ready["parts"]["partitions"]["room_machines"], 23, "none is registered");
    assert_eq!(service.get("/health/live").await.json()["state"], "ok");
    assert_eq!(service.get("/health/ready?strict=perhaps").await.refusal().0, 400);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_worker_that_stands_still_is_a_reason(pool: Pool) {
    let service = Service::on(pool);
    let (status, worker) = part(&service, "/health/ready", "worker").await;
    assert_eq!((status, worker["state"].as_str()), (200, Some("ok")));
    assert!(worker["reason"].as_str().unwrap().contains("no worker"));
    let worker = Worker::new(service.app.clone()).unwrap();
    worker.step().await.unwrap();
    service.advance(Duration::seconds(300));
    assert_eq!(service.get("/health/ready").await.status, 200);
    service.advance(Duration::seconds(1));
    let (status, found) = part(&service, "/health/ready", "worker").await;
    assert_eq!((status, found["state"].as_str()), (503, Some("failing")));
    assert_eq!(reasons(&service).await, ["worker: the last step was 301 s ago, more than 300 s"]);
    assert_eq!(service.get("/health/live").await.status, 200, "it lives");
    worker.step().await.unwrap();
    assert_eq!(service.get("/health/ready").await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_mail_that_waits_too_long_is_told_and_fails_who_asks_strictly(pool: Pool) {
    let mut service = Service::on(pool);
    service.configure(|config| config.mail.smtp_url = Some("smtp://127.0.0.1:1?tls=none".into()));
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service.configure(|config| config.ready.worker_s = u32::MAX);
    let (_, mail) = part(&service, "/health/ready", "mail").await;
    assert_eq!((&mail["state"], &mail["transport"]), (&"ok".into(), &"smtp".into()));
    assert_eq!(mail["age_s"], 0.0, "since it was queued");
    service.advance(Duration::seconds(1800));
    work(&service.app).await;
    service.advance(Duration::seconds(1801));
    let (status, mail) = part(&service, "/health/ready", "mail").await;
    assert_eq!(
        (status, mail["state"].as_str()),
        (200, Some("degraded")),
        "pages and uploads go on"
    );
    assert_eq!(mail["age_s"], 3601.0, "an attempt does not make it younger");
    assert_eq!(reasons(&service).await, ["mail: a mail has waited for 3601 s, more than 3600 s"]);
    assert_eq!(part(&service, "/health/ready?strict=true", "mail").await.0, 503);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_full_disk_and_full_partitions_are_reasons(pool: Pool) {
    let mut service = Service::on(pool);
    // More than there can be.
    service.configure(|config| config.ready.disk_percent = 101);
    let (status, disk) = part(&service, "/health/ready", "disk").await;
    assert_eq!((status, disk["state"].as_str()), (503, Some("failing")));
    assert!(disk["reason"].as_str().unwrap().contains("less than 101 %"), "{disk}");
    service.configure(|config| config.ready.disk_percent = 0);
    // As if as many machines had registered as the partitions hold.
    let last = "insert into machine (id, public_id, name, identity, registered_at)
                overriding system value values (23, 'ff', 'last', '{}', now())";
    sqlx::query(last).execute(&service.app.db).await.unwrap();
    let (status, room) = part(&service, "/health/ready", "partitions").await;
    assert_eq!((status, room["state"].as_str()), (200, Some("degraded")), "{room}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_schema_of_another_version_and_a_database_that_is_away_are_reasons(pool: Pool) {
    let service = Service::on(pool);
    sqlx::query("delete from _sqlx_migrations").execute(&service.app.db).await.unwrap();
    let (status, migrations) = part(&service, "/health/ready", "migrations").await;
    assert_eq!((status, migrations["state"].as_str()), (503, Some("failing")));
    assert!(migrations["reason"].as_str().unwrap().contains("scalewatch migrate"));
    service.app.db.close().await;
    let (status, database) = part(&service, "/health/ready", "database").await;
    assert_eq!((status, database["state"].as_str()), (503, Some("failing")));
    assert_eq!(reasons(&service).await, ["database: the database does not answer"]);
    assert_eq!(service.get("/health/live").await.status, 200);
}
