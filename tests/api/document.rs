//! The document of the API says what the service does.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use scalewatch::api::problem::CODES;
use scalewatch::db;
use scalewatch::model::Scope;
use serde_json::Value;

use crate::support::{Answer, Service};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "patch", "trace"];

async fn document(service: &Service) -> Value {
    let answer = service.get("/api/v1/openapi.json").await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json");
    answer.json()
}

/// Path, method and description of each operation.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        })
        .collect()
}

/// The path with names that nothing has.
fn somewhere(path: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "0".to_owned() } else { part.to_owned() };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

async fn ask(service: &Service, method: &str, path: &str) -> Answer {
    let request = Request::builder().method(method.to_uppercase().as_str()).uri(path);
    service.send(request.body(Body::empty()).unwrap()).await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_path_answers_the_methods_described_and_no_other(pool: db::Pool) {
    let service = Service::on(pool);
    let document = document(&service).await;
    assert_eq!(document["openapi"], "3.1.0");
    let paths: BTreeSet<&str> = operations(&document).iter().map(|(path, ..)| *path).collect();
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        for method in METHODS {
            let answer = ask(&service, method, &somewhere(path)).await;
            let described = document["paths"][path].get(method).is_some();
            assert_eq!(answer.status != 405, described, "{method} {path}");
            if described {
                let body = answer.text();
                assert!(!body.contains("path not found"), "{method} {path}: {body}");
            } else {
                assert_eq!(answer.refusal().1, "method_not_allowed", "{method} {path}");
                assert!(answer.headers.contains_key(header::ALLOW), "{method} {path}");
            }
        }
    }
}

/// The names in a refusal of an unknown parameter, which lists the known ones.
fn known(refusal: &str) -> BTreeSet<String> {
    let (_, names) = refusal.split_once("this path takes ").expect("a list of parameters");
    let names = names.split(", ").map(str::to_owned);
    names.filter(|name| name != "no parameters").collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn each_operation_takes_the_parameters_described_and_no_other(pool: db::Pool) {
    let service = Service::on(pool);
    let document = document(&service).await;
    let token = service.token(Scope::Admin).await;
    for (path, method, operation) in operations(&document) {
        if method != "get" || path == "/health" {
            continue;
        }
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let query: Vec<_> = parameters.filter(|parameter| parameter["in"] == "query").collect();
        let required = query.iter().filter(|parameter| parameter["required"] == true);
        let given: String =
            required.map(|one| format!("{}=1&", one["name"].as_str().unwrap())).collect();
        let address = format!("{}?{given}surprise=1", somewhere(path));
        let mut request = Request::get(&address);
        if operation.get("security").is_some() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let answer = service.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.refusal().2.as_deref(), Some("surprise"), "{address}");
        let described = query.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert_eq!(known(&detail), described, "{address}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn whatever_the_document_refers_to_is_in_it_under_names_of_their_own(pool: db::Pool) {
    let document = document(&Service::on(pool)).await;
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 30, "{references:?}");
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let operations = operations(&document);
    let ids: BTreeSet<_> = operations.iter().map(|one| one.2["operationId"].as_str()).collect();
    assert_eq!(ids.len(), operations.len(), "two operations have one id: {ids:?}");
    for (path, method, operation) in operations {
        let said = operation["summary"].as_str().is_some_and(|summary| summary.ends_with('.'));
        assert!(said, "{method} {path} says in a sentence what it does");
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters {
            assert!(parameter["description"].is_string(), "{method} {path}: {parameter}");
        }
    }
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                found.insert(reference.to_owned());
            }
            fields.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

#[test]
fn the_codes_are_unique_and_the_manual_explains_each() {
    let manual = include_str!("../../docs/api.md");
    let mut seen = BTreeSet::new();
    for code in CODES {
        assert!(seen.insert(code.code), "{} is there twice", code.code);
        let statuses: Vec<String> = code.statuses.iter().map(u16::to_string).collect();
        let row = format!("| `{}` | {} |", code.code, statuses.join(", "));
        assert!(manual.contains(&row), "docs/api.md lacks `{row}`");
    }
}
