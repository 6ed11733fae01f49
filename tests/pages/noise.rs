//! What pages say of noise: floors of a machine, two modes of a curve.

use scalewatch::db::Pool;
use serde_json::json;

use super::{assert_shows, link, page};
use crate::support::Service;
use crate::support::history::{FAST, SLOW, upload, work};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_shows_its_floors_with_age_and_number_of_observations(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let machine = format!("/machines/{}", box_a.machine.id);
    assert_shows(&page(&service, &machine).await, &["scalewatch-runner calibrate WORKLOAD"]);
    upload(&service, &box_a, 1..=12, FAST).await;
    work(&service.app).await;
    let body = json!({ "floors": [{
        "workload": "fallocate/append-truncate", "metric": "ops_per_s_total",
        "relative": 0.021, "pairs": 10, "measured_at": "2026-02-27T12:00:00Z",
    }] });
    let path = format!("/api/v1{machine}/noise-floors");
    assert_eq!(service.post(&path, &box_a.token, body.to_string()).await.status, 200);
    assert_shows(
        &page(&service, &machine).await,
        &[
            "ops_per_s_total ±2.10 % A/A runs, counts 10 pairs 2 d ago",
            "history between builds 33 pairs 5 min ago",
        ],
    );
    let curve = link(&page(&service, "/curves").await, "/curves/");
    assert_shows(
        &page(&service, &curve).await,
        &["Noise floor: ±2.10 % from A/A runs (10 pairs, 2 d ago); ±", "(33 pairs, 5 min ago)."],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_modes_are_named_and_their_switches_are_no_steps(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    // Stays of three and two revisions, all along.
    for position in 1..=40 {
        let level = if position % 5 < 3 { FAST } else { SLOW };
        upload(&service, &box_a, [position], level).await;
    }
    work(&service.app).await;
    assert_shows(&page(&service, "/incidents?state=all").await, &["No incident here."]);
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let at_one = page(&service, &format!("{curve}?tasks=1")).await;
    assert_shows(
        &at_one,
        &[
            "Two modes: 65.",
            "in 16 runs, 2.0 in a row",
            "in 24 runs, 2.7 in a row",
            "a switch is no step",
        ],
    );
    let series = service.get("/api/v1/curves").await.json()["items"][0]["id"].clone();
    let shown = service.get(&format!("/api/v1/series/{series}")).await.json();
    assert_eq!(
        (&shown["modes"]["low"]["runs"], &shown["modes"]["switches"]),
        (&json!(16), &json!(16))
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_says_how_noisy_its_curve_is_and_that_the_level_after_has_two_modes(
    pool: Pool,
) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=20, 2.0 * FAST).await;
    // From 21 on slower, and at one of two values in turn.
    for position in 21..=60 {
        let level = if position % 5 < 3 { FAST } else { 0.9 * FAST };
        upload(&service, &box_a, [position], level).await;
    }
    work(&service.app).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    assert_shows(
        &page(&service, &incident).await,
        &["Two modes: ", "in 24 runs, 2.7 in a row", "Noise floor: ±", "pairs, 5 min ago)"],
    );
}
