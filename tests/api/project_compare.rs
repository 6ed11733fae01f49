//! Two sides of a project over all its curves: what they come to, and what may make a side.

use scalewatch::db;
use serde_json::{Value, json};

use crate::support::history::{FAST, SLOW, a_run};
use crate::support::{Enrolled, Service, a_point, a_report};

/// Runs at a position and a level, and their UUIDs.
async fn runs(service: &Service, on: &Enrolled, position: i64, level: f64, n: u32) -> Vec<String> {
    let mut ids = Vec::new();
    for run in 0..n {
        let noise = 1.0 + 0.001 * f64::from(run);
        let report = a_run(on, position, level * noise).build();
        service.accept(on, &report).await;
        ids.push(report.run);
    }
    ids
}

fn commit(position: i64) -> String {
    a_report().at(position).build().revision.commit
}

async fn compare(service: &Service, base: &str, head: &str, rest: &str) -> Value {
    let path = format!("/api/v1/projects/linux/compare?base={base}&head={head}{rest}");
    let answer = service.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_regression_on_any_curve_is_the_outcome_and_stands_first(pool: db::Pool) {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    for on in [&box_a, &box_b] {
        runs(&service, on, 1, FAST, 4).await;
    }
    runs(&service, &box_a, 2, FAST, 4).await;
    runs(&service, &box_b, 2, SLOW, 4).await;
    let shown = compare(&service, &commit(1), &commit(2), "&why=true").await;
    assert_eq!(
        (&shown["outcome"], &shown["words"]),
        (&json!("regression"), &json!("regression on 1 curve"))
    );
    let first = &shown["curves"][0];
    assert_eq!(
        (&first["machine_name"], &first["points"][0]["verdict"]),
        (&json!("box-b"), &json!("regression"))
    );
    let ratio = first["points"][0]["ratio"].as_f64().unwrap();
    assert!((ratio - SLOW / FAST).abs() < 0.01, "{ratio}");
    assert!(first["why"].as_str().unwrap().contains("and decides"), "{}", first["why"]);
    assert_eq!(shown["curves"][1]["points"][0]["verdict"], "no change");
    assert_eq!((&shown["base"]["runs"], &shown["head"]["runs"]), (&json!(8), &json!(8)));

    let one =
        compare(&service, &commit(1), &commit(2), &format!("&machine={}", box_a.machine.id)).await;
    assert_eq!(
        (&one["outcome"], &one["curves"][0]["why"]),
        (&json!("no_regression"), &Value::Null)
    );
    let page = one["url"].as_str().unwrap().strip_prefix("http://scalewatch.test").unwrap();
    let page = service.get(page).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("no regression on 1 curve") && page.text().contains("box-a"));
    let link =
        one["curves"][0]["url"].as_str().unwrap().strip_prefix("http://scalewatch.test").unwrap();
    assert_eq!(service.get(link).await.status, 200);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_missing_or_failed_never_passes(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    runs(&service, &box_a, 1, FAST, 4).await;
    // Another workload at 2, nothing of the base's; then one run; then one that fails at 4 tasks.
    let mut other = a_point(1, &[10.0, 10.0]);
    other.workload = "file/open".into();
    let report = a_report().on(&box_a.machine).at(2).with_points(vec![other]).build();
    service.accept(&box_a, &report).await;
    let shown = compare(&service, &commit(1), &commit(2), "").await;
    assert_eq!(
        (&shown["outcome"], shown["unpaired"].as_array().unwrap().len()),
        (&json!("undecided"), 2)
    );
    let why: Vec<&str> = shown["unpaired"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["why"].as_str().unwrap())
        .collect();
    assert_eq!(why, ["not measured at the head", "not measured at the base"]);

    runs(&service, &box_a, 3, FAST, 3).await;
    for _ in 0..3 {
        let mut failing = a_run(&box_a, 4, FAST).build();
        failing.points[2].outcome = wire::Outcome::Failed(wire::Failure {
            call: "fallocate".into(),
            errno: Some(28),
            task: None,
            detail: "no space left".into(),
        });
        service.accept(&box_a, &failing).await;
    }
    let shown = compare(&service, &commit(3), &commit(4), "").await;
    assert_eq!(shown["outcome"], "measurement_failed", "{shown}");
    assert_eq!(shown["curves"][0]["failed"], json!([{ "tasks": 4, "detail": "no space left" }]));
    let turned = compare(&service, &commit(4), &commit(3), "").await;
    assert_ne!(turned["outcome"], "measurement_failed", "only the head's failures count");

    let nothing = compare(&service, &commit(1), &commit(3), "&workload=no/such").await;
    assert_eq!((&nothing["outcome"], &nothing["curves"]), (&json!("undecided"), &json!([])));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_side_is_a_commit_a_range_or_runs(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut ids = Vec::new();
    for (position, level) in [(1, FAST), (2, FAST), (3, FAST), (4, SLOW), (5, SLOW)] {
        ids.push(runs(&service, &box_a, position, level, 2).await);
    }
    let (before, after) =
        (format!("{}..{}", commit(1), commit(3)), format!("{}..{}", commit(3), commit(5)));
    let ranges = compare(&service, &before, &after, "").await;
    assert_eq!(ranges["outcome"], "regression", "{ranges}");
    assert_eq!(ranges["base"]["commits"], json!([commit(2), commit(3)]));
    assert_eq!((&ranges["base"]["runs"], &ranges["head"]["runs"]), (&json!(4), &json!(4)));
    let named = |runs: &[String]| format!("run:{}", runs.join(","));
    let of_runs = compare(&service, &named(&ids[0]), &named(&ids[4]), "").await;
    assert_eq!(
        (&of_runs["base"]["runs"], &of_runs["head"]["commits"]),
        (&json!(2), &json!([commit(5)]))
    );
    for (base, head, status, field) in [
        ("ab", commit(2), 400, Some("base")),
        ("run:1", commit(2), 400, Some("base")),
        (&*commit(1), format!("{}..{}", commit(3), commit(2)), 400, Some("head")),
        (&*commit(1), "ffffffff".into(), 404, None),
    ] {
        let path = format!("/api/v1/projects/linux/compare?base={base}&head={head}");
        let (found, _, named) = service.get(&path).await.refusal();
        assert_eq!((found, named.as_deref()), (status, field), "{base} {head}");
    }
    let unknown = service.get("/api/v1/projects/none/compare?base=abcd&head=abce").await;
    assert_eq!(unknown.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_verdict_of_a_curve_is_the_same_asked_for_alone_and_with_its_project(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for position in 1..=20 {
        runs(&service, &box_a, position, FAST, 1).await;
    }
    runs(&service, &box_a, 21, FAST * 0.95, 1).await;
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let path = format!("/api/v1/compare?curve={curve}&base={}&head={}", commit(20), commit(21));
    let alone = service.get(&path).await.json();
    let whole = compare(&service, &commit(20), &commit(21), "").await;
    assert_eq!(whole["curves"][0]["words"], alone["words"]);
    for (one, other) in whole["curves"][0]["points"]
        .as_array()
        .unwrap()
        .iter()
        .zip(alone["points"].as_array().unwrap())
    {
        assert_eq!((&one["verdict"], &one["ratio"]), (&other["verdict"], &other["ratio"]["value"]));
    }
}
