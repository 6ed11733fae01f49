//! Curves, their histories, and two revisions side by side.

use scalewatch::db::Pool;
use wire::{Failure, Outcome};

use super::{assert_shows, link, page};
use crate::support::history::{FAST, SLOW, a_run, noisy, upload, upload_regression, work};
use crate::support::{Service, a_point, a_report};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_curve_is_held_against_the_last_revision_before_its_step(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;

    let curve = link(&page(&service, "/curves").await, "/curves/");
    let shown = page(&service, &curve).await;
    assert_shows(
        &shown,
        &[
            "fallocate/append-truncate",
            "mode process",
            "the last revision before the newest step",
            "Operations per second, all tasks",
            "Per task.",
            "Scalability; 1 is ideal.",
            "Operations per CPU-second.",
            "11 runs as a table",
            "Each task grows its own file to 1 MiB",
            "kernel.release",
            "incident 1, −3",
            "no law fitted: 3 task counts with positive values, 4 needed",
        ],
    );
    assert!(shown.links.iter().any(|address| address.starts_with("/compare?curve=")));
    assert!(shown.links.iter().filter(|address| address.starts_with("/runs/")).count() == 11);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_curve_that_bends_earlier_says_so_in_its_own_section_and_in_the_api(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let run = |position: i64, contention: f64| {
        let total = |n: u32| 1000.0 * f64::from(n) / (1.0 + contention * f64::from(n - 1));
        let points = [1, 2, 4, 8, 16, 32].map(|tasks| {
            let noise = noisy(position, tasks, total(tasks) / f64::from(tasks));
            a_point(tasks, &noise)
        });
        a_report().on(&box_a.machine).at(position).with_points(points.to_vec())
    };
    service.accept(&box_a, &run(1, 0.03).build()).await;
    service.accept(&box_a, &run(2, 0.12).build()).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let shown = page(&service, &curve).await;
    assert_shows(
        &shown,
        &[
            "How it scales",
            "contention σ",
            "bending",
            "beyond 32",
            "regression: contention 3",
            "→ 12 %",
        ],
    );
    let api = service.get(&format!("/api/v1{curve}")).await.json();
    let law = &api["scaling"]["law"];
    let contention = law["contention"]["value"].as_f64().unwrap();
    assert!((contention - 0.12).abs() < 0.01, "{api}");
    assert_eq!(law["shape"], "bending");
    assert!(law["peak"].is_null() || law["peak"]["low"].as_f64().unwrap() > 32.0, "{api}");
    assert!(api["scaling"]["words"].as_str().unwrap().starts_with("contention 12 %"), "{api}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn revisions_and_the_task_count_of_the_history_can_be_chosen(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=3, FAST).await;
    let commit = |position| a_run(&box_a, position, FAST).build().revision.commit;

    let curve = link(&page(&service, "/curves").await, "/curves/");
    let (base, head) = (commit(1), commit(2));
    let chosen = page(&service, &format!("{curve}?base={base}&rev={}&tasks=2", &head[..10])).await;
    let sides = format!("{} against {}, as asked for.", &head[..10], &base[..10]);
    assert_shows(&chosen, &[sides.as_str(), "History at 2 tasks"]);
    let newest = page(&service, &curve).await;
    let sides = format!("{} against {}", &commit(3)[..10], &commit(2)[..10]);
    assert_shows(
        &newest,
        &[sides.as_str(), "the revision measured before it", "History at 4 tasks"],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn one_revision_alone_is_shown_without_a_verdict(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, [1], FAST).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let shown = page(&service, &curve).await;
    assert_shows(&shown, &["Operations per second, all tasks", "History at 4 tasks"]);
    assert!(!shown.text.contains("against"), "{}", shown.text);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_curve_whose_every_point_failed_leads_to_the_runs(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let failure = Failure {
        call: "fallocate".into(),
        errno: Some(28),
        task: None,
        detail: "the file system was full".into(),
    };
    let report = a_report()
        .on(&box_a.machine)
        .with(|report| report.points[0].outcome = Outcome::Failed(failure));
    let accepted = service.accept(&box_a, &report.build()).await;
    let curves = page(&service, "/curves").await;
    assert_shows(&curves, &["all points failed"]);
    let shown = page(&service, &link(&curves, "/curves/")).await;
    assert_shows(&shown, &["every point that was tried failed"]);
    assert!(shown.links.contains(&format!("/runs/{}", accepted.run)));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_revisions_are_compared_by_our_rule_and_by_others_beside(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let compare = link(&page(&service, &curve).await, "/compare?");
    let shown = page(&service, compare.trim_end_matches("#why")).await;
    assert_shows(
        &shown,
        &[
            "regression",
            "mmtests Hmean",
            "*-3",
            "LKP %change",
            "not enough data",
            "The same on both sides: only runs of one environment were compared.",
            "ext4: change number 6",
            "ext4: change number 11",
            "Why",
            "every inequality in the order it was evaluated",
            "decides",
        ],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn sides_of_two_environments_are_not_judged_but_told_apart(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, [1], FAST).await;
    let other = a_run(&box_a, 2, SLOW).in_environment("kernel.release", "6.10.0").with(|report| {
        report.started_at = "2026-03-01T11:56:00Z".into();
        report.finished_at = "2026-03-01T11:58:00Z".into();
    });
    service.accept(&box_a, &other.build()).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let shown = page(&service, &curve).await;
    assert_shows(&shown, &["environment changed: kernel.release 6.9.0 → 6.10.0"]);
    let compare = link(&shown, "/compare?");
    let compared = page(&service, compare.trim_end_matches("#why")).await;
    assert_shows(
        &compared,
        &["kernel.release 6.9.0 6.10.0", "environment changed", "so no point is called"],
    );
    let machine = page(&service, &format!("/machines/{}", box_a.machine.id)).await;
    assert_shows(&machine, &["kernel.release 6.9.0 → 6.10.0", "first seen, 2 facts"]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_part_of_a_curve_is_drawn_on_either_axis_and_the_address_holds_all_of_it(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let curve = link(&page(&service, "/curves").await, "/curves/");
    let plots = |html: &str| html.matches("<svg class=\"plot\"").count();

    let whole = service.get(&curve).await.text();
    let part = service.get(&format!("{curve}?from=2&to=4&axis=log")).await.text();
    assert!(whole.contains("[&#34;1 task") || whole.contains("tasks 1&"), "a mark at 1 task");
    assert_eq!(plots(&whole), plots(&part) + 1, "without 1 task there is no scalability");
    let shown = super::read::read(&part);
    assert_shows(&shown, &["Plots and figures show 2 to 4 tasks"]);
    for chosen in ["<option selected>2</option>", "<option selected>4</option>"] {
        assert!(part.contains(chosen), "{chosen}");
    }
    assert!(part.contains("<option value=\"log\" selected>"));
    let other = shown.links.iter().find(|address| address.contains("tasks=1&")).expect("a choice");
    assert!(other.contains("&from=2&to=4&axis=log#history"), "{other}");
    for (asked, named) in [
        ("from=x", "from: `x` is not a number of tasks"),
        ("from=9&to=8", "to: no task count of this curve lies in 9 to 8"),
        ("axis=square", "axis: `square` is not linear or log"),
    ] {
        let answer = service.get(&format!("{curve}?{asked}")).await;
        assert_eq!(answer.status, 400, "{asked}");
        assert_shows(&super::read::read(&answer.text()), &[named]);
    }
}
