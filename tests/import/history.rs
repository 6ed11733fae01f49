//! Whole histories: folders of revisions, machines that are gone, importing twice, and what becomes of it.

use scalewatch::db::{self, Pool};

use super::{C1, C2, REVISION, done, figures, file, refused, runs, service};
use crate::support::history::work;
use crate::support::row_counts;

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn importing_twice_stores_nothing_twice_and_a_dry_run_nothing_at_all(pool: Pool) {
    let service = service(&pool).await;
    let before = row_counts(&pool).await;
    let path = file("hyperfine.json");
    let dry = done(&pool, "hyperfine", &[&path], &[&REVISION[..], &["--dry-run"]].concat());
    assert!(dry.contains("1 point of 1 run would be stored"), "{dry}");
    assert_eq!(row_counts(&pool).await, before);
    let first = done(&pool, "hyperfine", &[&path], &REVISION);
    assert!(first.contains("1 point of 1 run read: 1 new, 0 known before"), "{first}");
    let once = row_counts(&pool).await;
    let second = done(&pool, "hyperfine", &[&path], &REVISION);
    assert!(second.contains("0 new, 1 known before"), "{second}");
    assert_eq!(row_counts(&pool).await, once);
    // Something else that is said about it makes another run, and does not change the first.
    done(
        &pool,
        "hyperfine",
        &[&path],
        &[&REVISION[..], &["--env", "kernel.release=6.9.0"]].concat(),
    );
    assert_eq!(runs(&service).await.len(), 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_folder_with_an_entry_for_each_revision_becomes_a_history_that_is_judged(pool: Pool) {
    let service = service(&pool).await;
    let folder = tempfile::tempdir().unwrap();
    let mut history = String::new();
    for position in 1..=24_u32 {
        let commit = format!("{position:040x}");
        history += &format!("{commit}\t2026-01-{position:02}T00:00:00Z\t\tchange {position}\n");
        let level = if position < 14 { 1.0 } else { 1.5 };
        let wobble = f64::from(position * 7 % 5) * 0.002;
        let times: Vec<f64> =
            (0..5).map(|i| level * (1.0 + wobble + f64::from(i) * 0.001)).collect();
        let entry = folder.path().join("results").join(&commit[..]);
        std::fs::create_dir_all(&entry).unwrap();
        let result =
            serde_json::json!({"results": [{"command": "make", "mean": level, "times": times}]});
        std::fs::write(entry.join("make.json"), result.to_string()).unwrap();
    }
    std::fs::write(folder.path().join("revisions"), history).unwrap();
    std::fs::write(folder.path().join("results/README"), "what the lab measured").unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let more = ["--by-revision", "--revisions", &path("revisions")];
    let said = done(&pool, "hyperfine", &[&path("results")], &more);
    assert!(said.contains("24 points of 24 runs read: 24 new"), "{said}");
    work(&service.app).await;
    let incidents = service.get("/api/v1/incidents").await.json();
    let incident = &incidents["items"][0];
    assert_eq!(incident["change"], "regression", "{incidents}");
    let text = incidents.to_string();
    assert!(text.contains(&format!("{:040x}", 14)), "the first slow revision is named: {text}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_that_is_gone_is_described_in_a_file(pool: Pool) {
    let service = service(&pool).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machine.json");
    let identity = serde_json::json!({
        "architecture": "x86_64", "cpu_model": "Old CPU", "sockets": 2, "cores": 16, "threads": 32,
        "numa_nodes": 2, "caches": [], "memory_class": "64 GiB", "hardware_id": "asset 4711"
    });
    let write = |name: &str, identity: &serde_json::Value| {
        let text = serde_json::json!({"name": name, "identity": identity}).to_string();
        std::fs::write(&path, text).unwrap();
    };
    write("gone", &identity);
    let machine_file = path.display().to_string();
    let import = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_scalewatch"))
            .args(["import", "bencher", &file("bencher.json"), "--machine-file", &machine_file])
            .args(["--project", "history", "--subject", "program", "--skip", "instructions"])
            .args(REVISION)
            .env("DATABASE_URL", crate::support::processes::database_url(&pool))
            .output()
            .unwrap()
    };
    assert!(import().status.success());
    assert!(import().status.success(), "a second time it is known");
    let machines = db::machine::list(&pool).await.unwrap();
    let gone: Vec<_> = machines.iter().filter(|machine| machine.name == "gone").collect();
    assert_eq!(gone.len(), 1);
    assert_eq!((gone[0].public_id.len(), gone[0].identity.threads), (64, 32));
    assert_eq!(figures(&service).await.len(), 2);
    let mut none = identity.clone();
    none["threads"] = 0.into();
    write("none", &none);
    let said = String::from_utf8(import().stderr).unwrap();
    assert!(said.contains("identity.threads") && said.contains("must be 1 to"), "{said}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_contradicts_what_is_stored_is_refused_and_what_was_stored_before_is_said(pool: Pool) {
    let service = service(&pool).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.csv");
    std::fs::write(&path, format!("sha,pos,v\n{C1},1,10\n{C2},2,11\n")).unwrap();
    let path = path.display().to_string();
    let map =
        ["--workload", "w", "--map", "commit=sha", "--map", "position=pos", "--map", "metric.m=v"];
    let when = ["--measured-at", "2026-01-05T00:00:00Z", "--direction", "m=lower"];
    let with = |unit: &'static str| [&map[..], &when[..], &["--unit", unit]].concat();
    done(&pool, "csv", &[&path], &with("m=s"));
    let said = refused(&pool, "csv", &[&path], &with("m=ms"));
    assert!(said.contains("0 of 2 runs were stored") && said.contains("is in s"), "{said}");
    assert_eq!(figures(&service).await.len(), 2);
    std::fs::write(&path, format!("sha,pos,v\n{},3,12\n{C2},9,11\n", "3".repeat(40))).unwrap();
    let said = refused(&pool, "csv", &[&path], &with("m=s"));
    assert!(said.contains("1 of 2 runs were stored") && said.contains("2222222222"), "{said}");
}
