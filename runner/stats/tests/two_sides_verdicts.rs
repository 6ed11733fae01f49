//! Verdicts, words and evidence of the two-sided judgement, degenerate data included.

use proptest::prelude::*;
use scalewatch_stats::two_sides::{CurveJudgement, Policy, Sides, judge};
use scalewatch_stats::{Direction, Verdict};

fn runs(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|&v| vec![v, v * 1.0005, v * 0.9995]).collect()
}

fn point(tasks: u32, base: Vec<Vec<f64>>, head: Vec<Vec<f64>>) -> Sides {
    Sides { tasks, base, head, noise_floor: 0.0 }
}

fn judged(points: &[Sides]) -> CurveJudgement {
    judge(points, Direction::Higher, &Policy::default())
}

fn one(base: Vec<Vec<f64>>, head: Vec<Vec<f64>>) -> CurveJudgement {
    judged(&[point(1, base, head)])
}

const FIVE: [f64; 5] = [100.0, 100.4, 99.6, 100.2, 99.8];

fn times(factor: f64) -> Vec<Vec<f64>> {
    runs(&FIVE.map(|v| v * factor))
}

#[test]
fn a_curve_that_gains_at_one_and_loses_at_eighty_says_both() {
    let points = [
        point(1, times(1.0), times(1.163)),
        point(8, times(1.0), times(1.0)),
        point(80, times(1.0), times(0.974)),
    ];
    let curve = judged(&points);
    assert_eq!(curve.words, "+16.3 % at 1, −2.6 % at 80");
    let verdicts: Vec<Verdict> = curve.points.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts, [Verdict::Improvement, Verdict::NoChange, Verdict::Regression]);
    assert!(curve.points[2].words().starts_with("regression −2.6 % [−"));
    let lower = judge(&points, Direction::Lower, &Policy::default());
    assert_eq!(lower.points[0].verdict, Verdict::Regression);
    assert_eq!(lower.words, curve.words, "the figure is the change, the word is the judgement");
}

#[test]
fn neighbours_that_move_one_way_share_a_phrase() {
    let points: Vec<Sides> = [(1, 1.0), (16, 0.9), (32, 0.85), (64, 0.8)]
        .map(|(tasks, factor)| point(tasks, times(1.0), times(factor)))
        .to_vec();
    assert_eq!(judged(&points).words, "−10.0 % at 16 to −20.0 % at 64");
}

#[test]
fn changes_beyond_tenfold_are_given_as_a_factor() {
    assert_eq!(one(times(1.0), times(12.3)).words, "12.3 × at 1");
}

#[test]
fn no_change_says_within_what() {
    let curve = one(times(1.0), times(1.001));
    assert_eq!(curve.points[0].verdict, Verdict::NoChange);
    assert!(curve.words.starts_with("no change, within ±"), "{}", curve.words);
    let (_, low, high) = curve.points[0].ratio.expect("positive values");
    assert!(low < 1.0 && 1.001 < high);
}

#[test]
fn the_published_sweep_of_one_value_a_side_is_never_called() {
    let sweep = [
        (1, 30901.0, 31191.0),
        (2, 50874.0, 50504.0),
        (4, 66068.0, 64108.0),
        (8, 63963.0, 61927.0),
        (16, 47809.0, 47044.0),
        (32, 42441.0, 42326.0),
        (64, 39773.0, 39929.0),
        (128, 37065.0, 36413.0),
    ];
    let points = sweep.map(|(tasks, b, h)| point(tasks, vec![vec![b]], vec![vec![h]]));
    let curve = judged(&points);
    assert!(curve.points.iter().all(|p| p.verdict == Verdict::NotEnoughData));
    assert_eq!(curve.words, "not enough data: 1 value a side, 3 needed");
    assert_eq!(curve.points[2].base, Some(66068.0), "the values are still shown");
}

#[test]
fn many_runs_against_one_value_are_not_enough() {
    let curve = one(times(1.0), vec![vec![500.0]]);
    assert_eq!(curve.points[0].verdict, Verdict::NotEnoughData);
    assert_eq!(curve.words, "not enough data: 15 values against 1, 3 needed");
    assert_eq!(judged(&[]).words, "not enough data: no points");
}

#[test]
fn samples_of_one_run_a_side_are_widened_and_said_to_be_of_one_build() {
    let run = |level: f64| vec![[0.99, 1.0, 1.01, 1.0, 0.995].map(|f| f * level).to_vec()];
    let small = one(run(100.0), run(103.0));
    assert_eq!(small.points[0].verdict, Verdict::NoChange, "3 % may be another build");
    let large = one(run(100.0), run(130.0));
    assert_eq!(large.points[0].verdict, Verdict::Improvement);
    let notes = large.points[0].evidence.notes.join("; ");
    assert!(notes.contains("within-run samples only: 1 run of one build a side"), "{notes}");
    // As run medians of five runs the same values would be beyond doubt.
    let split = |level: f64| run(level)[0].iter().map(|&v| vec![v]).collect::<Vec<_>>();
    assert_eq!(one(split(100.0), split(103.0)).points[0].verdict, Verdict::Improvement);
}

#[test]
fn the_noise_floor_decides_and_is_named() {
    let mut sides = point(4, times(1.0), times(1.03));
    sides.noise_floor = 0.05;
    let point = &judged(&[sides]).points[0];
    assert_eq!(point.verdict, Verdict::NoChange);
    let line = &point.evidence.inequalities[point.evidence.decided_by.expect("decided")];
    assert!(line.what.contains("noise floor") && !line.holds, "{line:?}");
    assert!((line.left - 0.03).abs() < 1e-9 && line.right == 0.05);
}

#[test]
fn evidence_lists_every_inequality_and_the_one_that_decided() {
    let point = &one(times(1.0), times(0.9)).points[0];
    assert_eq!(point.verdict, Verdict::Regression);
    let evidence = &point.evidence;
    assert_eq!(evidence.used.len(), 10);
    assert_eq!(evidence.inequalities.len(), 4);
    assert!(evidence.inequalities.iter().all(|i| i.holds));
    assert_eq!(evidence.decided_by, Some(3));
}

#[test]
fn more_points_widen_the_interval() {
    let alone = one(times(1.0), times(1.01)).points[0].ratio.expect("positive");
    let points: Vec<Sides> = (0..10).map(|i| point(i, times(1.0), times(1.01))).collect();
    let curve = judged(&points);
    let together = curve.points[0].ratio.expect("positive");
    assert!(together.1 < alone.1 && alone.2 < together.2);
    assert!((curve.points[0].level - 0.999).abs() < 1e-12);
}

#[test]
fn one_wild_run_is_no_change() {
    let mut head = times(1.0);
    head[2] = vec![400.0; 3];
    assert_eq!(one(times(1.0), head).points[0].verdict, Verdict::NoChange);
}

#[test]
fn degenerate_sides_have_defined_verdicts() {
    let constant = |v: f64| vec![vec![v; 3]; 4];
    let verdict = |b: f64, h: f64| one(constant(b), constant(h)).points[0].verdict;
    assert_eq!(verdict(7.0, 7.0), Verdict::NoChange);
    assert_eq!(verdict(7.0, 8.0), Verdict::Improvement);
    assert_eq!(verdict(0.0, 0.0), Verdict::NoChange);
    assert_eq!(verdict(0.0, 5.0), Verdict::Improvement);
    assert_eq!(verdict(5.0, 0.0), Verdict::Regression);
    assert_eq!(verdict(-5.0, -9.0), Verdict::Regression);
    assert_eq!(verdict(-5.0, 5.0), Verdict::Improvement);
    let rise = one(constant(0.0), constant(5.0));
    assert_eq!(rise.points[0].ratio, None);
    assert_eq!(rise.words, "0 → 5.00 at 1");
    assert_eq!(one(constant(0.0), constant(0.0)).words, "no change");
}

#[test]
fn values_that_are_not_finite_are_not_comparable() {
    for bad in [f64::NAN, f64::INFINITY] {
        let curve = one(times(1.0), vec![vec![bad, 1.0], vec![1.0], vec![1.0]]);
        assert_eq!(curve.points[0].verdict, Verdict::NotComparable);
        assert_eq!(curve.words, "not comparable: 1 value not finite");
    }
    let huge = |v: f64| vec![vec![v]; 3];
    let curve = one(huge(-f64::MAX), huge(f64::MAX));
    assert_eq!(curve.points[0].verdict, Verdict::NotComparable);
}

#[test]
fn empty_runs_are_set_aside() {
    let mut head = times(0.9);
    head.push(Vec::new());
    let point = &one(times(1.0), head).points[0];
    assert_eq!(point.verdict, Verdict::Regression);
    assert_eq!(point.evidence.set_aside, ["1 run of the head without samples"]);
}

fn any_runs() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(any::<f64>(), 0..5), 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_panics(base in any_runs(), head in any_runs(), floor in any::<f64>()) {
        let sides = Sides { tasks: 1, base, head, noise_floor: floor };
        let curve = judged(&[sides.clone(), sides]);
        prop_assert_eq!(curve.points.len(), 2);
    }

    #[test]
    fn swapping_the_sides_swaps_the_verdict(factor in 0.5f64..2.0) {
        let swap = |v| match v {
            Verdict::Regression => Verdict::Improvement,
            Verdict::Improvement => Verdict::Regression,
            other => other,
        };
        let there = one(times(1.0), times(factor)).points[0].verdict;
        let back = one(times(factor), times(1.0)).points[0].verdict;
        prop_assert!(there == swap(back) || (factor - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_unit_does_not_matter(factor in 0.9f64..1.1, power in -30i32..30) {
        let scale = |runs: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            runs.iter().map(|r| r.iter().map(|v| v * 2f64.powi(power)).collect()).collect()
        };
        let plain = one(times(1.0), times(factor));
        let scaled = one(scale(times(1.0)), scale(times(factor)));
        prop_assert_eq!(plain.words, scaled.words);
    }
}
