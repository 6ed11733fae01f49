//! What a report may be made of: which fields, which words, which kinds of numbers.

mod support;

use scalewatch_wire::Report;
use serde_json::json;
use support::{ALL_SOURCES, FAILED, M, MEASURED, edited};

const EVIDENCE: &str = include_str!("golden/report-v1-evidence.json");

#[test]
fn numbers_that_are_not_finite_are_refused_by_the_parser_and_by_the_check() {
    for bad in ["NaN", "Infinity", "-Infinity", "1e999", "null", "\"1\""] {
        let text = ALL_SOURCES.replace("17.5", bad);
        assert!(serde_json::from_str::<Report>(&text).is_err(), "{bad}");
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut report: Report = serde_json::from_str(ALL_SOURCES).unwrap();
        if let scalewatch_wire::Outcome::Measured(measured) = &mut report.points[0].outcome {
            measured.metrics[4].source = scalewatch_wire::Source::Values(vec![bad]);
        }
        let invalid = report.check().expect_err("not a finite number");
        assert_eq!(invalid.field, format!("{M}.metrics[4].source.values"));
        let mut report: Report = serde_json::from_str(EVIDENCE).unwrap();
        if let scalewatch_wire::Outcome::Measured(measured) = &mut report.points[0].outcome {
            measured.counters.insert("perf.cycles".into(), bad);
        }
        let invalid = report.check().expect_err("not a finite number");
        assert_eq!(invalid.field, format!("{M}.counters.perf.cycles"));
    }
}

#[test]
fn whole_numbers_are_whole_and_not_negative() {
    for (pointer, value) in [
        ("/points/0/tasks", json!(1.5)),
        ("/points/0/tasks", json!(-1)),
        ("/points/0/tasks", json!("1")),
        ("/points/0/outcome/measured/windows/0/ops/0", json!(-1)),
        ("/points/0/outcome/measured/windows/0/ops/0", json!(1.5)),
        ("/points/0/outcome/measured/windows/0/dt_ns", json!(1e30)),
        ("/format", json!(4294967297_u64)),
    ] {
        let tree = edited(MEASURED, pointer, Some(value.clone()));
        assert!(serde_json::from_value::<Report>(tree).is_err(), "{pointer} = {value}");
    }
}

#[test]
fn closed_sets_admit_no_other_word() {
    for (pointer, value) in [
        ("/project/subject", "library"),
        ("/points/0/outcome/measured/metrics/0/unit", "ops"),
        ("/points/0/outcome/measured/metrics/0/unit", "Mbit/s"),
        ("/points/0/outcome/measured/metrics/0/direction", "up"),
        ("/points/0/outcome/measured/metrics/0/source", "guess"),
    ] {
        let tree = edited(MEASURED, pointer, Some(json!(value)));
        assert!(serde_json::from_value::<Report>(tree).is_err(), "{pointer} = {value}");
    }
    assert_eq!(scalewatch_wire::Unit::parse("Mbit/s"), None);
}

#[test]
fn unknown_fields_are_refused_at_every_level() {
    for parent in [
        "",
        "/machine",
        "/machine/identity",
        "/machine/identity/caches/0",
        "/project",
        "/revision",
        "/points/0",
        "/points/0/outcome/measured",
        "/points/0/outcome/measured/windows/0",
        "/points/0/outcome/measured/metrics/0",
        "/points/0/outcome/measured/disturbance",
        "/artefacts/0",
    ] {
        let tree = edited(ALL_SOURCES, &format!("{parent}/surprise"), Some(json!(1)));
        let error = serde_json::from_value::<Report>(tree).expect_err(parent).to_string();
        assert!(error.contains("surprise"), "{parent}: {error}");
    }
    let tree = edited(FAILED, "/points/0/outcome/failed/surprise", Some(json!(1)));
    assert!(serde_json::from_value::<Report>(tree).is_err());
}

#[test]
fn each_mandatory_field_is_missed_by_name() {
    for pointer in [
        "/format",
        "/run",
        "/started_at",
        "/finished_at",
        "/machine",
        "/environment",
        "/project",
        "/revision",
        "/points",
        "/revision/commit",
        "/revision/branch",
        "/revision/subject",
        "/points/0/version",
        "/points/0/parameters",
        "/points/0/tasks",
        "/points/0/outcome",
        "/points/0/outcome/measured/disturbance",
        "/points/0/outcome/measured/metrics/0/unit",
        "/points/0/outcome/measured/metrics/0/direction",
        "/points/0/outcome/measured/windows/0/cpu_ns",
    ] {
        let name = pointer.rsplit('/').next().unwrap();
        let error = serde_json::from_value::<Report>(edited(MEASURED, pointer, None))
            .expect_err(pointer)
            .to_string();
        assert!(error.contains(name), "{pointer}: {error}");
    }
}

#[test]
fn every_unit_and_direction_is_read_back_from_its_symbol() {
    for unit in scalewatch_wire::Unit::ALL {
        assert_eq!(scalewatch_wire::Unit::parse(unit.symbol()), Some(unit));
        assert_eq!(serde_json::to_value(unit).unwrap(), json!(unit.symbol()));
    }
    for direction in [scalewatch_wire::Direction::Higher, scalewatch_wire::Direction::Lower] {
        assert_eq!(scalewatch_wire::Direction::parse(direction.word()), Some(direction));
        assert_eq!(serde_json::to_value(direction).unwrap(), json!(direction.word()));
    }
}
