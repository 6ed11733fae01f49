//! One of a kind: what the answer of a machine, a run, a curve and a series holds.

use scalewatch::db;
use serde_json::{Value, json};

use crate::support::{Enrolled, Service, a_point, a_report};

async fn json(service: &Service, path: &str) -> Value {
    let answer = service.get(&format!("/api/v1/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// Two revisions, 1 and 2 tasks, two runs of the second revision.
async fn history(service: &Service, enrolled: &Enrolled) {
    for (position, level) in [(1, 100.0), (2, 200.0), (2, 202.0)] {
        let samples: Vec<f64> = (0..4).map(|i| level + f64::from(i)).collect();
        let points = vec![a_point(1, &samples), a_point(2, &[level * 2.0])];
        let report = a_report().on(&enrolled.machine).at(position).with_points(points);
        service.accept(enrolled, &report.build()).await;
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_shows_its_identity_and_its_environments(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    for kernel in ["6.9.0", "6.10.0"] {
        let report = a_report().on(&enrolled.machine).in_environment("kernel.release", kernel);
        service.accept(&enrolled, &report.build()).await;
    }
    let shown = json(&service, &format!("machines/{}", enrolled.machine.id)).await;
    assert_eq!(shown["id"], enrolled.machine.id);
    assert_eq!(shown["identity"]["cores"], 4);
    assert_eq!(shown["registered_at"], "2026-03-01T12:00:00Z");
    let kernels: Vec<_> = shown["environments"].as_array().unwrap().iter().collect();
    assert_eq!(kernels.len(), 2);
    assert!(kernels.iter().any(|one| one["facts"]["kernel.release"] == "6.10.0"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_run_shows_every_window_every_metric_and_what_failed(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    let mut failed = a_point(8, &[1.0]);
    let failure = json!({"call": "open", "errno": 24, "detail": "too many open files"});
    failed.outcome = wire::Outcome::Failed(serde_json::from_value(failure.clone()).unwrap());
    let report =
        a_report().on(&enrolled.machine).with_points(vec![a_point(2, &[10.0, 12.0]), failed]);
    let report = report.with(|report| {
        report.artefacts = vec![wire::Artefact {
            name: "perf & more.txt".into(),
            media_type: "text/html".into(),
            content: "<script>alert(1)</script>".into(),
        }];
    });
    let report = report.build();
    service.accept(&enrolled, &report).await;
    let shown = json(&service, &format!("runs/{}", report.run)).await;
    assert_eq!((&shown["points"], &shown["failed_points"]), (&json!(2), &json!(1)));
    assert_eq!(shown["environment"]["facts"]["kernel.release"], "6.9.0");
    let (measured, failed) = (&shown["recorded"][0]["measured"], &shown["recorded"][1]["failed"]);
    assert_eq!(failed, &failure);
    let windows = json!([
        {"dt_ns": 1_000_000_000, "ops": [5, 5], "cpu_ns": [500_000_000, 500_000_000]},
        {"dt_ns": 1_000_000_000, "ops": [6, 6], "cpu_ns": [500_000_000, 500_000_000]},
    ]);
    assert_eq!(measured["windows"], windows);
    let primary = &measured["metrics"][0];
    assert_eq!(
        (&primary["metric"], &primary["unit"]),
        (&json!("ops_per_s_total"), &json!("ops/s"))
    );
    assert_eq!(
        (&primary["samples"], &primary["summary"]["median"]),
        (&json!([10.0, 12.0]), &json!(11.0))
    );

    let path = format!("/api/v1/runs/{}/artefacts/perf%20%26%20more.txt", report.run);
    let artefact = service.get(&path).await;
    assert_eq!(artefact.text(), "<script>alert(1)</script>");
    assert_eq!(artefact.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(artefact.headers["x-content-type-options"], "nosniff");
    let missing = service.get(&format!("/api/v1/runs/{}/artefacts/none", report.run)).await;
    assert_eq!(missing.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_curve_shows_the_middle_of_each_point_at_each_revision(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    history(&service, &enrolled).await;
    let id = json(&service, "curves").await["items"][0]["id"].clone();
    let shown = json(&service, &format!("curves/{id}")).await;
    assert_eq!((&shown["metric"], &shown["branch"]), (&json!("ops_per_s_total"), &json!("main")));
    assert_eq!(shown["tasks"], json!([1, 2]));
    assert_eq!(shown["series"].as_array().unwrap().len(), 4);
    let revisions = shown["revisions"].as_array().unwrap();
    assert_eq!(revisions.iter().map(|r| r["rank"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    let few = json!({"tasks": 1, "runs": 1, "samples": 4, "median": 101.5, "interval": null});
    assert_eq!(revisions[0]["points"][0], few);
    let both = &revisions[1]["points"][0];
    assert_eq!(
        (&both["runs"], &both["samples"], &both["median"]),
        (&json!(2), &json!(8), &json!(202.5))
    );
    let (low, high) = (&both["interval"]["low"], &both["interval"]["high"]);
    assert!(low.as_f64() < Some(202.5) && high.as_f64() > Some(202.5), "{both}");
    assert_eq!(revisions[1]["points"][1]["median"], json!(402.0));

    let per_cpu = json(&service, &format!("curves/{id}?metric=ops_per_cpu_s")).await;
    assert_eq!(per_cpu["unit"], "ops/cpu-s");
    assert_eq!(service.get(&format!("/api/v1/curves/{id}?metric=none")).await.status, 404);
    assert_eq!(service.get(&format!("/api/v1/curves/{id}?branch=none")).await.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_series_shows_its_runs_in_the_order_of_revisions(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    history(&service, &enrolled).await;
    let id = json(&service, "curves").await["items"][0]["id"].clone();
    let series = json(&service, &format!("curves/{id}")).await["series"][0].clone();
    let shown = json(&service, &format!("series/{}", series["id"])).await;
    assert_eq!(shown["primary"], true);
    let runs = shown["measurements"].as_array().unwrap();
    let medians: Vec<_> =
        runs.iter().map(|run| run["summary"]["median"].as_f64().unwrap()).collect();
    assert_eq!(medians[0], 101.5);
    assert_eq!(medians.len(), 3);
    assert!(runs[0].get("samples").is_none());
    let columns = json(&service, &format!("series/{}?form=columns", series["id"])).await;
    assert!(columns.get("measurements").is_none());
    let columns = &columns["columns"];
    assert_eq!(columns["rank"], json!([1, 2, 2]));
    assert_eq!(columns["median"][0], 101.5);
    assert_eq!(columns["n"], json!([4, 4, 4]));
    let commit = runs[0]["commit"].as_str().unwrap();
    assert_eq!(columns["commit"][0], commit[..12]);
    for (query, named) in [("form=columns&samples=true", "samples"), ("form=cubes", "form")] {
        let path = format!("/api/v1/series/{}?{query}", series["id"]);
        let refusal = service.get(&path).await.refusal();
        assert_eq!(refusal, (400, "invalid_parameter".into(), Some(named.into())));
    }
    let full = json(&service, &format!("series/{}?samples=true", series["id"])).await;
    assert_eq!(full["measurements"][0]["samples"], json!([100.0, 101.0, 102.0, 103.0]));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn where_a_project_has_several_branches_one_must_be_named(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    for branch in ["main", "next"] {
        let report = a_report().on(&enrolled.machine).with(|r| r.revision.branch = branch.into());
        service.accept(&enrolled, &report.build()).await;
    }
    let id = json(&service, "curves").await["items"][0]["id"].clone();
    let answer = service.get(&format!("/api/v1/curves/{id}")).await;
    assert_eq!(answer.refusal(), (400, "invalid_parameter".into(), Some("branch".into())));
    assert!(answer.text().contains("main, next"));
    let shown = json(&service, &format!("curves/{id}?branch=next")).await;
    assert_eq!(shown["revisions"].as_array().unwrap().len(), 1);
}
