//! Two sides from the file of one paired run.

use scalewatch_runner::compare::files::{Content, Side, SidedReport, columns, parse};
use scalewatch_runner::compare::{as_lkp, as_mmtests, lkp, mmtests, table};
use stats::Verdict;
use wire::Report;

use super::support::reports::{a_failure, a_point, a_report, runs};
use super::{BASE, usual, verdicts};

/// A line of a paired run's file, of sides that differ in their layout.
fn line(side: Side, mut report: Report) -> SidedReport {
    let layout = if side == Side::Base { "own-dir" } else { "shared-dir" };
    report.points[0].parameters.insert("layout".into(), layout.into());
    SidedReport { side, given: [("layout".to_owned(), layout.to_owned())].into(), report }
}

/// The file of a paired run, all of the base first.
pub fn paired_lines(base: &[Report], head: &[Report]) -> Vec<SidedReport> {
    let head = head.iter().map(|report| line(Side::Head, report.clone()));
    base.iter().map(|report| line(Side::Base, report.clone())).chain(head).collect()
}

#[test]
fn the_two_sides_of_a_paired_run_are_compared_over_the_parameters_that_make_them() {
    let lines =
        paired_lines(&runs(1, 5, BASE, &[(2, 90_000.0)]), &runs(11, 5, BASE, &[(2, 60_000.0)]));
    let text: String =
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    let content = parse("pair.json", &text).unwrap();
    assert_eq!(content, Content::Sided(lines));
    let columns = columns(vec![("pair".into(), content)]).unwrap();
    let (judged, paired) = usual(&columns);
    assert_eq!(paired.unpaired, []);
    assert_eq!(verdicts(&judged[0]), [(2, Verdict::Regression)]);
    assert!(!judged[0].curve.key.parameters.contains_key("layout"));
    assert_eq!(
        table::sides(&columns),
        "base  layout=own-dir  5 runs\nhead  layout=shared-dir  5 runs\n"
    );
    let text = lkp::render(&as_lkp(&columns, &[&judged[0]]));
    assert!(
        text.contains("  base (\"layout=own-dir\")\n  head (\"layout=shared-dir\")\n"),
        "{text}"
    );
    let text = mmtests::render(&as_mmtests(&columns, &judged[0]));
    let header: Vec<&str> = text.lines().take(2).map(str::trim).collect();
    assert_eq!(header[0].split_whitespace().collect::<Vec<_>>(), ["base", "head"]);
    assert!(header[1].ends_with("layout=shared-dir"), "{text}");
}

/// A file of two sides that took turns on a machine whose speed doubled meanwhile; the head has 2 %
/// more.
fn in_turns(pairs: u32) -> Vec<SidedReport> {
    let run = |n: u32, factor: f64| {
        let mut report = a_report(n, BASE);
        let speed = 1e6 * (1.0 + f64::from(n / 2) / f64::from(pairs));
        report.points.push(a_point(1, &[speed * factor]));
        report
    };
    (0..pairs)
        .flat_map(|i| [line(Side::Base, run(2 * i, 1.0)), line(Side::Head, run(2 * i + 1, 1.02))])
        .collect()
}

#[test]
fn sides_that_took_turns_are_judged_by_their_pairs_where_all_are_whole() {
    let verdict = |lines: Vec<SidedReport>| {
        let columns = columns(vec![("run".into(), Content::Sided(lines))]).unwrap();
        let (judged, _) = usual(&columns);
        verdicts(&judged[0])[0].1
    };
    assert_eq!(verdict(in_turns(8)), Verdict::Improvement);
    let mut cut_short = in_turns(9);
    cut_short.pop();
    assert_ne!(verdict(cut_short), Verdict::Improvement, "a base without its head");
    let mut failed = in_turns(8);
    failed[5].report.points = vec![a_failure(1)];
    assert_ne!(verdict(failed), Verdict::Improvement, "a head that failed");
}
