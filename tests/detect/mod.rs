//! Detection without a service, and two sides of a curve.

mod bends;
mod why;

use std::path::Path;
use std::process::{Command, Output};

use scalewatch::detect::history::Environments;
use scalewatch::detect::two_sides::{Across, Comparison, PointSides, SideRun};
use scalewatch::detect::{policy, two_sides};
use scalewatch::model::EnvironmentId;
use stats::{Direction, Verdict};

use crate::support::history::noisy;

fn detect(paths: &[&Path]) -> Output {
    detect_with(&[], paths)
}

fn detect_with(options: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    command.arg("detect").args(options).args(paths).env_remove("DATABASE_URL");
    command.env("SCALEWATCH_DATA", "/nonexistent").output().expect("the program starts")
}

/// A series that halves after `before` values, as the command reads it.
fn series(name: &str, before: i64, after: i64) -> String {
    let level = |i: i64| if i <= before { 100.0 } else { 50.0 };
    let values: Vec<f64> = (1..=before + after).map(|i| noisy(i, 1, level(i))[0]).collect();
    serde_json::json!({ "name": name, "unit": "ops/s", "values": values }).to_string()
}

#[test]
fn steps_of_files_and_folders_are_printed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("nested");
    std::fs::create_dir(&nested).unwrap();
    std::fs::write(folder.path().join("a.json"), series("halves", 20, 20)).unwrap();
    std::fs::write(nested.join("b.json"), series("steady", 40, 0)).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not a series").unwrap();
    let single = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(single.path(), series("alone", 10, 15)).unwrap();

    let output = detect(&[folder.path(), single.path()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found, serde_json::json!({ "halves": [20], "steady": [], "alone": [10] }));
}

#[test]
fn online_each_step_is_printed_with_the_points_read_and_no_later_point_changes_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut whole: serde_json::Value = serde_json::from_str(&series("halves", 40, 20)).unwrap();
    whole["values"][10] = serde_json::Value::Null;
    let found = |points: usize| {
        let mut series = whole.clone();
        series["values"].as_array_mut().unwrap().truncate(points);
        std::fs::write(file.path(), series.to_string()).unwrap();
        let output = detect_with(&["--online"], &[file.path()]);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(found(60), r#"{"halves":[[40,43]]}"#);
    assert_eq!(found(43), r#"{"halves":[[40,43]]}"#);
    assert_eq!(found(42), r#"{"halves":[]}"#);
}

#[test]
fn explained_each_step_carries_its_levels_and_the_line_that_decided() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), series("halves", 40, 20)).unwrap();
    for options in [&["--explain"][..], &["--explain", "--online"]] {
        let output = detect_with(options, &[file.path()]);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let step = &found["halves"][0];
        assert_eq!((&step["index"], &step["kind"]), (&40.into(), &"level".into()), "{step}");
        assert!(step["before"].as_f64() > step["after"].as_f64(), "{step}");
        let lines = step["evidence"]["inequalities"].as_array().unwrap();
        assert!(lines.iter().all(|line| line["holds"] == true), "{lines:?}");
        assert_eq!(step["evidence"]["decided_by"], lines.len() - 1);
    }
}

#[test]
fn a_value_that_was_not_measured_keeps_its_place() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut series: serde_json::Value = serde_json::from_str(&series("gap", 20, 20)).unwrap();
    series["values"][3] = serde_json::Value::Null;
    std::fs::write(file.path(), series.to_string()).unwrap();
    let output = detect(&[file.path()]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), r#"{"gap":[20]}"#);
}

#[test]
fn a_file_that_holds_no_series_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.json");
    std::fs::write(&bad, r#"{"name": "x"}"#).unwrap();
    for path in [bad.as_path(), &folder.path().join("missing.json"), folder.path()] {
        let output = detect(&[path]);
        assert!(!output.status.success() && output.stdout.is_empty());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(".json"), "{told}");
    }
    std::fs::write(&bad, series("same", 5, 0)).unwrap();
    let output = detect(&[&bad, &bad]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("called `same`"));
}

/// Five runs of a level in an environment.
fn runs(environment: i64, level: f64, seed: i64) -> Vec<SideRun> {
    let run =
        |i| SideRun { environment: EnvironmentId(environment), samples: noisy(seed + i, 1, level) };
    (0..5).map(run).collect()
}

fn facts() -> Environments {
    let facts = |kernel: &str| [("kernel.release".to_owned(), kernel.to_owned())].into();
    [(EnvironmentId(1), facts("6.9")), (EnvironmentId(2), facts("6.10"))].into()
}

fn point(base: Vec<SideRun>, head: Vec<SideRun>) -> PointSides {
    PointSides { tasks: 1, base, head, earlier: Vec::new(), noise_floor: 0.0 }
}

fn compare(points: &[PointSides], across: Across) -> Comparison {
    let policy = policy::two_sides();
    two_sides::compare_curve(points, Direction::Higher, &facts(), &policy, across)
}

#[test]
fn sides_of_different_environments_are_never_called_and_the_difference_is_named() {
    let points = [point(runs(1, 100.0, 0), runs(2, 60.0, 50))];
    let found = compare(&points, Across::No);
    assert_eq!(found.environment, None);
    assert_eq!(found.judgement.points[0].verdict, Verdict::EnvironmentChanged);
    assert_eq!(found.judgement.words, "environment changed: kernel.release 6.9 → 6.10");
    assert_eq!(found.environment_changes[0].difference.field, "kernel.release");
    assert_eq!(found.judgement.points[0].ratio, None, "not compared unless asked");
}

#[test]
fn sides_of_different_environments_are_compared_when_asked_and_still_not_called() {
    let points = [point(runs(1, 100.0, 0), runs(2, 60.0, 50))];
    let found = compare(&points, Across::Asked);
    assert_eq!(found.judgement.points[0].verdict, Verdict::EnvironmentChanged);
    let (ratio, ..) = found.judgement.points[0].ratio.expect("somebody asked");
    assert!((0.59..0.61).contains(&ratio), "{ratio}");
    let words = &found.judgement.words;
    let begin = "environment changed: kernel.release 6.9 → 6.10; all the same: −";
    assert!(words.starts_with(begin), "{words}");
    let alike = [point(runs(1, 100.0, 0), runs(1, 60.0, 50))];
    assert_eq!(compare(&alike, Across::Asked), compare(&alike, Across::No));
}

#[test]
fn only_runs_of_the_shared_environment_are_judged_and_the_others_are_named() {
    let mut head = runs(1, 60.0, 50);
    head.extend(runs(2, 500.0, 90));
    let points = [point(runs(1, 100.0, 0), head)];
    let found = compare(&points, Across::No);
    assert_eq!(found.environment, Some(EnvironmentId(1)));
    assert_eq!(found.judgement.points[0].verdict, Verdict::Regression);
    let (ratio, ..) = found.judgement.points[0].ratio.unwrap();
    assert!((0.59..0.61).contains(&ratio), "{ratio}");
    assert_eq!(found.set_aside.len(), 1);
    assert!(found.set_aside[0].starts_with("5 measurements set aside"), "{:?}", found.set_aside);
}

#[test]
fn a_side_without_runs_is_not_enough_data() {
    let points = [point(runs(1, 100.0, 0), Vec::new())];
    let found = compare(&points, Across::No);
    assert_eq!(found.judgement.points[0].verdict, Verdict::NotEnoughData);
}
