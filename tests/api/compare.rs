use scalewatch::db;
use serde_json::{Value, json};

use crate::support::history::{FAST, SLOW, noisy, upload, work};
use crate::support::{Answer, Enrolled, Service, a_point, a_report};

/// `runs` runs of a revision, 10 samples at 1 and at 4 tasks each.
async fn revision(service: &Service, enrolled: &Enrolled, position: i64, level: f64, kernel: &str) {
    for run in 0..4 {
        let samples = |scale: f64| -> Vec<f64> {
            (0..10).map(|i| scale * (level + f64::from((run * 7 + i * 3) % 11) * 10.0)).collect()
        };
        let points = vec![a_point(1, &samples(1.0)), a_point(4, &samples(3.0))];
        let report = a_report().on(&enrolled.machine).at(position).with_points(points);
        service.accept(enrolled, &report.in_environment("kernel.release", kernel).build()).await;
    }
}

async fn compare(service: &Service, base: i64, head: i64) -> Value {
    let answer = compare_by(service, base, head, "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn compare_by(service: &Service, base: i64, head: i64, rest: &str) -> Answer {
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let commit = |position| a_report().at(position).build().revision.commit[..10].to_owned();
    let (base, head) = (commit(base), commit(head));
    service.get(&format!("/api/v1/compare?curve={curve}&base={base}&head={head}{rest}")).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_slower_head_is_a_regression_at_every_point(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    revision(&service, &enrolled, 1, 10_000.0, "6.9.0").await;
    revision(&service, &enrolled, 2, 6_500.0, "6.9.0").await;
    let shown = compare(&service, 1, 2).await;
    assert_eq!(
        (&shown["metric"], &shown["direction"]),
        (&json!("ops_per_s_total"), &json!("higher"))
    );
    let points = shown["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|p| p["tasks"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 4]);
    for point in points {
        assert_eq!(point["verdict"], "regression", "{shown}");
        let ratio = &point["ratio"];
        assert!((ratio["value"].as_f64().unwrap() - 0.65).abs() < 0.01, "{ratio}");
        assert!(ratio["high"].as_f64() < Some(0.7) && ratio["low"].as_f64() > Some(0.6), "{ratio}");
        assert!(!point["evidence"]["inequalities"].as_array().unwrap().is_empty());
    }
    assert!(shown["words"].as_str().unwrap().contains('%'), "{}", shown["words"]);
    assert_eq!(shown["environment_changes"], json!([]));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_revision_against_itself_is_no_change(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    revision(&service, &enrolled, 1, 10_000.0, "6.9.0").await;
    let shown = compare(&service, 1, 1).await;
    assert_eq!(shown["points"].as_array().unwrap().len(), 2);
    for point in shown["points"].as_array().unwrap() {
        assert_eq!(point["verdict"], "no change", "{shown}");
        assert_eq!(point["ratio"]["value"], 1.0);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn sides_from_other_environments_are_not_called(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    revision(&service, &enrolled, 1, 10_000.0, "6.9.0").await;
    revision(&service, &enrolled, 2, 6_500.0, "6.10.0").await;
    let shown = compare(&service, 1, 2).await;
    assert_eq!(shown["points"].as_array().unwrap().len(), 2);
    for point in shown["points"].as_array().unwrap() {
        assert_eq!(point["verdict"], "environment changed");
    }
    let change = json!({
        "field": "kernel.release", "before": "6.9.0", "after": "6.10.0", "changes": 0, "moved": 0,
    });
    assert_eq!(shown["environment_changes"], json!([change]));
    assert_eq!(shown["points"][0]["ratio"], Value::Null, "not compared unless asked");
    let asked = compare_by(&service, 1, 2, "&environments=across").await.json();
    assert_eq!(asked["points"][0]["verdict"], "environment changed");
    assert!((asked["points"][0]["ratio"]["value"].as_f64().unwrap() - 0.65).abs() < 0.01);
    let other = compare_by(&service, 1, 2, "&environments=all").await;
    assert_eq!(other.refusal().2.as_deref(), Some("environments"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_differs_is_ranked_by_how_often_such_a_change_moved_results_before(pool: db::Pool) {
    let service = Service::on(pool);
    let history = service.registered("history").await;
    // The governor moved the level whenever it changed; the kernel never did.
    for (position, governor, kernel, level) in [
        (1, "performance", "6.9", 10_000.0),
        (2, "powersave", "6.9", 6_000.0),
        (3, "powersave", "6.10", 6_000.0),
        (4, "performance", "6.10", 10_000.0),
        (5, "performance", "6.11", 10_000.0),
    ] {
        upload_in(&service, &history, position, level, governor, kernel).await;
    }
    work(&service.app).await;
    let other = service.registered("other").await;
    upload_in(&service, &other, 1, 10_000.0, "performance", "6.9").await;
    upload_in(&service, &other, 2, 10_000.0, "powersave", "6.12").await;
    let curves = service.get("/api/v1/curves").await.json();
    let of_other = |curve: &&Value| curve["machine_name"] == "other";
    let curve = curves["items"].as_array().unwrap().iter().find(of_other).unwrap()["id"].clone();
    let commit = |position| a_report().at(position).build().revision.commit;
    let path = format!("/api/v1/compare?curve={curve}&base={}&head={}", commit(1), commit(2));
    let shown = service.get(&path).await.json();
    let ranked: Vec<(&str, i64, i64)> = shown["environment_changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let count = |name: &str| one[name].as_i64().unwrap();
            (one["field"].as_str().unwrap(), count("changes"), count("moved"))
        })
        .collect();
    // Two task counts each: a change of the governor was crossed twice, the kernel's too.
    assert_eq!(ranked, [("cpu.governor", 4, 4), ("kernel.release", 4, 0)]);
    let words = shown["words"].as_str().unwrap();
    assert!(words.starts_with("environment changed: cpu.governor performance → powersave, "));
}

/// Four runs at a revision in an environment.
async fn upload_in(
    service: &Service,
    enrolled: &Enrolled,
    position: i64,
    level: f64,
    governor: &str,
    kernel: &str,
) {
    for run in 0..4 {
        let samples = |tasks| noisy(position * 10 + run, tasks, level);
        let points = vec![a_point(1, &samples(1)), a_point(4, &samples(4))];
        let report = a_report().on(&enrolled.machine).at(position).with_points(points);
        let report = report
            .in_environment("cpu.governor", governor)
            .in_environment("kernel.release", kernel);
        service.accept(enrolled, &report.build()).await;
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn commits_are_found_by_their_digits_or_refused(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    for (position, commit) in [(1, "abcd1111"), (2, "abcd2222")] {
        let report = a_report().on(&enrolled.machine).at(position);
        let report = report.with_samples(&[100.0]).with(|r| r.revision.commit = commit.into());
        service.accept(&enrolled, &report.build()).await;
    }
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let compare = async |base: &str| {
        let path = format!("/api/v1/compare?curve={curve}&base={base}&head=abcd2");
        service.get(&path).await
    };
    let shown = compare("ABCD1").await.json();
    assert_eq!(
        (&shown["base"]["commit"], &shown["head"]["commit"]),
        (&json!("abcd1111"), &json!("abcd2222"))
    );
    assert_eq!(shown["points"][0]["verdict"], "not enough data");
    for (base, status, field) in [
        ("abcd", 400, Some("base")),
        ("abc", 400, Some("base")),
        ("main", 400, Some("base")),
        ("ffff", 404, None),
    ] {
        let (found, _, named) = compare(base).await.refusal();
        assert_eq!((found, named.as_deref()), (status, field), "{base}");
    }
    assert!(compare("abcd").await.text().contains("abcd1111"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn builds_since_the_newest_step_tell_how_far_builds_lie_apart(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=20, FAST).await;
    upload(&service, &box_a, 21..=40, SLOW).await;
    upload(&service, &box_a, [41], SLOW * 0.95).await;
    work(&service.app).await;

    let shown = compare(&service, 40, 41).await;
    for point in shown["points"].as_array().unwrap() {
        assert_eq!(
            (&point["verdict"], &point["unconfirmed"]),
            (&json!("regression"), &json!(false))
        );
        let notes = point["evidence"]["notes"].to_string();
        assert!(notes.contains("from 19 earlier builds"), "21 to 39: {notes}");
    }
    let shown = compare(&service, 39, 40).await;
    assert!(shown["words"].as_str().unwrap().starts_with("no change, within ±"), "{shown}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_change_without_earlier_builds_is_unconfirmed(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    for level in [FAST, FAST * 1.001, FAST * 0.999] {
        upload(&service, &box_a, [1], level).await;
        upload(&service, &box_a, [2], level * 0.992).await;
    }
    let shown = compare(&service, 1, 2).await;
    let points = shown["points"].as_array().unwrap();
    assert!(points.iter().any(|point| point["unconfirmed"] == true), "{shown}");
    assert!(points.iter().all(|point| point["unconfirmed"] == (point["verdict"] == "regression")));
    assert!(shown["words"].as_str().unwrap().contains("unconfirmed"), "{shown}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn both_laws_of_scaling_and_their_change_are_in_the_answer(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    let law = |contention: f64, tasks: u32| {
        let n = f64::from(tasks);
        100_000.0 * n / (1.0 + contention * (n - 1.0))
    };
    for (position, contention) in [(1, 0.03), (2, 0.10), (3, 0.03)] {
        let points = [1, 2, 4, 8, 16]
            .map(|tasks| a_point(tasks, &noisy(position, 1, law(contention, tasks))));
        let report = a_report().on(&enrolled.machine).at(position).with_points(points.to_vec());
        let kernel = if position == 3 { "6.10" } else { "6.9" };
        service.accept(&enrolled, &report.in_environment("kernel.release", kernel).build()).await;
    }
    let shown = compare(&service, 1, 2).await["scaling"].clone();
    let contention = |side: &str| shown[side]["law"]["contention"]["value"].as_f64().unwrap();
    assert!((contention("base") - 0.03).abs() < 0.005, "{shown}");
    assert!((contention("head") - 0.10).abs() < 0.005, "{shown}");
    assert_eq!(shown["changes"][0]["coefficient"], "contention");
    assert_eq!(shown["changes"][0]["verdict"], "regression");
    assert_eq!(shown["changes"][1]["verdict"], "no change");
    assert!(!shown["changes"][0]["evidence"]["inequalities"].as_array().unwrap().is_empty());
    assert_eq!(compare(&service, 1, 3).await["scaling"], json!(null), "another environment");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_side_of_a_curve_is_a_commit_a_range_or_runs(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=4, FAST).await;
    upload(&service, &box_a, 5..=8, SLOW).await;
    let commit = |position| a_report().at(position).build().revision.commit;
    let curve = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let compare = async |base: &str, head: &str| {
        let path = format!("/api/v1/compare?curve={curve}&base={base}&head={head}");
        service.get(&path).await.json()
    };
    let (before, after) =
        (format!("{}..{}", commit(1), commit(4)), format!("{}..{}", commit(4), commit(8)));
    let shown = compare(&before, &after).await;
    assert_eq!(shown["base"]["commit"], commit(4), "{shown}");
    assert!(
        shown["points"].as_array().unwrap().iter().all(|point| point["verdict"] == "regression")
    );
    let runs = service.get("/api/v1/runs").await.json()["items"].clone();
    let of = |position: i64| {
        let fits = |run: &&Value| run["commit"] == commit(position);
        runs.as_array().unwrap().iter().find(fits).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let shown = compare(&format!("run:{},{}", of(2), of(3)), &format!("run:{}", of(6))).await;
    assert_eq!(shown["head"]["commit"], commit(6));
    let ratio = shown["points"][0]["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - SLOW / FAST).abs() < 0.02, "{ratio}");
}
