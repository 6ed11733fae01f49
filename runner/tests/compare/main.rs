//! Comparing result files: what is paired, what is said, and the field's formats with published
//! figures.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod paired;
#[path = "../support/mod.rs"]
mod support;

use paired::paired_lines;
use scalewatch_runner::compare::curves::{Metrics, Paired, pair};
use scalewatch_runner::compare::earlier::Earlier;
use scalewatch_runner::compare::files::{self, Column, Content, columns, parse};
use scalewatch_runner::compare::gate::gate;
use scalewatch_runner::compare::judge::{Judged, Options, judge};
use scalewatch_runner::compare::{as_lkp, as_mmtests, json, lkp, mmtests, table};
use scalewatch_runner::exit::Exit;
use stats::Verdict;
use support::reports::{a_failure, a_point, a_report, as_file, runs};
use wire::Report;

const BASE: &str = "68ac5b3c8db2fda00af594eca4100f326ca9f38d";
const HEAD: &str = "5387c90490f7f42df3209154ca955a453ee01b41";

fn two(base: Vec<Report>, head: Vec<Report>) -> Vec<Column> {
    columns(vec![
        ("base-file".into(), Content::Plain(base)),
        ("head-file".into(), Content::Plain(head)),
    ])
    .unwrap()
}

fn judged(columns: &[Column], metrics: &Metrics, options: &Options) -> (Vec<Judged>, Paired) {
    let paired = pair(columns, metrics);
    let judged = paired.curves.iter().cloned().map(|curve| judge(curve, options)).collect();
    (judged, paired)
}

fn usual(columns: &[Column]) -> (Vec<Judged>, Paired) {
    judged(columns, &Metrics::Usual, &Options::default())
}

fn code(columns: &[Column]) -> Exit {
    let (judged, paired) = usual(columns);
    gate(&judged, &paired.unpaired, &Metrics::Usual).0
}

fn verdicts(judged: &Judged) -> Vec<(u32, Verdict)> {
    judged.against[0].judgement.points.iter().map(|p| (p.tasks, p.verdict)).collect()
}

#[test]
fn a_sweep_is_never_collapsed_into_one_number() {
    let columns = two(
        runs(1, 5, BASE, &[(1, 290_260.0), (4, 100_000.0), (80, 989_900.0)]),
        runs(11, 5, HEAD, &[(1, 337_597.0), (4, 100_050.0), (80, 900_000.0)]),
    );
    let (judged, _) = usual(&columns);
    assert_eq!(judged[0].curve.metric, "ops_per_s_total");
    assert_eq!(
        verdicts(&judged[0]),
        [(1, Verdict::Improvement), (4, Verdict::NoChange), (80, Verdict::Regression)]
    );
    let text = table::render(&columns, &judged[0]);
    let headline = text.lines().nth(1).unwrap();
    assert!(headline.starts_with("regression and improvement: "), "{text}");
    assert!(headline.contains("+16.3 % at 1") && headline.contains("−9.1 % at 80"), "{text}");
    assert_eq!(code(&columns), Exit::Regression);
}

#[test]
fn what_another_tool_measured_is_compared_by_its_values() {
    let imported = |mut reports: Vec<Report>, shift: f64| {
        for (i, report) in reports.iter_mut().enumerate() {
            let metric = wire::Metric {
                name: "time".into(),
                unit: wire::Unit::Seconds,
                direction: wire::Direction::Lower,
                source: wire::Source::Values(vec![shift + i as f64 / 1000.0; 3]),
            };
            report.points[0].outcome = wire::Outcome::Imported(wire::Imported {
                tool: "hyperfine".into(),
                metrics: vec![metric],
                spread: Default::default(),
            });
        }
        reports
    };
    let base = imported(runs(1, 5, BASE, &[(1, 1.0)]), 1.0);
    let head = imported(runs(11, 5, HEAD, &[(1, 1.0)]), 1.5);
    let columns = two(base, head);
    let (judged, _) = usual(&columns);
    assert_eq!((judged[0].curve.metric.as_str(), judged.len()), ("time", 1));
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::Regression)]);
    assert_eq!(code(&columns), Exit::Regression);
    let text = table::render(&columns, &judged[0]);
    assert!(text.contains("time") && text.contains("1.5"), "{text}");
}

#[test]
fn operations_per_cpu_second_stand_beside_but_do_not_gate() {
    let mut head = runs(11, 5, HEAD, &[(1, 100_000.0)]);
    for report in &mut head {
        let wire::Outcome::Measured(measured) = &mut report.points[0].outcome else { panic!() };
        measured.windows.iter_mut().for_each(|window| window.cpu_ns[0] *= 2);
    }
    let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head);
    let (judged, _) = usual(&columns);
    assert_eq!(judged[1].curve.metric, "ops_per_cpu_s");
    assert_eq!(verdicts(&judged[1]), [(1, Verdict::Regression)]);
    assert_eq!(code(&columns), Exit::Done);
    let all = self::judged(&columns, &Metrics::All, &Options::default());
    assert_eq!(gate(&all.0, &all.1.unpaired, &Metrics::All).0, Exit::Regression);
}

#[test]
fn what_did_not_change_passes_and_says_within_what() {
    let columns = two(
        runs(1, 5, BASE, &[(1, 50_000.0), (2, 90_000.0)]),
        runs(11, 5, HEAD, &[(1, 50_010.0), (2, 89_990.0)]),
    );
    let (judged, _) = usual(&columns);
    assert!(judged[0].against[0].headline().starts_with("no change, within ±"));
    assert_eq!(code(&columns), Exit::Done);
}

#[test]
fn the_law_of_scaling_stands_under_its_curve_with_what_differs() {
    let total = |n: u32, contention: f64| -> (u32, f64) {
        (n, 1000.0 * f64::from(n) / (1.0 + contention * f64::from(n - 1)))
    };
    let curve = |contention| [1, 2, 4, 8, 16, 32].map(|n| total(n, contention));
    let columns = two(runs(1, 3, BASE, &curve(0.03)), runs(11, 3, HEAD, &curve(0.1)));
    let (judged, paired) = usual(&columns);
    let told = json::render(&columns, &judged, &paired.unpaired).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let scaling = &told["curves"][0]["against"][0]["scaling"];
    for (side, contention) in [("base", 0.03), ("head", 0.1)] {
        let found = scaling[side]["law"]["contention"]["value"].as_f64().unwrap();
        assert!((found - contention).abs() < 0.01, "{scaling}");
    }
    assert_eq!(scaling["changes"][0]["verdict"], "regression");
    assert_eq!(scaling["changes"][1]["verdict"], "no change");
    assert!(!scaling["changes"][0]["evidence"]["inequalities"].as_array().unwrap().is_empty());
    assert!(told["curves"][1]["against"][0]["scaling"].is_null(), "only once a curve");
    let text = table::render(&columns, &judged[0]);
    assert!(text.contains("68ac5b3c8d: contention 3.0 % ("), "{text}");
    assert!(text.contains("5387c90490: contention 10 % ("), "{text}");
    assert!(text.contains("no peak up to 32 tasks"), "{text}");
    assert!(text.contains("\nregression: contention 3.0 % → 10 %\n"), "{text}");
    assert!(!table::render(&columns, &judged[1]).contains("contention"), "only once a curve");
    let columns = two(runs(1, 3, BASE, &curve(0.03)[..3]), runs(11, 3, HEAD, &curve(0.1)[..3]));
    let text = table::render(&columns, &usual(&columns).0[0]);
    assert!(text.contains("no law of scaling fitted: 3 task counts with positive"), "{text}");
}

#[test]
fn earlier_builds_tell_a_change_from_another_build_and_the_gate_waits_for_them() {
    let columns = two(runs(1, 5, BASE, &[(1, 50_000.0)]), runs(11, 5, HEAD, &[(1, 49_200.0)]));
    assert_eq!(verdicts(&usual(&columns).0[0]), [(1, Verdict::Regression)]);
    assert_eq!(code(&columns), Exit::NotEnoughData, "unconfirmed without history");
    let with_history = |spread: f64| {
        let builds = (0..16u32).map(|i| {
            let level = 50_000.0 * (1.0 + spread * f64::from(i % 5) - 2.0 * spread);
            let content =
                Content::Plain(runs(100 + 10 * i, 5, &format!("{i:040x}"), &[(1, level)]));
            (format!("build-{i}"), content)
        });
        let earlier = Earlier::new(&columns, files::columns(builds.collect()).unwrap());
        let options = Options { earlier, ..Options::default() };
        let (judged, paired) = judged(&columns, &Metrics::Usual, &options);
        let words = judged[0].against[0].headline();
        (words, gate(&judged, &paired.unpaired, &Metrics::Usual).0)
    };
    let (words, exit) = with_history(0.0005);
    assert!(words.starts_with("regression: −") && !words.contains("unconfirmed"), "{words}");
    assert_eq!(exit, Exit::Regression);
    let (words, exit) = with_history(0.02);
    assert!(words.starts_with("no change, within ±"), "{words}");
    assert_eq!(exit, Exit::Done);
}

#[test]
fn a_noise_floor_hides_what_is_smaller() {
    let columns = two(runs(1, 5, BASE, &[(1, 50_000.0)]), runs(11, 5, HEAD, &[(1, 47_500.0)]));
    let verdict = |noise_floor| {
        let options = Options { noise_floor, ..Options::default() };
        verdicts(&judged(&columns, &Metrics::Usual, &options).0[0])[0].1
    };
    assert_eq!(verdict(0.0), Verdict::Regression);
    assert_eq!(verdict(0.20), Verdict::NoChange);
}

#[test]
fn different_environments_are_said_field_by_field_and_nothing_is_called() {
    let mut head = runs(11, 5, HEAD, &[(1, 50_000.0)]);
    for report in &mut head {
        report.environment.0.insert("kernel.release".into(), "6.19.0".into());
        report.environment.0.insert("cpu.governor".into(), "powersave".into());
    }
    let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head);
    let (judged, _) = usual(&columns);
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::EnvironmentChanged)]);
    let text = table::render(&columns, &judged[0]);
    assert!(text.contains("environment changed: "), "{text}");
    assert!(text.contains("  environment: kernel.release 6.18.0 → 6.19.0\n"), "{text}");
    assert!(text.contains("  environment: cpu.governor (not known) → powersave\n"), "{text}");
    assert!(text.contains("100 k") && text.contains("50.0 k"), "the figures stand: {text}");
    assert_eq!(code(&columns), Exit::NotEnoughData);
    let across = Options { across_environments: true, ..Options::default() };
    let (judged, _) = self::judged(&columns, &Metrics::Usual, &across);
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::Regression)]);
}

#[test]
fn runs_of_another_environment_are_set_aside_where_the_sides_share_one() {
    let mut head = runs(11, 5, HEAD, &[(1, 100_000.0)]);
    let mut stray = runs(21, 1, HEAD, &[(1, 10_000.0)]);
    stray[0].environment.0.insert("mm.thp".into(), "always".into());
    head.extend(stray);
    let (judged, _) = usual(&two(runs(1, 5, BASE, &[(1, 100_000.0)]), head));
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::NoChange)]);
    assert_eq!(
        judged[0].against[0].set_aside,
        ["1 measurements set aside, environment differs: mm.thp (not known) → always"]
    );
}

#[test]
fn machines_versions_and_projects_are_never_compared_with_each_other() {
    let differ = |edit: &dyn Fn(&mut Report), words: &str| {
        let mut head = runs(11, 5, HEAD, &[(1, 50_000.0)]);
        head.iter_mut().for_each(edit);
        let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head);
        let (judged, paired) = usual(&columns);
        assert!(judged.is_empty());
        assert_eq!(paired.unpaired.len(), 1);
        assert!(paired.unpaired[0].not_comparable);
        assert!(paired.unpaired[0].why.contains(words), "{:?}", paired.unpaired);
        assert!(table::unpaired(&paired.unpaired).contains("not comparable: "));
        assert_eq!(code(&columns), Exit::NotEnoughData);
    };
    differ(&|r| r.machine.id = "ffffffffffffffff".into(), "machines differ: laptop (5f1d7a84db)");
    differ(&|r| r.points[0].version = 2, "workload versions differ: 1 against 2");
    differ(&|r| r.project.name = "other".into(), "projects differ: model against other");
}

#[test]
fn different_units_or_directions_are_not_comparable() {
    let mut head = runs(11, 5, HEAD, &[(1, 50_000.0)]);
    for report in &mut head {
        let wire::Outcome::Measured(measured) = &mut report.points[0].outcome else { panic!() };
        measured.metrics[0].unit = wire::Unit::LoopsPerSecond;
    }
    let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head);
    let (judged, paired) = usual(&columns);
    assert!(judged.iter().all(|j| j.curve.metric != "ops_per_s_total"));
    assert!(paired.unpaired[0].why.contains("lps, higher against ops/s, higher"));
    assert_eq!(code(&columns), Exit::NotEnoughData);
}

#[test]
fn a_missing_baseline_never_passes() {
    let mut head = runs(11, 5, HEAD, &[(1, 100_000.0)]);
    for report in &mut head {
        let mut point = report.points[0].clone();
        point.workload = "file/dup".into();
        report.points.push(point);
    }
    let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head.clone());
    let (_, paired) = usual(&columns);
    assert_eq!(paired.unpaired.len(), 1);
    assert!(!paired.unpaired[0].not_comparable);
    assert!(paired.unpaired[0].what.starts_with("file/dup"));
    assert_eq!(code(&columns), Exit::NotEnoughData);
    let columns = two(head, runs(1, 5, BASE, &[(1, 100_000.0)]));
    assert!(usual(&columns).1.unpaired[0].why.contains("did not measure it"));
    assert_eq!(code(&columns), Exit::NotEnoughData);
}

#[test]
fn a_second_machine_without_a_baseline_does_not_hide_behind_the_first() {
    let mut head = runs(11, 5, HEAD, &[(1, 100_000.0)]);
    let mut elsewhere = runs(21, 5, HEAD, &[(1, 50_000.0)]);
    elsewhere.iter_mut().for_each(|report| report.machine.id = "ffffffffffffffff".into());
    head.extend(elsewhere);
    let columns = two(runs(1, 5, BASE, &[(1, 100_000.0)]), head);
    let (judged, paired) = usual(&columns);
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::NoChange)]);
    assert_eq!(paired.unpaired.len(), 1);
    assert_eq!(code(&columns), Exit::NotEnoughData);
}

#[test]
fn a_point_that_one_side_lacks_is_not_enough_data() {
    let columns =
        two(runs(1, 5, BASE, &[(1, 50_000.0)]), runs(11, 5, HEAD, &[(1, 50_000.0), (2, 90_000.0)]));
    let (judged, _) = usual(&columns);
    assert_eq!(verdicts(&judged[0]), [(1, Verdict::NoChange), (2, Verdict::NotEnoughData)]);
    assert_eq!(code(&columns), Exit::NotEnoughData);
}

#[test]
fn a_head_that_fails_where_the_base_ran_is_a_failure_of_its_own() {
    let mut head = runs(11, 5, HEAD, &[(1, 50_000.0)]);
    head.iter_mut().for_each(|report| report.points.push(a_failure(2)));
    let columns = two(runs(1, 5, BASE, &[(1, 50_000.0), (2, 90_000.0)]), head);
    assert_eq!(code(&columns), Exit::MeasurementFailed);
    let (judged, _) = usual(&columns);
    let text = table::render(&columns, &judged[0]);
    assert!(text.contains("failed at 2: task 0: open: too many open files"), "{text}");
    let text = lkp::render(&as_lkp(&columns, &judged.iter().collect::<Vec<_>>()));
    let expected = "
       fail:runs  %reproduction    fail:runs
           |             |             |
           :5         +100%           5:5     file/open.2.fail
         %stddev     %change         %stddev
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn everything_failed_is_said() {
    let failing = |n, commit| {
        let mut report = a_report(n, commit);
        report.points = vec![a_failure(1)];
        report
    };
    let columns = two(vec![failing(1, BASE)], vec![failing(2, HEAD)]);
    let (judged, paired) = usual(&columns);
    assert!(judged.is_empty());
    assert_eq!(paired.unpaired[0].why, "every run of it failed");
    assert_eq!(code(&columns), Exit::NotEnoughData);
}

#[test]
fn each_head_of_several_is_judged_against_the_base() {
    let contents = vec![
        ("a".into(), Content::Plain(runs(1, 5, BASE, &[(1, 50_000.0)]))),
        ("b".into(), Content::Plain(runs(11, 5, HEAD, &[(1, 40_000.0)]))),
        ("c".into(), Content::Plain(runs(21, 5, "0a1b2c3d4e5f", &[(1, 60_000.0)]))),
    ];
    let columns = columns(contents).unwrap();
    let (judged, _) = usual(&columns);
    let verdicts: Vec<Verdict> =
        judged[0].against.iter().map(|against| against.judgement.points[0].verdict).collect();
    assert_eq!(verdicts, [Verdict::Regression, Verdict::Improvement]);
    let text = lkp::render(&as_lkp(&columns, &[&judged[0]]));
    let row = text.lines().last().unwrap();
    assert!(row.contains("-20.0%") && row.contains("+20.0%"), "{text}");
    let text = table::render(&columns, &judged[0]);
    assert!(text.contains("5387c90490: regression: −20.0 % at 1\n"), "{text}");
    let text = mmtests::render(&as_mmtests(&columns, &judged[0]));
    assert!(text.contains("* -20.00%*") && text.contains("*  20.00%*"), "{text}");
}

#[test]
fn files_that_make_no_two_sides_are_refused_with_the_reason() {
    let one = || Content::Plain(runs(1, 1, BASE, &[(1, 1000.0)]));
    let other = || Content::Plain(runs(2, 1, HEAD, &[(1, 1000.0)]));
    let sided = || {
        let runs = runs(5, 1, BASE, &[(1, 1000.0)]);
        Content::Sided(paired_lines(&runs, &[]))
    };
    let mixed = {
        let mut reports = runs(1, 1, BASE, &[(1, 1000.0)]);
        reports.extend(runs(2, 1, HEAD, &[(1, 1000.0)]));
        Content::Plain(reports)
    };
    for (contents, words) in [
        (vec![one()], "two sides are needed"),
        (vec![one(), one()], "is given twice"),
        (vec![one(), sided()], "give one kind"),
        (vec![sided()], "no head report"),
        (vec![mixed, other()], "two revisions of model"),
    ] {
        let named = contents.into_iter().map(|content| ("f".to_owned(), content)).collect();
        let error = format!("{:#}", columns(named).unwrap_err());
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn unusable_files_are_named_with_report_and_field() {
    let good = as_file(&runs(1, 1, BASE, &[(1, 1000.0)]));
    for (text, words) in [
        (String::new(), "f.json: no report in it"),
        ("{\"format\":1".into(), "f.json: report 1"),
        (format!("{good}nonsense"), "f.json: report 2"),
        (good.replace("\"tasks\"", "\"taks\""), "taks"),
        (good.replace("\"tasks\":1", "\"tasks\":0"), "points[0].tasks"),
        (format!("{good}{{\"side\":\"middle\"}}"), "middle"),
    ] {
        let error = format!("{:#}", parse("f.json", &text).unwrap_err());
        assert!(error.contains(words), "{error}");
    }
    let pretty = serde_json::to_string_pretty(&runs(1, 1, BASE, &[(1, 1.0)])[0]).unwrap();
    assert!(matches!(parse("f.json", &pretty).unwrap(), Content::Plain(one) if one.len() == 1));
}

#[test]
fn the_json_holds_verdict_evidence_and_the_rules_of_others_at_full_precision() {
    let columns =
        two(runs(1, 5, BASE, &[(1, 50_000.0)]), runs(11, 5, HEAD, &[(1, 40_000.0), (2, 70_000.0)]));
    let (judged, paired) = usual(&columns);
    let text = json::render(&columns, &judged, &paired.unpaired).unwrap();
    let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
    let point = |i: usize| &tree["curves"][0]["against"][0]["points"][i];
    assert_eq!(point(0)["verdict"], "regression");
    assert_eq!(point(0)["lkp"]["verdict"], "regression");
    assert_eq!(point(0)["mmtests"]["starred"], true);
    assert!(point(0)["ratio"]["value"].as_f64().unwrap() < 0.81);
    assert!(!point(0)["evidence"]["inequalities"].as_array().unwrap().is_empty());
    assert_eq!(point(1)["verdict"], "not enough data");
    assert_eq!(point(1)["base"], serde_json::Value::Null);
    assert_eq!(tree["columns"][1]["revision"]["commit"], HEAD);
    assert_eq!(tree["columns"][1]["runs"].as_array().unwrap().len(), 5);
}

#[test]
fn degenerate_values_are_judged_and_printed_without_a_number_that_is_none() {
    let side = |first: u32, commit: &str, rates: &[f64]| -> Vec<Report> {
        (0..3)
            .map(|run| {
                let mut report = a_report(first + run, commit);
                report.points = vec![a_point(1, rates)];
                report
            })
            .collect()
    };
    let verdict = |base: &[f64], head: &[f64]| {
        let columns = two(side(1, BASE, base), side(11, HEAD, head));
        let (judged, paired) = self::judged(&columns, &Metrics::All, &Options::default());
        let text = json::render(&columns, &judged, &paired.unpaired).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        let tables = table::render(&columns, &judged[0])
            + &lkp::render(&as_lkp(&columns, &judged.iter().collect::<Vec<_>>()));
        assert!(!tables.contains("NaN") && !tables.contains("inf"), "{tables}");
        mmtests::render(&as_mmtests(&columns, &judged[0]));
        (judged[0].against[0].judgement.points[0].verdict, tables)
    };
    let (constant, _) = verdict(&[100.0; 3], &[100.0; 3]);
    assert_eq!(constant, Verdict::NoChange);
    let (halved, _) = verdict(&[100.0; 3], &[50.0; 3]);
    assert_eq!(halved, Verdict::Regression);
    let (none, _) = verdict(&[0.0; 3], &[0.0; 3]);
    assert_eq!(none, Verdict::NoChange);
    let (born, tables) = verdict(&[0.0; 3], &[100.0; 3]);
    assert_eq!(born, Verdict::Improvement);
    assert!(tables.contains("     from 0 "), "{tables}");
    let (died, tables) = verdict(&[100.0; 3], &[0.0; 3]);
    assert_eq!(died, Verdict::Regression);
    assert!(tables.contains("    -100.0%       0.00"), "{tables}");
}
