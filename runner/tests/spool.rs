//! The spool on disk: what a crash can and cannot leave behind.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::fs;

use scalewatch_runner::agent::{Refusal, Spool};
use support::report;

fn spool() -> (tempfile::TempDir, Spool) {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(&folder.path().join("spool"), &folder.path().join("refused")).unwrap();
    (folder, spool)
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_report_is_kept_whole_and_leaves_only_when_removed() {
    let (folder, spool) = spool();
    let entry = spool.put(&report(1)).unwrap();
    assert_eq!(spool.list().unwrap(), std::slice::from_ref(&entry));
    let kept: wire::Report = serde_json::from_slice(&fs::read(&entry.path).unwrap()).unwrap();
    assert_eq!(kept, report(1));
    assert_eq!(names(&folder.path().join("spool")), [format!("{}.json", entry.run)]);
    spool.remove(&entry).unwrap();
    assert_eq!(spool.list().unwrap(), []);
}

#[test]
fn the_same_report_twice_is_one_and_another_of_the_same_run_is_refused() {
    let (_folder, spool) = spool();
    spool.put(&report(1)).unwrap();
    spool.put(&report(1)).unwrap();
    let mut other = report(1);
    other.revision.subject = "another".into();
    let error = format!("{:#}", spool.put(&other).unwrap_err());
    assert!(error.contains(&other.run), "{error}");
    assert_eq!(spool.list().unwrap().len(), 1);
}

#[test]
fn an_invalid_report_does_not_enter() {
    let (_folder, spool) = spool();
    let mut bad = report(1);
    bad.points[0].tasks = 0;
    let error = format!("{:#}", spool.put(&bad).unwrap_err());
    assert!(error.contains("points[0].tasks"), "{error}");
    assert_eq!(spool.list().unwrap(), []);
}

#[test]
fn reports_come_out_oldest_first_whatever_their_names() {
    let (_folder, spool) = spool();
    let age = |n, seconds| {
        let entry = spool.put(&report(n)).unwrap();
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().write(true).open(entry.path).unwrap().set_modified(at).unwrap();
    };
    age(1, 3_000);
    age(2, 1_000);
    age(3, 2_000);
    let order: Vec<String> = spool.list().unwrap().into_iter().map(|entry| entry.run).collect();
    assert_eq!(order, [report(2).run, report(3).run, report(1).run]);
}

#[test]
fn what_a_killed_writer_left_is_swept_and_never_listed() {
    let (folder, spool) = spool();
    let half = folder.path().join("spool").join(".half.json.4711.tmp");
    fs::write(&half, b"{\"format\":1,").unwrap();
    spool.put(&report(1)).unwrap();
    assert_eq!(spool.list().unwrap().len(), 1);
    spool.sweep().unwrap();
    assert!(!half.exists());
    assert_eq!(spool.list().unwrap().len(), 1);
}

#[test]
fn a_refused_report_lies_beside_its_reason() {
    let (folder, spool) = spool();
    let entry = spool.put(&report(1)).unwrap();
    let refusal = Refusal {
        status: Some(422),
        code: "invalid_field".into(),
        detail: "must be 1 to 65536".into(),
        field: Some("points[0].tasks".into()),
    };
    let aside = spool.refuse(&entry, &refusal).unwrap();
    assert_eq!(spool.list().unwrap(), []);
    let kept: wire::Report = serde_json::from_slice(&fs::read(aside).unwrap()).unwrap();
    assert_eq!(kept, report(1));
    let refused = folder.path().join("refused");
    assert_eq!(names(&refused), [format!("{}.json", entry.run), format!("{}.reason", entry.run)]);
    let reason: serde_json::Value =
        serde_json::from_slice(&fs::read(refused.join(format!("{}.reason", entry.run))).unwrap())
            .unwrap();
    assert_eq!(
        reason,
        serde_json::json!({
            "status": 422, "code": "invalid_field", "detail": "must be 1 to 65536",
            "field": "points[0].tasks",
        })
    );
}

#[test]
fn one_uploader_at_a_time_and_the_lock_ends_with_its_holder() {
    let (_folder, spool) = spool();
    let held = spool.try_lock().unwrap();
    assert!(held.is_some());
    assert!(spool.try_lock().unwrap().is_none());
    drop(held);
    assert!(spool.try_lock().unwrap().is_some());
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (_folder, spool) = spool();
    std::thread::scope(|scope| {
        for writer in 0..4_u32 {
            let spool = &spool;
            scope.spawn(move || {
                for n in 0..10 {
                    spool.put(&report(writer * 10 + n)).unwrap();
                    spool.sweep().unwrap();
                }
            });
        }
    });
    assert_eq!(spool.list().unwrap().len(), 40);
}
