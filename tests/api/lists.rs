//! Lists: what they filter, how they are paged, and what they refuse.

use scalewatch::db;
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Service, a_point, a_report};

/// Every item of a list, page by page, with the number of pages.
async fn all(service: &Service, path: &str, limit: usize) -> (Vec<Value>, usize) {
    let (mut items, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let answer = service.get(&format!("{path}?limit={limit}{after}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let page = answer.json();
        let rows = page["items"].as_array().unwrap();
        assert!(rows.len() <= limit);
        items.extend(rows.iter().cloned());
        pages += 1;
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return (items, pages),
        }
    }
}

fn texts(items: &[Value], field: &str) -> Vec<String> {
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_empty_service_lists_nothing(pool: db::Pool) {
    let service = Service::on(pool);
    for path in ["machines", "runs", "curves", "incidents"] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        assert_eq!(answer.json(), json!({"items": [], "next": null}), "{path}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn pages_give_every_row_once(pool: db::Pool) {
    let service = Service::on(pool);
    let mut sent = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let enrolled = service.registered(name).await;
        let report = a_report().on(&enrolled.machine).build();
        service.accept(&enrolled, &report).await;
        sent.push(report.run);
        if name != "b" {
            service.advance(Duration::microseconds(1));
        }
    }
    let (machines, pages) = all(&service, "/api/v1/machines", 2).await;
    assert_eq!(
        (texts(&machines, "name"), pages),
        (["a", "b", "c", "d", "e"].map(String::from).into(), 3)
    );
    let (curves, pages) = all(&service, "/api/v1/curves", 5).await;
    assert_eq!((curves.len(), pages), (5, 1), "a full last page has no next");
    for limit in 1..=4 {
        let (runs, _) = all(&service, "/api/v1/runs", limit).await;
        let mut found = texts(&runs, "id");
        assert_eq!(found[0], sent[4], "the last to arrive comes first");
        found.sort();
        let mut sent = sent.clone();
        sent.sort();
        assert_eq!(found, sent, "two of them arrived at the same time; limit {limit}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn lists_are_filtered_by_what_is_named(pool: db::Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("a").await, service.registered("b").await);
    let mut dup = a_point(1, &[5.0]);
    dup.workload = "file/dup".into();
    service.accept(&a, &a_report().on(&a.machine).at(1).build()).await;
    service.accept(&a, &a_report().on(&a.machine).at(2).with_points(vec![dup]).build()).await;
    let other = a_report().on(&b.machine).at(1).with(|r| r.project.name = "jemalloc".into());
    service.accept(&b, &other.build()).await;
    let count = async |path: String| {
        let answer = service.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()["items"].as_array().unwrap().len()
    };
    let commit = a_report().at(1).build().revision.commit;
    for (path, expected) in [
        (format!("runs?machine={}", a.machine.id), 2),
        ("runs?project=jemalloc".into(), 1),
        (format!("runs?project=linux&machine={}", b.machine.id), 0),
        (format!("runs?project=linux&commit={}", &commit[..8]), 1),
        ("curves?workload=file/dup".into(), 1),
        ("curves?workload=file%2Fdup".into(), 1),
        ("curves?workload=file".into(), 0),
        (format!("curves?machine={}&project=linux", a.machine.id), 2),
    ] {
        assert_eq!(count(format!("/api/v1/{path}")).await, expected, "{path}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn parameters_that_are_unknown_or_cannot_be_read_are_named(pool: db::Pool) {
    let service = Service::on(pool);
    service.registered("a").await;
    for (path, parameter) in [
        ("machines?machin=a", "machin"),
        ("machines?limit=0", "limit"),
        ("machines?limit=501", "limit"),
        ("machines?limit=ten", "limit"),
        ("machines?limit=1&limit=2", "limit"),
        ("machines?after=x", "after"),
        ("runs?after=17-1", "after"),
        ("runs?commit=abcd", "commit"),
        ("runs?page=2", "page"),
        ("curves?tasks=1", "tasks"),
        ("incidents?state=closed", "state"),
        ("compare?base=abcd&head=abcd", "curve"),
        ("compare?curve=1&head=abcd", "base"),
        ("compare?curve=one&base=abcd&head=abcd", "curve"),
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        let refusal = (400, "invalid_parameter".into(), Some(parameter.into()));
        assert_eq!(answer.refusal(), refusal, "{path}");
    }
    let unknown = service.get("/api/v1/curves?tasks=1").await.text();
    assert!(unknown.contains("machine, project, workload, after, limit"), "{unknown}");
    for path in [
        "runs?machine=0123456789abcdef",
        "runs?project=nothing",
        "machines/0123456789abcdef",
        "runs/11111111-1111-4111-8111-111111111111",
        "runs/one",
        "curves/1",
        "curves/9223372036854775807",
        "curves/-9223372036854775808",
        "curves/one",
        "series/1",
        "incidents/1",
        "incidents/one",
        "compare?curve=1&base=abcd&head=abcd",
    ] {
        let answer = service.get(&format!("/api/v1/{path}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".into(), None), "{path}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn health_tells_what_waits(pool: db::Pool) {
    let service = Service::on(pool);
    let enrolled = service.registered("a").await;
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    service.advance(Duration::seconds(90));
    let answer = service.get("/health").await;
    assert_eq!(answer.status, 200);
    let worker = json!({"due_curves": 1, "oldest_due_s": 90.0, "unsent_messages": 0});
    assert_eq!((&answer.json()["status"], &answer.json()["worker"]), (&json!("ok"), &worker));
    sqlx::query("delete from _sqlx_migrations").execute(&service.app.db).await.unwrap();
    let answer = service.get("/health").await;
    assert_eq!(answer.status, 503);
    let problem = answer.json()["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("scalewatch migrate"), "{problem}");
    service.app.db.close().await;
    let answer = service.get("/health").await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["status"].as_str()),
        (503, Some("unavailable"))
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_fault_of_ours_answers_a_number_and_not_its_text(pool: db::Pool) {
    let service = Service::on(pool);
    sqlx::query("drop table machine cascade").execute(&service.app.db).await.unwrap();
    let answer = service.get("/api/v1/machines").await;
    assert_eq!(answer.refusal(), (500, "internal".into(), None));
    assert!(answer.text().contains("quote") && !answer.text().contains("relation"));
}
