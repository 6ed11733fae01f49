//! What lists can be narrowed to, beside their pages.

use scalewatch::db;
use serde_json::Value;
use time::Duration;

use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_point, a_report};

async fn items(service: &Service, path: &str) -> Vec<Value> {
    let answer = service.get(&format!("/api/v1/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn runs_are_narrowed_by_branch_workload_and_arrival(pool: db::Pool) {
    let service = Service::on(pool);
    let a = service.registered("a").await;
    service.accept(&a, &a_report().on(&a.machine).at(1).build()).await;
    service.advance(Duration::hours(1));
    let mut dup = a_point(1, &[5.0]);
    dup.workload = "file/dup".into();
    let next = a_report().on(&a.machine).at(2).with_points(vec![dup]);
    service.accept(&a, &next.with(|r| r.revision.branch = "next".into()).build()).await;
    for (query, expected) in [
        ("project=linux&branch=main", 1),
        ("project=linux&branch=next", 1),
        ("workload=file/dup", 1),
        ("workload=fallocate/append-truncate", 1),
        ("workload=none", 0),
        ("since=2026-03-01T13:00:00Z", 1),
        ("since=2026-03-01T14:00:00%2B02:00", 2),
        ("before=2026-03-01T13:00:00Z", 1),
        ("since=2026-03-01T12:00:00Z&before=2026-03-01T12:00:00Z", 0),
    ] {
        assert_eq!(items(&service, &format!("runs?{query}")).await.len(), expected, "{query}");
    }
    for (query, field) in [
        ("branch=main", "branch"),
        ("since=2026-03-01T13:00:00", "since"),
        ("before=yesterday", "before"),
        ("since=2026-03-01T14:00:00+02:00", "since"),
    ] {
        let answer = service.get(&format!("/api/v1/runs?{query}")).await;
        let expected = (400, "invalid_parameter".into(), Some(field.into()));
        assert_eq!(answer.refusal(), expected, "{query}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn incidents_are_narrowed_by_all_that_they_are_about(pool: db::Pool) {
    let service = Service::on(pool);
    let (a, b) = (service.registered("a").await, service.registered("b").await);
    upload_regression(&service, &a).await;
    work(&service.app).await;
    let opened = items(&service, "incidents").await[0]["opened_at"].as_str().unwrap().to_owned();
    for (query, expected) in [
        ("project=linux".to_owned(), 1),
        ("project=linux&branch=main".into(), 1),
        (format!("machine={}", a.machine.id), 1),
        (format!("machine={}", b.machine.id), 0),
        ("workload=fallocate/append-truncate".into(), 1),
        ("workload=file/dup".into(), 0),
        ("change=regression".into(), 1),
        ("change=improvement".into(), 0),
        (format!("since={opened}"), 1),
        (format!("before={opened}"), 0),
    ] {
        assert_eq!(items(&service, &format!("incidents?{query}")).await.len(), expected, "{query}");
    }
    for (query, field) in [("change=worse", "change"), ("branch=main", "branch")] {
        let answer = service.get(&format!("/api/v1/incidents?{query}")).await;
        assert_eq!(answer.refusal().2.as_deref(), Some(field), "{query}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn projects_list_their_branches_and_revisions_and_series_can_be_searched(pool: db::Pool) {
    let service = Service::on(pool);
    let a = service.registered("a").await;
    let b = service.registered("b").await;
    for position in [3, 1, 2] {
        service.accept(&a, &a_report().on(&a.machine).at(position).build()).await;
    }
    let projects = items(&service, "projects").await;
    assert_eq!((projects.len(), &projects[0]["name"]), (1, &"linux".into()));
    let project = service.get("/api/v1/projects/linux").await.json();
    assert_eq!(project["branches"][0]["name"], "main");
    assert_eq!(project["branches"][0]["order_by"], "position");

    let mut ranks = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/api/v1/projects/linux/revisions?limit=2{after}");
        let page = service.get(&path).await.json();
        ranks.extend(page["items"].as_array().unwrap().iter().map(|one| one["rank"].clone()));
        assert_eq!(page["items"][0]["runs"], 1);
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(ranks, [3, 2, 1], "the newest first, whatever came first");

    let series = items(&service, "series?metric=ops_per_s_total&tasks=1").await;
    assert_eq!(series.len(), 1, "{series:?}");
    assert_eq!(series[0]["workload"], "fallocate/append-truncate");
    assert_eq!(items(&service, &format!("series?machine={}", b.machine.id)).await.len(), 0);
    assert_eq!(items(&service, "machines?project=linux").await.len(), 1);
    assert_eq!(items(&service, "machines").await.len(), 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_row_that_arrives_between_two_pages_neither_repeats_nor_hides_one(pool: db::Pool) {
    let service = Service::on(pool);
    let a = service.registered("a").await;
    let mut sent = Vec::new();
    for position in 1..=4 {
        let report = a_report().on(&a.machine).at(position).build();
        service.accept(&a, &report).await;
        sent.push(report.run);
        service.advance(Duration::seconds(1));
    }
    let first = service.get("/api/v1/runs?limit=2").await.json();
    service.accept(&a, &a_report().on(&a.machine).at(5).build()).await;
    let next = first["next"].as_str().unwrap();
    let second = service.get(&format!("/api/v1/runs?limit=2&after={next}")).await.json();
    let id = |page: &Value, i: usize| page["items"][i]["id"].as_str().unwrap().to_owned();
    let seen = [id(&first, 0), id(&first, 1), id(&second, 0), id(&second, 1)];
    sent.reverse();
    assert_eq!(seen.to_vec(), sent);
    for (list, cursor) in [("incidents", next), ("runs", "17"), ("machines", "MQ==")] {
        let answer = service.get(&format!("/api/v1/{list}?after={cursor}")).await;
        assert_eq!(answer.refusal().2.as_deref(), Some("after"), "{list} {cursor}");
    }
}
