//! Base against head from the command line: measured in turn, judged, gated.

mod support;

use support::home::{Home, QUICK, ends, stderr, stdout};
use support::reports::{a_failure, as_file, runs};
use wire::Report;

#[test]
fn two_parameter_sets_take_turns_and_are_judged_at_once_and_again_from_the_file() {
    let home = Home::new();
    let sides = ["--base", "layout=own-dir", "--head", "layout=same-file", "--pairs", "3"];
    let output = home.run(&[&["run", "file/open"], &sides[..], &QUICK[..]].concat());
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("base  layout=own-dir  3 runs\n"), "{text}");
    assert!(text.contains("head  layout=same-file  3 runs\n"), "{text}");
    let order: Vec<String> = stderr(&output)
        .lines()
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(order, ["base", "head", "head", "base", "base", "head"]);

    let code = ["--json", "pair.json", "--commit", "0a1b2c3d4e", "--position", "1"];
    ends(&home.run(&[&["run", "file/open"], &sides[..], &code[..], &QUICK[..]].concat()), 0);
    let lines = std::fs::read_to_string(home.path("pair.json")).unwrap();
    assert_eq!(lines.lines().count(), 6);
    for format in ["table", "lkp", "mmtests", "json"] {
        let output = home.run(&["compare", "pair.json", "--format", format]);
        ends(&output, 0);
        assert!(stdout(&output).contains("file/open"), "{format}");
    }
}

#[test]
fn the_gate_has_a_code_for_each_outcome() {
    const BASE: &str = "68ac5b3c8db2";
    const HEAD: &str = "5387c90490f7";
    let home = Home::new();
    home.write("base", &as_file(&runs(1, 5, BASE, &[(1, 50_000.0), (2, 90_000.0)])));
    home.write("same", &as_file(&runs(11, 5, HEAD, &[(1, 50_000.0), (2, 90_000.0)])));
    home.write("worse", &as_file(&runs(21, 5, HEAD, &[(1, 50_000.0), (2, 60_000.0)])));
    home.write("less", &as_file(&runs(31, 5, HEAD, &[(1, 50_000.0)])));
    let mut failing = runs(41, 5, HEAD, &[(1, 50_000.0)]);
    failing.iter_mut().for_each(|report| report.points.push(a_failure(2)));
    home.write("failing", &as_file(&failing));
    home.write("broken", "{");
    for (head, code, words) in [
        ("same", 0, "gate: no regression on 1 curve"),
        ("worse", 1, "gate: regression on 1 curve"),
        ("broken", 2, "broken: report 1"),
        ("less", 3, "gate: undecided, not enough data"),
        ("failing", 6, "gate: the head failed"),
    ] {
        let output = home.run(&["compare", "base", head, "--gate"]);
        ends(&output, code);
        assert!(stderr(&output).contains(words), "{head}: {}", stderr(&output));
    }
    ends(&home.run(&["compare", "base", "worse"]), 0);
    for format in ["lkp", "mmtests"] {
        let text = stdout(&home.run(&["compare", "base", "worse", "--format", format]));
        let lines: Vec<&str> = text.lines().take(4).collect();
        assert!(lines[1].starts_with("regression: −33.3 % at 2"), "{text}");
        assert!(lines[2].starts_with("  at 1: no change, within ±"), "{text}");
        assert!(lines[3].starts_with("  at 2: regression −33.3 % ["), "{text}");
    }
    ends(&home.run(&["compare", "base", "worse", "--gate", "--metric", "ops_per_cpu_s"]), 1);
    ends(&home.run(&["compare", "base", "worse", "--gate", "--noise-floor", "80"]), 0);
    ends(&home.run(&["compare", "base", "same", "--metric", "no_such"]), 2);
    ends(&home.run(&["compare", "base", "same", "--noise-floor", "NaN"]), 2);
}

#[test]
fn counters_that_moved_stand_below_our_table_and_lkps_and_in_the_json() {
    let home = Home::new();
    let with = |reports: Vec<Report>, instructions: f64| -> Vec<Report> {
        let mut reports = reports;
        for (i, point) in reports.iter_mut().flat_map(|report| &mut report.points).enumerate() {
            if let wire::Outcome::Measured(measured) = &mut point.outcome {
                let noise = 1.0 + i as f64 / 1000.0;
                measured.counters.insert("perf.instructions".into(), instructions * noise);
                measured.counters.insert("rusage.user_ns".into(), 400.0 * noise);
            }
        }
        reports
    };
    let base = with(runs(1, 3, "aaaaaaaaaaaa", &[(1, 1000.0)]), 1000.0);
    let head = with(runs(4, 3, "bbbbbbbbbbbb", &[(1, 900.0)]), 1500.0);
    home.write("a.json", &as_file(&base));
    home.write("b.json", &as_file(&head));
    for format in ["table", "lkp"] {
        let output = home.run(&["compare", "a.json", "b.json", "--format", format]);
        ends(&output, 0);
        let text = stdout(&output);
        let parts: Vec<&str> =
            text.split("\nCounters that moved at 1 task, per operation:\n").collect();
        let [_, below] = parts[..] else { panic!("once, below both metrics: {text}") };
        let line = below.lines().next().unwrap();
        assert_eq!(line, "    1.00 k      +50.0%     1.50 k      perf.instructions", "{text}");
        assert!(!below.contains("rusage.user_ns") && !below.contains("too few"), "{below}");
    }
    let output = home.run(&["compare", "a.json", "b.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let moved = &json["curves"][0]["against"][0]["points"][0]["counters_moved"];
    assert_eq!(moved[0]["name"], "perf.instructions", "{moved}");
    assert_eq!(moved[0]["told_apart"], true);
}
