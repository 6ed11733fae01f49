//! Results of other tools, imported by the program as people type it, and read back as people do.

mod bad_input;
mod corpus;
mod formats;
mod history;

use std::process::{Command, Output, Stdio};

use scalewatch::db::Pool;
use serde_json::Value;

use crate::support::Service;
use crate::support::processes::database_url;

const C1: &str = "1111111111111111111111111111111111111111";
const C2: &str = "2222222222222222222222222222222222222222";

/// What a run needs besides its file.
const REVISION: [&str; 4] = ["--commit", C1, "--committed-at", "2026-01-05T00:00:00Z"];

/// A file below `files`, as the program is given it.
fn file(name: &str) -> String {
    format!("{}/tests/import/files/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// `scalewatch import` for project `history` on the machine `box-a`.
fn import(pool: &Pool, format: &str, paths: &[&str], more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .args(["import", format, "--machine", "box-a", "--project", "history"])
        .args(["--subject", "program"])
        .args(paths)
        .args(more)
        .env("DATABASE_URL", database_url(pool))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// An import that must be done; what it printed.
fn done(pool: &Pool, format: &str, paths: &[&str], more: &[&str]) -> String {
    let output = import(pool, format, paths, more);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{format} {paths:?} {more:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// An import that must be refused; why.
fn refused(pool: &Pool, format: &str, paths: &[&str], more: &[&str]) -> String {
    let output = import(pool, format, paths, more);
    assert!(!output.status.success(), "{format} {paths:?} {more:?} is accepted");
    String::from_utf8(output.stderr).unwrap()
}

/// A service that knows the machine `box-a`.
async fn service(pool: &Pool) -> Service {
    let service = Service::on(pool.clone());
    service.registered("box-a").await;
    service
}

/// Every run, the API's answers.
async fn runs(service: &Service) -> Vec<Value> {
    let list = service.get("/api/v1/runs?limit=500").await.json();
    let mut runs = Vec::new();
    for run in list["items"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        runs.push(service.get(&format!("/api/v1/runs/{id}")).await.json());
    }
    runs
}

/// `workload {parameters} tasks metric unit direction [values]` of every metric of every run that the
/// API shows, sorted; each is also looked for on the run's page.
async fn figures(service: &Service) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs(service).await {
        let page = service.get(&format!("/runs/{}", run["id"].as_str().unwrap())).await;
        assert_eq!(page.status, 200);
        let page = page.text();
        for point in run["recorded"].as_array().unwrap() {
            let (workload, parameters) =
                (point["workload"].as_str().unwrap(), &point["parameters"]);
            let head = format!("{workload} {parameters} {}", point["tasks"]);
            assert!(page.contains(workload.split('<').next().unwrap()), "{workload}: {page}");
            if let Some(failed) = point.get("failed") {
                lines.push(format!("{head} failed: {}", failed["detail"].as_str().unwrap()));
                continue;
            }
            let imported = &point["imported"];
            assert!(page.contains(&format!("Measured by {}", imported["tool"].as_str().unwrap())));
            for metric in imported["metrics"].as_array().unwrap() {
                let samples = &metric["samples"];
                let n = samples.as_array().unwrap().len();
                assert_eq!(metric["summary"]["n"], n);
                let text = |key: &str| metric[key].as_str().unwrap().to_owned();
                let (unit, direction) = (text("unit"), text("direction"));
                let axis = format!("({unit}, {direction} is better)");
                assert!(page.contains(&axis), "{axis}: {page}");
                lines.push(format!("{head} {} {unit} {direction} {samples}", text("metric")));
            }
        }
    }
    lines.sort();
    lines
}
