//! Every registered workload, by the registry: one that is added is tested, whatever it is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use scalewatch_runner::harness::{self, Allowed, Workload};
use scalewatch_runner::workloads::{Step, all, check, find, wis};

/// What `scalewatch-runner check` allows a setting, and more: the machine is busy with other tests.
const LIMIT: Duration = Duration::from_secs(300);

/// In memory where that can be: on a disk the journal's commits decide how long a check takes.
fn folder_in_memory() -> tempfile::TempDir {
    let make = tempfile::Builder::new();
    make.tempdir_in("/dev/shm").or_else(|_| make.tempdir()).expect("a temporary folder")
}

#[test]
fn every_workload_counts_and_verifies_at_every_word_of_its_parameters_in_both_modes() {
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let dir = folder_in_memory();
    let mut told = 0;
    let tell = &mut |step: &Step<'_>| told += usize::from(matches!(step, Step::Ended(_)));
    let checked = check(dir.path(), "", LIMIT, tell).expect("the folder is writable");
    let problems: Vec<_> = checked.iter().filter(|c| c.problem.is_some()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(told, checked.len());
    let seen: BTreeSet<&str> = checked.iter().map(|c| c.workload).collect();
    assert_eq!(seen, all().iter().map(|w| w.id).collect());
    for workload in all() {
        for parameter in workload.parameters {
            if let Allowed::OneOf(words) = parameter.allowed {
                for word in words {
                    let tried = checked.iter().any(|c| {
                        let value = c.parameters.get(parameter.name).map(String::as_str);
                        c.workload == workload.id && value == Some(word)
                    });
                    assert!(tried, "{}: {}={word} was not tried", workload.id, parameter.name);
                }
            }
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn every_workload_says_what_it_is_and_has_an_id_of_its_own() {
    let mut ids = BTreeSet::new();
    for workload in all() {
        assert!(ids.insert(workload.id), "{} is there twice", workload.id);
        assert!(workload.id.contains('/') && workload.version >= 1);
        for text in [workload.description, workload.operation, workload.stresses] {
            assert!(!text.is_empty() && !text.contains('\n'), "{}: {text:?}", workload.id);
        }
        assert!(find(workload.id).is_some());
        let metrics: BTreeSet<&str> = workload.metrics.iter().map(|m| m.name).collect();
        assert_eq!(metrics.len(), workload.metrics.len(), "{} repeats a metric", workload.id);
        for taken in ["ops_per_s_total", "ops_per_cpu_s", "task_fairness"] {
            assert!(!metrics.contains(taken), "{} redefines {taken}", workload.id);
        }
        for parameter in workload.parameters {
            assert!(!["mode", "placement", "tasks"].contains(&parameter.name));
            assert!(!parameter.about.is_empty());
        }
    }
    assert!(find("no/such").is_none());
}

#[test]
fn defaults_are_allowed_and_spelt_as_they_are_stored() {
    for workload in all() {
        let values = workload.resolve(&BTreeMap::new()).expect("defaults are allowed");
        let defaults = workload.parameters.iter().map(|p| (p.name.into(), p.default.into()));
        assert_eq!(values.0, defaults.collect(), "{}", workload.id);
    }
}

/// Folders below `dir` that a runner made for control groups and whose process is gone.
fn abandoned_groups(dir: &std::path::Path, depth: u32) -> Vec<std::path::PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.strip_prefix("scalewatch-") {
            Some(owner) if !std::path::Path::new("/proc").join(owner).exists() => {
                found.push(entry.path());
            }
            None if is_dir && depth > 0 => found.extend(abandoned_groups(&entry.path(), depth - 1)),
            _ => {}
        }
    }
    found
}

#[test]
fn containers_leave_no_control_group_behind() {
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = harness::PointPlan {
        workload: "fallocate/containers".into(),
        parameters: BTreeMap::from([("isolation".into(), "cgroup".into())]),
        mode: harness::Mode::Process,
        tasks: 3,
        placement: harness::Placement::Pu,
        warmup_windows: 0,
        windows: 1,
        window: Duration::from_millis(20),
        dir: dir.path().into(),
    };
    let point = harness::measure(&plan, &mut |_, _| {}).expect("the plan is good");
    if let wire::Outcome::Failed(failure) = point.outcome {
        assert_eq!(failure.call, harness::Fault::UNAVAILABLE, "{failure:?}");
    }
    let left = abandoned_groups(std::path::Path::new("/sys/fs/cgroup"), 8);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_catalogue_of_the_method_is_the_registry_line_by_line() {
    let or_none = |words: Vec<String>| match words.is_empty() {
        true => "—".to_owned(),
        false => words.join(", "),
    };
    let row = |workload: &Workload| {
        let parameters = workload.parameters.iter().map(|p| format!("`{}`", p.name)).collect();
        let tests = wis::TESTS.iter().filter(|test| test.workload == workload.id);
        let tests = tests.map(|test| test.name.to_owned()).collect();
        format!("| `{}` | {} | {} |", workload.id, or_none(parameters), or_none(tests))
    };
    let text = include_str!("../METHOD.md");
    let (_, catalogue) = text.split_once("## Catalogue").expect("METHOD.md has a catalogue");
    let catalogue = catalogue.split("\n## ").next().expect("it is a section");
    let written: BTreeSet<&str> = catalogue.lines().filter(|l| l.starts_with("| `")).collect();
    let registered: Vec<String> = all().iter().map(|workload| row(workload)).collect();
    let registered: BTreeSet<&str> = registered.iter().map(String::as_str).collect();
    let missing: Vec<&&str> = registered.difference(&written).collect();
    let too_much: Vec<&&str> = written.difference(&registered).collect();
    assert!(missing.is_empty(), "METHOD.md lacks {missing:#?}");
    assert!(too_much.is_empty(), "METHOD.md has {too_much:#?}");
}
