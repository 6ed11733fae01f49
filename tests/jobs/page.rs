//! The page of jobs: asking by its form, and going back through it; what is kept of what is done to jobs.

use axum::http::header;
use scalewatch::db;
use scalewatch::model::{Role, Scope};
use serde_json::json;

use super::{request, show, submitted};
use crate::pages::read::read;
use crate::support::history::{FAST, upload};
use crate::support::{Service, a_report, row_counts};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_maintainer_asks_for_a_measurement_by_the_form(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=4, FAST).await;
    let person = service.person("maria", false).await;
    service.role(&person, "linux", Role::Maintainer).await;
    let mut browser = service.browser_of(&person).await;
    assert!(!service.get("/jobs").await.text().contains("Ask for a measurement"));
    assert!(browser.get("/jobs").await.text().contains("Ask for a measurement"));
    let commit = |position: i64| a_report().at(position).build().revision.commit;
    let (c1, c4) = (commit(1), commit(4));
    let machine = box_a.machine.id.as_str();
    let fields = [
        ("project", "linux"),
        ("commit", &c4[..12]),
        ("base", &c1[..12]),
        ("after", ""),
        ("workloads", "sys/getppid  file/open"),
        ("tasks", "1,2"),
        ("machine", machine),
        ("label", ""),
        ("runs", "2"),
        ("priority", "-5"),
        ("deadline", "2026-03-02T12:00:00Z"),
    ];
    let answer = browser.post("/jobs", "/jobs", &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], "/jobs/1");
    let job = show(&service, 1).await;
    assert_eq!(job["plan"], json!({ "workloads": ["sys/getppid", "file/open"], "tasks": "1,2" }));
    assert_eq!(
        (&job["revisions"][0]["commit"], &job["revisions"][1]["commit"]),
        (&json!(c1), &json!(c4))
    );
    assert_eq!((&job["priority"], &job["turns"]), (&json!(-5), &json!([0, 1, 1, 0])));
    assert_eq!(
        (&job["deadline"], &job["submitted_by"]),
        (&json!("2026-03-02T12:00:00Z"), &json!("maria"))
    );
    // A range is a job for each known revision.
    let fields = [
        ("project", "linux"),
        ("commit", &c4[..12]),
        ("after", &c1[..12]),
        ("workloads", "sys/getppid"),
        ("label", "lab"),
    ];
    let answer = browser.post("/jobs", "/jobs", &fields).await;
    assert_eq!(answer.headers[header::LOCATION], "/jobs?state=open&project=linux");
    let shown = read(&browser.get("/jobs?state=open&project=linux").await.text()).text;
    assert!(shown.contains("4 jobs"), "{shown}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_the_api_refuses_the_form_refuses_in_the_same_words(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=2, FAST).await;
    let person = service.person("maria", false).await;
    service.role(&person, "linux", Role::Maintainer).await;
    let mut browser = service.browser_of(&person).await;
    let commit = a_report().at(2).build().revision.commit;
    let good = [
        ("project", "linux"),
        ("commit", commit.as_str()),
        ("workloads", "sys/getppid"),
        ("machine", box_a.machine.id.as_str()),
    ];
    let before = row_counts(&service.app.db).await;
    for (field, value, status, told) in [
        ("project", "nowhere", 404, "There is no such project"),
        ("commit", "0123456789", 422, "revision"),
        ("commit", "", 422, "revision.commit"),
        ("workloads", "", 422, "plan.workloads"),
        ("machine", "", 422, "label"),
        ("machine", "nobody", 422, "machine"),
        ("label", "lab", 422, "label"),
        ("priority", "101", 422, "priority"),
        ("priority", "high", 422, "priority"),
        ("runs", "0", 422, "runs"),
        ("deadline", "tomorrow", 422, "deadline"),
        ("deadline", "2026-02-01T12:00:00Z", 422, "has passed already"),
    ] {
        let mut fields: Vec<_> = good.iter().copied().filter(|(name, _)| *name != field).collect();
        fields.push((field, value));
        let answer = browser.post("/jobs", "/jobs", &fields).await;
        let text = read(&answer.text()).text;
        assert_eq!(answer.status, status, "{field}={value}: {text}");
        assert!(text.contains(told), "{field}={value}: {text}");
    }
    assert_eq!(row_counts(&service.app.db).await, before);
    let triager = service.person("triager", false).await;
    service.role(&triager, "linux", Role::Triager).await;
    let mut other = service.browser_of(&triager).await;
    assert_eq!(other.post("/account", "/jobs", &good).await.status, 403);
    assert_eq!(browser.post("/jobs", "/jobs", &good).await.status, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn cancelling_and_asking_again_are_kept_with_who_did_it(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("box-a").await;
    let id = submitted(&service, &request("box-a", 1)).await;
    let token = service.token(Scope::Submit).await;
    for (what, status) in [("cancel", 200), ("cancel", 409), ("retry", 200), ("retry", 409)] {
        let answer = service.post(&format!("/api/v1/jobs/{id}/{what}"), &token, "").await;
        assert_eq!(answer.status, status, "{what}: {}", answer.text());
    }
    let deeds = db::audit::list(&service.app.db, None, 2).await.unwrap();
    let told: Vec<_> = deeds
        .iter()
        .rev()
        .map(|deed| (deed.what.as_str(), deed.about.as_str(), deed.was.clone().unwrap()))
        .collect();
    let about = format!("job {id} of demo");
    assert_eq!(
        told,
        [
            ("job_cancelled", about.as_str(), json!({ "state": "queued" })),
            ("job_retried", about.as_str(), json!({ "state": "cancelled" })),
        ]
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_page_goes_back_by_addresses_without_a_meaning(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("box-a").await;
    for position in 1..=101 {
        submitted(&service, &request("box-a", position)).await;
    }
    let first = read(&service.get("/jobs").await.text());
    let older = first.links.iter().find(|link| link.contains("after=")).expect("a link");
    assert!(!older.ends_with("after=2"), "{older}");
    let last = read(&service.get(older).await.text());
    assert!(
        last.links.contains(&"/jobs/1".to_owned()) && !last.links.contains(&"/jobs/2".to_owned())
    );
    for bad in ["2", "x", "%00"] {
        assert_eq!(service.get(&format!("/jobs?after={bad}")).await.status, 400, "{bad}");
    }
}
