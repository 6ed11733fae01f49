//! Counters and profiles, from the report to the pages.

use scalewatch::db::Pool;
use wire::{Outcome, Report};

use super::{assert_shows, link, page};
use crate::support::history::{FAST, SLOW, a_run, work};
use crate::support::{Enrolled, Service, a_profile};

/// The run with these counters at every point, and this profile of each.
fn with_evidence(mut report: Report, instructions: f64, stacks: &str) -> Report {
    for point in &mut report.points {
        let Outcome::Measured(measured) = &mut point.outcome else { panic!("it is measured") };
        measured.counters.insert("perf.instructions".into(), instructions);
        measured.counters.insert("rusage.system_ns".into(), 811.0);
        measured.counters.insert("vmstat.pgmajfault".into(), 0.0);
    }
    let artefact = |point: &wire::Point| a_profile(point.profile_name(), stacks);
    report.artefacts = report.points.iter().map(artefact).collect();
    report
}

async fn regression(service: &Service, enrolled: &Enrolled) {
    for position in 1..=11 {
        let report = match position {
            ..=6 => with_evidence(
                a_run(enrolled, position, FAST).build(),
                1500.0,
                "t;ext4 90\nt;vfs 10\n",
            ),
            _ => with_evidence(
                a_run(enrolled, position, SLOW).build(),
                2400.0,
                "t;ext4 10\nt;vfs 90\n",
            ),
        };
        service.accept(enrolled, &report).await;
    }
    work(&service.app).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_run_shows_what_an_operation_cost_and_where_its_time_went(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let report =
        with_evidence(a_run(&box_a, 1, FAST).build(), 1523.75, "t;open;ext4 3\nt;spin 1\n");
    service.accept(&box_a, &report).await;
    let shown = page(&service, &format!("/runs/{}", report.run)).await;
    assert_shows(
        &shown,
        &["What an operation cost: 2 counters", "perf.instructions 1520", "rusage.system_ns 811"],
    );
    assert!(!shown.text.contains("pgmajfault"), "what never happened is left out");

    let graph = service.get(&link(&shown, "/runs/")).await;
    assert_eq!(graph.status, 200, "{}", graph.text());
    assert_eq!(graph.headers["content-type"], "image/svg+xml");
    assert!(graph.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert!(graph.text().contains("ext4 (3 samples, 75.00%)"), "{}", graph.text());
    assert!(!graph.text().contains("<script"));
    let stacks = service.get(&link(&shown, "/api/v1/runs/")).await;
    assert_eq!(stacks.text(), "t;open;ext4 3\nt;spin 1\n");
    assert_eq!(stacks.headers["content-type"], "text/plain; charset=utf-8");
    let told = service.get(&format!("/api/v1/runs/{}", report.run)).await.json();
    assert_eq!(told["recorded"][0]["measured"]["counters"]["perf.instructions"], 1523.75);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_shows_what_moved_with_it(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    regression(&service, &box_a).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    let shown = page(&service, &incident).await;
    assert_shows(
        &shown,
        &[
            "What moved with it: fallocate/append-truncate on box-a",
            "perf.instructions 1500 2400 +60.0 % told apart",
        ],
    );
    assert!(!shown.text.contains("rusage.system_ns"), "it did not move");
    let flame = service.get(&link(&shown, "/runs/")).await;
    assert_eq!(flame.status, 200, "{}", flame.text());
    assert!(flame.text().contains("vfs (90 samples, 90.00%; +80.00%)"), "{}", flame.text());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_profiles_of_a_point_are_drawn_as_their_difference(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let base = with_evidence(a_run(&box_a, 1, FAST).build(), 1.0, "t;ext4 90\nt;vfs 10\n");
    let head = with_evidence(a_run(&box_a, 2, FAST).build(), 1.0, "t;ext4 1\nt;vfs 9\n");
    service.accept(&box_a, &base).await;
    service.accept(&box_a, &head).await;
    let address = format!("/runs/{}/profiles/{}", head.run, head.points[0].profile_name());
    let svg = service.get(&format!("{address}?base={}", base.run)).await.text();
    assert!(svg.contains("vfs (9 samples, 90.00%; +80.00%)"), "{svg}");
    for missing in [
        format!("{address}?base=nonsense"),
        format!("/runs/{}/profiles/none", head.run),
        "/runs/nonsense/profiles/none".to_owned(),
    ] {
        assert_eq!(service.get(&missing).await.status, 404, "{missing}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_profile_that_is_none_breaks_no_page(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut report = with_evidence(a_run(&box_a, 1, FAST).build(), 1.0, "t;a 1\n");
    report.artefacts[0].content = "bm90IGd6aXA=".into();
    service.accept(&box_a, &report).await;
    page(&service, &format!("/runs/{}", report.run)).await;
    let name = &report.artefacts[0].name;
    let graph = service.get(&format!("/runs/{}/profiles/{name}", report.run)).await;
    assert_eq!(graph.status, 404, "{}", graph.text());
    let sent = service.get(&format!("/api/v1/runs/{}/artefacts/{name}", report.run)).await;
    assert_eq!(sent.text(), "bm90IGd6aXA=");
}
