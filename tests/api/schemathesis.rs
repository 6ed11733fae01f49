//! Schemathesis, a program that makes up requests from the document, finds no answer that the
//! document lacks, and none that is the service's fault. `./dev test` installs it and names it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Command;

use scalewatch::app::{answer, listen};
use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::Service;
use crate::support::history::{upload_regression, work};

/// What is held against the document.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn no_request_is_answered_as_the_document_does_not_say(pool: db::Pool) {
    let Some(program) = std::env::var_os("SCALEWATCH_SCHEMATHESIS") else {
        eprintln!("left out: SCALEWATCH_SCHEMATHESIS names no program; ./dev test installs it");
        return;
    };
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let token = service.token(Scope::Admin).await;
    let document = with_known_names(&service).await;
    let mut file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    file.write_all(document.to_string().as_bytes()).unwrap();

    let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(answer(service.app.clone(), listener, async {
        let _ = stopped.await;
    }));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command
        .current_dir(folder.path())
        .args(["run", "--url", &url, "--checks", CHECKS, "--seed", "1"])
        .args(["--max-examples", "10", "--phases", "examples,coverage,fuzzing"])
        .args(["--workers", "1", "--request-timeout", "20", "--no-color", "--no-shrink"])
        // It cannot write lines of JSON; batches have tests of their own.
        .args(["--exclude-operation-id", "create_runs"])
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .arg(file.path());
    let run = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let _ = stop.send(());
    serving.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{}", String::from_utf8_lossy(&run.stderr));
}

/// The document, its parameters able to name what there is as well as what there is not: made-up
/// names alone would find nothing but 404.
async fn with_known_names(service: &Service) -> Value {
    let mut document = service.get("/api/v1/openapi.json").await.json();
    let first = async |list: &str, field: &str| -> Value {
        service.get(&format!("/api/v1/{list}")).await.json()["items"][0][field].clone()
    };
    let runs = service.get("/api/v1/runs").await.json();
    let commits = [runs["items"][0]["commit"].clone(), runs["items"][8]["commit"].clone()];
    let machine = first("machines", "id").await;
    let known = |path: &str, name: &str| match (path, name) {
        (path, "id") if path.contains("/machines/") => Some(vec![machine.clone()]),
        (path, "id") if path.contains("/runs/") => Some(vec![runs["items"][0]["id"].clone()]),
        (path, "name") if path.contains("/projects/") => Some(vec![json!("linux")]),
        (_, "id" | "curve") => Some(vec![json!(1)]),
        (_, "machine") => Some(vec![machine.clone()]),
        (_, "project") => Some(vec![json!("linux")]),
        (_, "branch") => Some(vec![json!("main")]),
        (_, "commit" | "base" | "head") => Some(commits.to_vec()),
        (_, "workload") => Some(vec![json!("fallocate/append-truncate")]),
        (_, "metric") => Some(vec![json!("ops_per_s_total")]),
        _ => None,
    };
    for (path, methods) in document["paths"].as_object_mut().unwrap() {
        for operation in methods.as_object_mut().unwrap().values_mut() {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap().to_owned();
                if let Some(values) = known(path, &name) {
                    let schema = parameter["schema"].take();
                    parameter["schema"] = json!({ "anyOf": [{ "enum": values }, schema] });
                }
            }
        }
    }
    document
}
