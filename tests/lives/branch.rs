//! Branches get other names, and go.

use scalewatch::db::{self, Pool};
use scalewatch::model::{Role, Scope};
use serde_json::{Value, json};

use crate::pages::read::read;
use crate::support::history::{FAST, a_run, upload_regression, work};
use crate::support::{Answer, Enrolled, Service, row_counts};

const PAGE: &str = "/projects/linux/branches";

/// Branch `main` with a regression, and the same again on `next`.
async fn with_two(pool: Pool) -> (Service, Enrolled) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    for position in 1..=11 {
        let level = if position < 7 { FAST } else { FAST * 0.6 };
        let next = |report: &mut wire::Report| report.revision.branch = "next".into();
        service.accept(&box_a, &a_run(&box_a, position, level).with(next).build()).await;
    }
    work(&service.app).await;
    assert_eq!(count(&service, "").await, 2);
    (service, box_a)
}

async fn count(service: &Service, filter: &str) -> usize {
    let found = service.get(&format!("/api/v1/incidents?state=all{filter}")).await;
    assert_eq!(found.status, 200, "{}", found.text());
    found.json()["items"].as_array().unwrap().len()
}

async fn ask(service: &Service, scope: Scope, path: &str, body: Value) -> Answer {
    let token = service.token(scope).await;
    let path = format!("/api/v1/projects/linux/branches/{path}");
    service.post(&path, &token, body.to_string()).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_renamed_branch_keeps_everything_and_answers_to_both_names(pool: Pool) {
    let (service, box_a) = with_two(pool).await;
    let before = row_counts(&service.app.db).await;
    let answer = ask(&service, Scope::Submit, "next/name", json!({ "name": "stable/6" })).await;
    assert_eq!(answer.json(), json!({ "name": "stable/6", "was": "next" }));
    for name in ["next", "stable%2F6"] {
        assert_eq!(count(&service, &format!("&project=linux&branch={name}")).await, 1, "{name}");
        let path = format!("/api/v1/projects/linux/revisions?branch={name}");
        assert_eq!(
            service.get(&path).await.json()["items"].as_array().unwrap().len(),
            11,
            "{name}"
        );
    }
    let named = service.get("/api/v1/projects/linux").await.json();
    assert_eq!(named["branches"][1]["name"], "stable/6");
    // A runner that still says the old name reports to it.
    let next = |report: &mut wire::Report| report.revision.branch = "next".into();
    service.accept(&box_a, &a_run(&box_a, 12, FAST).with(next).build()).await;
    let after = row_counts(&service.app.db).await;
    assert_eq!((after["branch"], after["revision"]), (before["branch"], before["revision"] + 1));
    // The old name is free for another rename, and given away.
    let taken = ask(&service, Scope::Submit, "main/name", json!({ "name": "next" })).await;
    assert_eq!(taken.refusal().1, "branch_known", "it answers to it still");
    let back = ask(&service, Scope::Submit, "stable%2F6/name", json!({ "name": "next" })).await;
    assert_eq!(back.status, 200, "{}", back.text());
    for (body, field) in [
        (json!({ "name": "" }), "name"),
        (json!({ "name": "a\u{0}b" }), "name"),
        (json!({ "name": "x".repeat(wire::limits::NAME + 1) }), "name"),
    ] {
        let refused = ask(&service, Scope::Submit, "next/name", body.clone()).await.refusal();
        assert_eq!((refused.0, refused.2.as_deref()), (422, Some(field)), "{body}");
    }
    let taken =
        ask(&service, Scope::Submit, "next/name", json!({ "name": "main" })).await.refusal();
    assert_eq!((taken.0, &*taken.1), (409, "branch_known"));
    assert_eq!(
        ask(&service, Scope::Triage, "next/name", json!({ "name": "x" })).await.refusal().0,
        403
    );
    let deeds = db::audit::list(&service.app.db, None, 100).await.unwrap();
    let renamed = deeds.iter().filter(|deed| deed.what == "branch_renamed").count();
    assert_eq!(renamed, 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_deleted_branch_takes_its_own_along_and_nothing_else(pool: Pool) {
    let (service, box_a) = with_two(pool).await;
    let alone = |report: &mut wire::Report| {
        report.revision.branch = "next".into();
        for point in &mut report.points {
            point.workload = "next/only".into();
        }
    };
    service.accept(&box_a, &a_run(&box_a, 11, FAST).with(alone).build()).await;
    work(&service.app).await;
    let before = service.get("/api/v1/incidents/1").await.json();
    assert_eq!(before["branch"], "main");
    let wrong = ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "main" })).await;
    assert_eq!(wrong.refusal().2.as_deref(), Some("confirm"));
    assert_eq!(
        ask(&service, Scope::Submit, "next/delete", json!({ "confirm": "next" })).await.refusal().0,
        403
    );
    let answer = ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "next" })).await;
    let expected = json!({ "revisions": 11, "runs": 12, "incidents": 1, "curves": 1 });
    assert_eq!(answer.json(), expected, "{}", answer.text());
    work(&service.app).await;
    assert_eq!(
        service.get("/api/v1/incidents/1").await.json(),
        before,
        "the other's stands as it was"
    );
    assert_eq!(count(&service, "").await, 1);
    let rows = row_counts(&service.app.db).await;
    assert_eq!((rows["revision"], rows["run"], rows["point"], rows["curve"]), (11, 11, 33, 1));
    assert_eq!(rows["measurement"], 66);
    assert_eq!(
        ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "next" })).await.refusal().0,
        404
    );
    let told = db::audit::list(&service.app.db, None, 1).await.unwrap();
    assert_eq!((&*told[0].what, &*told[0].about), ("branch_deleted", "branch next of linux"));
    // The next report brings it anew.
    let next = |report: &mut wire::Report| report.revision.branch = "next".into();
    service.accept(&box_a, &a_run(&box_a, 3, FAST).with(next).build()).await;
    assert_eq!(row_counts(&service.app.db).await["branch"], 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_was_measured_on_a_deleted_branch_alone_can_be_measured_again(pool: Pool) {
    let (service, box_a) = with_two(pool).await;
    let alone = |branch: &'static str| {
        move |report: &mut wire::Report| {
            report.revision.branch = branch.into();
            for point in &mut report.points {
                point.parameters.insert("only".into(), "here".into());
            }
        }
    };
    service.accept(&box_a, &a_run(&box_a, 20, FAST).with(alone("next")).build()).await;
    work(&service.app).await;
    let gone = ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "next" })).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    service.accept(&box_a, &a_run(&box_a, 21, FAST).with(alone("main")).build()).await;
    work(&service.app).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_branch_that_a_job_measures_stays(pool: Pool) {
    let (service, box_a) = with_two(pool).await;
    let asked = json!({
        "project": "linux", "machine": box_a.machine.id, "plan": { "workloads": ["sys/getppid"], "tasks": "1" },
        "revision": { "commit": format!("{:040x}", 99), "branch": "next", "position": 99 },
    });
    let submit = service.token(Scope::Submit).await;
    let job = service.post("/api/v1/jobs", &submit, asked.to_string()).await.json();
    let id = job["jobs"][0]["id"].clone();
    let refused = ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "next" })).await;
    assert!(refused.text().contains(&format!("job {id}")), "{}", refused.text());
    assert_eq!(refused.refusal().1, "branch_in_use");
    let cancelled = service.post(&format!("/api/v1/jobs/{id}/cancel"), &submit, "").await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text());
    let done = ask(&service, Scope::Admin, "next/delete", json!({ "confirm": "next" })).await;
    assert_eq!(done.status, 200, "{}", done.text());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn maintainers_rename_and_delete_on_the_page(pool: Pool) {
    let (service, _) = with_two(pool).await;
    assert!(!service.get(PAGE).await.text().contains("Delete"));
    let triager = service.person("triager", false).await;
    service.role(&triager, "linux", Role::Triager).await;
    let maintainer = service.person("maintainer", false).await;
    service.role(&maintainer, "linux", Role::Maintainer).await;
    let mut other = service.browser_of(&triager).await;
    let mut browser = service.browser_of(&maintainer).await;
    for (fields, status) in [
        (vec![("branch", "next"), ("to", "stable")], 303),
        (vec![("branch", "stable"), ("confirm", "next")], 422),
        (vec![("branch", "nowhere"), ("confirm", "nowhere")], 404),
        (vec![("branch", "stable")], 422),
        (vec![("branch", "stable"), ("confirm", "stable")], 303),
    ] {
        assert_eq!(other.post("/account", PAGE, &fields).await.status, 403, "{fields:?}");
        let answer = browser.post(PAGE, PAGE, &fields).await;
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.text());
    }
    let text = read(&browser.get(PAGE).await.text()).text;
    assert!(text.contains("main") && !text.contains("stable"), "{text}");
}
