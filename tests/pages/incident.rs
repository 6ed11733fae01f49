//! Incidents and why they stand.

use scalewatch::db::Pool;

use super::{assert_shows, link, page};
use crate::support::Service;
use crate::support::history::{FAST, a_run, upload_regression, work};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_says_what_moved_since_when_and_who_was_told(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;

    let incidents = page(&service, "/incidents").await;
    assert_shows(&incidents, &["1 incident", "regression", "box-a", "new"]);
    let shown = page(&service, &link(&incidents, "/incidents/")).await;
    assert_shows(
        &shown,
        &[
            "fallocate/append-truncate at 1, 2 and 4 tasks",
            "state: new severe: ",
            "noise units on 1 curve opened just now",
            "Operations per CPU-second",
            "ops/s, higher",
            "Before and after",
            "The cause came after",
            "No other revision is known in between.",
            "ext4: change number 7",
            "first bad",
            "ext4: change number 6",
            "last good",
            "The same before and after",
            "opened by ops_per_s_total",
            "opened: sent just now to",
        ],
    );
    for begin in ["/compare?curve=", "/curves/", "/machines/"] {
        link(&shown, begin);
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn why_shows_every_inequality_and_the_line_that_decided(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    let why = link(&page(&service, &incident).await, &format!("{incident}/why"));
    let shown = page(&service, &why).await;
    assert_shows(
        &shown,
        &[
            "A series has a step where its level changes by at least 0.5 %",
            "fallocate/append-truncate, operations per second, all tasks, at 4 tasks on box-a",
            "regression −3",
            "every inequality in the order it was evaluated",
            "values used",
        ],
    );
    assert_eq!(shown.text.matches("decides").count(), 6, "one line a step: {}", shown.text);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_incident_that_late_data_disproved_keeps_its_page_and_says_so(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let incident = link(&page(&service, "/incidents").await, "/incidents/");
    for position in 7..=11 {
        for _ in 0..6 {
            service.accept(&box_a, &a_run(&box_a, position, FAST).build()).await;
        }
    }
    work(&service.app).await;

    assert_shows(&page(&service, "/incidents").await, &["No incident here."]);
    assert_shows(&page(&service, "/incidents?state=retracted").await, &["1 incident", "retracted"]);
    let shown = page(&service, &incident).await;
    assert_shows(&shown, &["state: retracted", "No step stands any more"]);
    assert_shows(&page(&service, &format!("{incident}/why")).await, &["later data disproved it"]);
}
