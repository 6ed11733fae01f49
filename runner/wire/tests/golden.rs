//! Every released shape of a report still parses, keeps its bytes and passes its limits.

use scalewatch_wire::Report;

const GOLDEN: [(&str, &str); 5] = [
    ("measured", include_str!("golden/report-v1-measured.json")),
    ("failed", include_str!("golden/report-v1-failed.json")),
    ("all-sources", include_str!("golden/report-v1-all-sources.json")),
    ("evidence", include_str!("golden/report-v1-evidence.json")),
    ("imported", include_str!("golden/report-v1-imported.json")),
];

fn parse(name: &str, text: &str) -> Report {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_released_report_parses_and_passes_its_limits() {
    for (name, text) in GOLDEN {
        assert_eq!(parse(name, text).check(), Ok(()), "{name}");
    }
}

#[test]
fn every_released_report_is_written_again_byte_for_byte() {
    for (name, text) in GOLDEN {
        let written = serde_json::to_string_pretty(&parse(name, text)).unwrap() + "\n";
        assert_eq!(written, text, "{name}");
    }
}

#[test]
fn a_report_survives_its_compact_form() {
    for (name, text) in GOLDEN {
        let report = parse(name, text);
        let compact = serde_json::to_string(&report).unwrap();
        assert_eq!(parse(name, &compact), report, "{name}");
    }
}

#[test]
fn a_profile_is_named_by_everything_that_makes_its_point() {
    let mut point = parse("evidence", GOLDEN[3].1).points.remove(0);
    let name = point.profile_name();
    assert_eq!(name, "fallocate_append-truncate-2-9919170fe8e85014.folded");
    point.parameters.insert("mode".into(), "thread".into());
    assert_ne!(point.profile_name(), name);
    point.workload = "é/".repeat(300);
    assert!(point.profile_name().len() <= scalewatch_wire::limits::NAME);
}

#[test]
fn values_are_derived_from_raw_windows_and_undefined_ones_are_left_out() {
    let report = parse("all-sources", GOLDEN[2].1);
    let scalewatch_wire::Outcome::Measured(measured) = &report.points[0].outcome else {
        panic!("the golden point is measured");
    };
    let values: Vec<Vec<f64>> = measured.metrics.iter().map(|m| measured.values(m)).collect();
    assert_eq!(values[0], [9007199254740992.0, 0.0]);
    assert_eq!(values[1], [9007199254740992.0], "no CPU time in the second window");
    assert_eq!(values[2], [0.0], "nothing done in the second window");
    assert_eq!(values[3], [17.5, 0.1]);
    assert_eq!(values[4], [3.3000000000000003]);
}

#[test]
fn what_another_tool_measured_has_its_values_as_they_are() {
    let outcome = &parse("imported", GOLDEN[4].1).points[0].outcome;
    let values: Vec<Vec<f64>> = outcome.metrics().iter().map(|m| outcome.values(m)).collect();
    assert_eq!(values, [vec![1.25, 1.5, 1.0], vec![4.5]]);
    let derived = scalewatch_wire::Metric::ops_per_s_total();
    assert!(outcome.values(&derived).is_empty(), "nothing is derived without windows");
    let failed = &parse("failed", GOLDEN[1].1).points[0].outcome;
    assert!(failed.metrics().is_empty());
}

#[test]
fn answers_of_a_newer_service_are_still_understood() {
    let accepted = r#"{"run":"u","new":true,"points":1,"windows":2,"later":[]}"#;
    assert!(serde_json::from_str::<scalewatch_wire::Accepted>(accepted).unwrap().new);
    let registered = r#"{"machine":"m","token":"t","expires_at":"2027-01-01T00:00:00Z"}"#;
    let registered: scalewatch_wire::Registered = serde_json::from_str(registered).unwrap();
    assert_eq!(registered.token, "t");
}
