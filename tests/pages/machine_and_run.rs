//! Machines and single runs.

use scalewatch::db::Pool;
use time::Duration;
use wire::{Artefact, Failure, Outcome};

use super::{assert_shows, page};
use crate::support::{Service, a_point, a_report};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_says_what_it_is_and_what_it_ran(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let address = format!("/machines/{}", box_a.machine.id);
    let fresh = page(&service, &address).await;
    assert_shows(&fresh, &["last report never", "The first uploaded run brings the first"]);

    service.accept(&box_a, &a_report().on(&box_a.machine).build()).await;
    service.advance(Duration::hours(3));
    let shown = page(&service, &address).await;
    assert_shows(
        &shown,
        &[
            "Test CPU 9000: 1 socket of 4 cores, 2 threads a core, 1 NUMA node, 32 GiB of memory",
            "last report 3 h ago",
            "cache L3 unified 16384 KiB, shared by 8 threads",
            "cpu.governor performance",
            "fallocate/append-truncate, mode process (linux)",
            "1 point",
        ],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_run_shows_every_window_and_what_failed(pool: Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    let mut failed = a_point(2, &[1.0]);
    failed.outcome = Outcome::Failed(Failure {
        call: "fallocate".into(),
        errno: Some(28),
        task: Some(1),
        detail: "the file system was full in window 3".into(),
    });
    let report = a_report()
        .on(&box_a.machine)
        .with_points(vec![a_point(1, &[1000.0, 1010.0, 990.0]), failed])
        .with(|report| {
            report.artefacts.push(Artefact {
                name: "dmesg.txt".into(),
                media_type: "text/plain".into(),
                content: "quiet".into(),
            });
        });
    let accepted = service.accept(&box_a, &report.build()).await;
    let shown = page(&service, &format!("/runs/{}", accepted.run)).await;
    assert_shows(
        &shown,
        &[
            "ext4: change number 1",
            "took 5 min 0 s",
            "2 points, 1 failed",
            "Points that failed",
            "fallocate 28 1 the file system was full in window 3",
            "Every sample; two clumps are two modes.",
            "1 task: every window",
            "1 1000.000 1000 2000 1000 500.0",
            "3 1000.000 990 1980 990 500.0",
            "Tasks were placed on CPUs 0; started within 1.0 µs of each other; 1 warm-up window before.",
            "kernel.release 6.9.0",
            "dmesg.txt (text/plain, 5 bytes)",
        ],
    );
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_is_drawn_where_its_numbers_divide_into_a_picture(pool: Pool) {
    let service = Service::on(pool);
    let with = |name: &str, sockets, nodes, cores, threads| {
        let mut machine = crate::support::a_machine(name);
        let identity = &mut machine.identity;
        (identity.sockets, identity.numa_nodes) = (sockets, nodes);
        (identity.cores, identity.threads) = (cores, threads);
        machine
    };
    let even = service.register(with("even", 2, 4, 96, 192)).await;
    let html = service.get(&format!("/machines/{}", even.machine.id)).await.text();
    let words = "2 sockets, each with 2 NUMA nodes of 24 cores, 2 threads a core.";
    assert_shows(&super::read::read(&html), &[words, "node 3, 24 cores", "Caches"]);
    // Once wide and once narrow.
    assert_eq!(html.matches("<circle").count(), 2 * 192);

    // Cores of two kinds, and more than can be seen.
    for (name, cores, threads) in [("two-kinds", 14, 20), ("huge", 4096, 8192)] {
        let machine = service.register(with(name, 1, 1, cores, threads)).await;
        let html = service.get(&format!("/machines/{}", machine.machine.id)).await.text();
        assert!(!html.contains("<circle"), "{name}");
        assert_shows(&super::read::read(&html), &["Caches"]);
    }
}
