//! Each limit of a report: what is refused, and which field is named.

mod support;

use scalewatch_wire::Report;
use serde_json::{Value, json};
use support::{ALL_SOURCES, FAILED, M, MEASURED, edited};

const IMPORTED: &str = include_str!("golden/report-v1-imported.json");

/// A golden report, the pointer of a field, its new value (none removes it), the path that must be
/// named and words the problem must hold.
type Case = (&'static str, &'static str, Option<Value>, &'static str, &'static str);

fn long(n: usize) -> Value {
    Value::from("x".repeat(n))
}

fn entries(n: usize) -> Value {
    Value::Object((0..n).map(|i| (format!("key{i}"), json!("v"))).collect())
}

const TASK: &str = "/points/0/tasks";

fn head_cases() -> Vec<Case> {
    vec![
        (MEASURED, "/format", Some(json!(2)), "format", "must be 1"),
        (MEASURED, "/run", Some(json!("not-a-uuid")), "run", "UUID"),
        (
            MEASURED,
            "/run",
            Some(json!("0B6F8F0E-7C55-4A39-9A0E-3C2F7D9D1E01")),
            "run",
            "lower-case",
        ),
        (MEASURED, "/machine/id", Some(json!("5f1d")), "machine.id", "16 to 64"),
        (MEASURED, "/machine/id", Some(json!("5F1D7A84DB00D2FC")), "machine.id", "lower-case hex"),
        (MEASURED, "/machine/name", Some(json!(" ")), "machine.name", "empty"),
        (MEASURED, "/machine/name", Some(json!("a\0b")), "machine.name", "NUL"),
        (MEASURED, "/machine/name", Some(long(4097)), "machine.name", "4096"),
        (
            MEASURED,
            "/machine/identity/architecture",
            Some(json!("")),
            "machine.identity.architecture",
            "empty",
        ),
        (
            MEASURED,
            "/machine/identity/cpu_model",
            Some(json!("")),
            "machine.identity.cpu_model",
            "empty",
        ),
        (
            MEASURED,
            "/machine/identity/memory_class",
            Some(json!("")),
            "machine.identity.memory_class",
            "empty",
        ),
        (
            MEASURED,
            "/machine/identity/hardware_id",
            Some(json!("")),
            "machine.identity.hardware_id",
            "empty",
        ),
        (
            MEASURED,
            "/machine/identity/sockets",
            Some(json!(0)),
            "machine.identity.sockets",
            "1 to 65536",
        ),
        (
            MEASURED,
            "/machine/identity/cores",
            Some(json!(0)),
            "machine.identity.cores",
            "1 to 65536",
        ),
        (
            MEASURED,
            "/machine/identity/threads",
            Some(json!(65537)),
            "machine.identity.threads",
            "1 to 65536",
        ),
        (
            MEASURED,
            "/machine/identity/numa_nodes",
            Some(json!(0)),
            "machine.identity.numa_nodes",
            "1 to 65536",
        ),
        (MEASURED, "/environment", Some(entries(513)), "environment", "512"),
        (MEASURED, "/environment", Some(json!({"": "x"})), "environment", "empty"),
        (MEASURED, "/environment/fs.type", Some(json!("ext4\0")), "environment.fs.type", "no NUL"),
        (MEASURED, "/environment/fs.type", Some(long(4097)), "environment.fs.type", "4096"),
        (MEASURED, "/environment", Some(json!({("k".repeat(257)): "v"})), "environment", "256"),
        (
            MEASURED,
            "/machine/identity/caches/0/kind",
            Some(json!("data\0")),
            "machine.identity.caches[0].kind",
            "NUL",
        ),
        (MEASURED, "/project/name", Some(json!("")), "project.name", "empty"),
        (MEASURED, "/project/name", Some(long(257)), "project.name", "256"),
    ]
}

fn revision_cases() -> Vec<Case> {
    vec![
        (MEASURED, "/revision/commit", Some(json!("68ac5b")), "revision.commit", "7 to 64"),
        (MEASURED, "/revision/commit", Some(json!("68AC5B3")), "revision.commit", "lower-case"),
        (MEASURED, "/revision/commit", Some(json!("v6.17-rc1")), "revision.commit", "hex"),
        (MEASURED, "/revision/branch", Some(json!("")), "revision.branch", "empty"),
        (MEASURED, "/revision/branch", Some(long(257)), "revision.branch", "256"),
        (MEASURED, "/revision/subject", Some(json!("")), "revision.subject", "empty"),
        (
            MEASURED,
            "/revision/parents",
            Some(json!(vec!["5387c90490"; 65])),
            "revision.parents",
            "64",
        ),
        (MEASURED, "/revision/parents/0", Some(json!("HEAD^")), "revision.parents[0]", "hex"),
        (MEASURED, "/revision/position", Some(json!(-1)), "revision.position", "at least 0"),
        (FAILED, "/revision/committed_at", None, "revision.position", "committed_at"),
    ]
}

fn point_cases() -> Vec<Case> {
    vec![
        (MEASURED, "/points", Some(json!([])), "points", "at least 1"),
        (MEASURED, "/points/0/workload", Some(json!("")), "points[0].workload", "empty"),
        (MEASURED, "/points/0/workload", Some(long(257)), "points[0].workload", "256"),
        (MEASURED, "/points/0/version", Some(json!(0)), "points[0].version", "1 to"),
        (
            MEASURED,
            "/points/0/version",
            Some(json!(2147483648_u32)),
            "points[0].version",
            "2147483647",
        ),
        (MEASURED, TASK, Some(json!(0)), "points[0].tasks", "1 to 65536"),
        (MEASURED, TASK, Some(json!(65537)), "points[0].tasks", "1 to 65536"),
        (MEASURED, "/points/0/parameters", Some(entries(513)), "points[0].parameters", "512"),
        (
            MEASURED,
            "/points/0/parameters",
            Some(json!({" ": "x"})),
            "points[0].parameters",
            "empty",
        ),
        (
            MEASURED,
            "/points/0/parameters/mode",
            Some(json!("a\0")),
            "points[0].parameters.mode",
            "no NUL",
        ),
        (
            FAILED,
            "/points/1/parameters/mode",
            Some(json!("process")),
            "points[1]",
            "repeats an earlier point",
        ),
        (
            FAILED,
            "/points/0/outcome/failed/call",
            Some(json!("")),
            "points[0].outcome.failed.call",
            "empty",
        ),
        (
            FAILED,
            "/points/0/outcome/failed/detail",
            Some(long(4097)),
            "points[0].outcome.failed.detail",
            "4096",
        ),
    ]
}

fn measured_cases() -> Vec<Case> {
    vec![
        (
            MEASURED,
            "/points/0/outcome/measured/placement",
            Some(json!([[0]])),
            "points[0].outcome.measured.placement",
            "one list a task (2)",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/start_skew_ns",
            Some(json!(9007199254740993_u64)),
            "points[0].outcome.measured.start_skew_ns",
            "9007199254740992",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/warmup_windows",
            Some(json!(100_001)),
            "points[0].outcome.measured.warmup_windows",
            "100000",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows",
            Some(json!([])),
            "points[0].outcome.measured.windows",
            "at least 1 sample",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/dt_ns",
            Some(json!(0)),
            "points[0].outcome.measured.windows[1].dt_ns",
            "more than 0",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/dt_ns",
            Some(json!(-1)),
            "points[0].outcome.measured.windows[1].dt_ns",
            "more than 0",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/dt_ns",
            Some(json!(9007199254740993_i64)),
            "points[0].outcome.measured.windows[1].dt_ns",
            "9007199254740992",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/ops",
            Some(json!([1])),
            "points[0].outcome.measured.windows[1].ops",
            "one count a task (2)",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/ops",
            Some(json!([1, 9007199254740993_u64])),
            "points[0].outcome.measured.windows[1].ops",
            "9007199254740992",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/cpu_ns",
            Some(json!([1, 2, 3])),
            "points[0].outcome.measured.windows[1].cpu_ns",
            "one time a task (2)",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/windows/1/cpu_ns",
            Some(json!([1, 9007199254740993_u64])),
            "points[0].outcome.measured.windows[1].cpu_ns",
            "9007199254740992",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/metrics",
            Some(json!([])),
            "points[0].outcome.measured.metrics",
            "at least 1 metric",
        ),
        (
            ALL_SOURCES,
            "/points/0/outcome/measured/metrics/0/name",
            Some(json!("")),
            "points[0].outcome.measured.metrics[0].name",
            "empty",
        ),
        (
            ALL_SOURCES,
            "/points/0/outcome/measured/metrics/0/name",
            Some(long(257)),
            "points[0].outcome.measured.metrics[0].name",
            "256",
        ),
        (
            ALL_SOURCES,
            "/points/0/outcome/measured/metrics/1/name",
            Some(json!("ops_per_s_total")),
            "points[0].outcome.measured.metrics[1].name",
            "repeats an earlier metric",
        ),
        (
            ALL_SOURCES,
            "/points/0/outcome/measured/metrics/3/source/values",
            Some(json!([])),
            "points[0].outcome.measured.metrics[3].source.values",
            "1 value or one a window",
        ),
        (
            ALL_SOURCES,
            "/points/0/outcome/measured/metrics/3/source/values",
            Some(json!([1.0, 2.0, 3.0])),
            "points[0].outcome.measured.metrics[3].source.values",
            "1 value or one a window",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/counters",
            Some(json!({"rusage.user_ns": -1.0})),
            "points[0].outcome.measured.counters.rusage.user_ns",
            "0 or more",
        ),
        (
            MEASURED,
            "/points/0/outcome/measured/counters",
            Some(json!({" ": 1.0})),
            "points[0].outcome.measured.counters",
            "empty",
        ),
    ]
}

fn artefact_cases() -> Vec<Case> {
    let one = json!({"name": "a", "media_type": "text/plain", "content": ""});
    vec![
        (ALL_SOURCES, "/artefacts", Some(json!(vec![one.clone(); 1025])), "artefacts", "1024"),
        (ALL_SOURCES, "/artefacts/1/name", Some(json!("")), "artefacts[1].name", "empty"),
        (
            ALL_SOURCES,
            "/artefacts/1/media_type",
            Some(json!("")),
            "artefacts[1].media_type",
            "empty",
        ),
        (ALL_SOURCES, "/artefacts/1/name", Some(long(257)), "artefacts[1].name", "256"),
        (ALL_SOURCES, "/artefacts", Some(json!([one, one])), "artefacts[1].name", "repeats"),
        (ALL_SOURCES, "/artefacts/0/content", Some(json!("\0")), "artefacts[0].content", "NUL"),
    ]
}

fn imported_cases() -> Vec<Case> {
    let metric = json!({
        "name": "time", "unit": "s", "direction": "lower", "source": {"values": [1.0]}
    });
    vec![
        (
            IMPORTED,
            "/points/0/outcome/imported/tool",
            Some(json!("")),
            "points[0].outcome.imported.tool",
            "empty",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/metrics",
            Some(json!([])),
            "points[0].outcome.imported.metrics",
            "at least 1",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/metrics",
            Some(json!([metric, metric])),
            "points[0].outcome.imported.metrics[1].name",
            "repeats",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/metrics/0/source",
            Some(json!("ops_per_second")),
            "points[0].outcome.imported.metrics[0].source",
            "no windows",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/metrics/1/source/values",
            Some(json!([])),
            "points[0].outcome.imported.metrics[1].source.values",
            "1 to 100000",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/spread",
            Some(json!({"memory": {}})),
            "points[0].outcome.imported.spread.memory",
            "a metric of this point",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/spread/user/sd",
            Some(json!(-0.5)),
            "points[0].outcome.imported.spread.user.sd",
            "0 or more",
        ),
        (
            IMPORTED,
            "/points/0/outcome/imported/spread/user/samples",
            Some(json!(0)),
            "points[0].outcome.imported.spread.user.samples",
            "must be 1",
        ),
    ]
}

#[test]
fn each_limit_refuses_and_names_its_field() {
    let of_points = [point_cases(), measured_cases(), imported_cases()].concat();
    let cases = [head_cases(), revision_cases(), of_points, artefact_cases()].concat();
    for (golden, pointer, value, field, words) in cases {
        let tree = edited(golden, pointer, value);
        let report: Report = serde_json::from_value(tree)
            .unwrap_or_else(|error| panic!("{pointer} should parse: {error}"));
        let invalid = report.check().expect_err(pointer);
        assert_eq!(invalid.field, field, "{pointer}: {invalid}");
        assert!(invalid.problem.contains(words), "{pointer}: {invalid}");
    }
}

#[test]
fn counts_of_lists_are_bounded() {
    let report: Report = serde_json::from_str(MEASURED).unwrap();
    let grow = |edit: &dyn Fn(&mut Report)| {
        let mut grown = report.clone();
        edit(&mut grown);
        grown.check().expect_err("a list that is too long").field
    };
    let cache = report.machine.identity.caches[0].clone();
    assert_eq!(
        grow(&|r| r.machine.identity.caches = vec![cache.clone(); 513]),
        "machine.identity.caches"
    );
    assert_eq!(grow(&|r| r.points = vec![r.points[0].clone(); 10_001]), "points");
    let measured = |r: &mut Report, edit: &dyn Fn(&mut scalewatch_wire::Measured)| {
        if let scalewatch_wire::Outcome::Measured(measured) = &mut r.points[0].outcome {
            edit(measured);
        }
    };
    assert_eq!(
        grow(&|r| measured(r, &|m| m.windows = vec![m.windows[0].clone(); 100_001])),
        format!("{M}.windows")
    );
    assert_eq!(
        grow(&|r| measured(r, &|m| m.metrics = vec![m.metrics[0].clone(); 65])),
        format!("{M}.metrics")
    );
    let many = |n: usize| (0..n).map(|i| (format!("vmstat.key{i}"), 1.0)).collect();
    assert_eq!(grow(&|r| measured(r, &|m| m.counters = many(257))), format!("{M}.counters"));
}

#[test]
fn sums_over_many_tasks_do_not_overflow() {
    let most = scalewatch_wire::limits::COUNT;
    let tasks = 4_096;
    let window = scalewatch_wire::Window {
        dt_ns: 1_000_000_000,
        ops: vec![most; tasks],
        cpu_ns: vec![most; tasks],
    };
    assert_eq!(window.ops_per_s(), most as f64 * tasks as f64);
    assert!(window.ops_per_cpu_s().is_some_and(|rate| (rate / 1e9 - 1.0).abs() < 1e-12));
}
