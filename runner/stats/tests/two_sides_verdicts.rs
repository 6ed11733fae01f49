//! Verdicts, words and evidence of the two-sided judgement, degenerate data included.

use proptest::prelude::*;
use scalewatch_stats::random::Random;
use scalewatch_stats::two_sides::{CurveJudgement, History, Policy, Sides, judge};
use scalewatch_stats::{Direction, Verdict};

fn runs(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|&v| vec![v, v * 1.0005, v * 0.9995]).collect()
}

fn point(tasks: u32, base: Vec<Vec<f64>>, head: Vec<Vec<f64>>) -> Sides {
    Sides::new(tasks, base, head)
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
    assert_eq!(curve.words, "+16.3 % at 1, −2.6 % at 80 (unconfirmed)");
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
fn a_change_below_the_floor_that_is_well_known_is_no_change_however_large() {
    let mut sides = point(2, times(1.0), times(0.667));
    sides.noise_floor = 0.8;
    assert_eq!(judged(&[sides]).points[0].verdict, Verdict::NoChange);
}

#[test]
fn evidence_lists_every_inequality_and_the_one_that_decided() {
    let point = &one(times(1.0), times(0.9)).points[0];
    assert_eq!(point.verdict, Verdict::Regression);
    let evidence = &point.evidence;
    assert_eq!(evidence.used.len(), 10);
    assert_eq!(evidence.inequalities.len(), 5);
    assert!(evidence.inequalities.iter().all(|i| i.holds));
    assert_eq!(evidence.decided_by, Some(4));
}

#[test]
fn more_points_widen_the_interval() {
    let alone = one(times(1.0), times(1.01)).points[0].ratio.expect("positive");
    let points: Vec<Sides> = (0..10).map(|i| point(i, times(1.0), times(1.01))).collect();
    let curve = judged(&points);
    let together = curve.points[0].ratio.expect("positive");
    assert!(together.1 < alone.1 && alone.2 < together.2);
    assert!((curve.points[0].level - 0.9992).abs() < 1e-12);
}

#[test]
fn one_wild_run_is_never_a_change_and_leaves_too_little_to_say_there_is_none() {
    let mut head = times(1.0);
    head[2] = vec![400.0; 3];
    let curve = one(times(1.0), head);
    assert_eq!(curve.points[0].verdict, Verdict::NotEnoughData);
    assert!(curve.words.starts_with("not enough data: known only within ±3"), "{}", curve.words);
    let line = &curve.points[0].evidence;
    let line = &line.inequalities[line.decided_by.expect("decided")];
    assert!(line.what == "half of the 95 % interval" && line.right == 0.25, "{line:?}");
}

#[test]
fn noise_wider_than_a_quarter_is_not_enough_data_and_never_no_change() {
    let noisy = |factor: f64| runs(&[40.0, 220.0, 100.0, 300.0, 60.0].map(|v| v * factor));
    let curve = one(noisy(1.0), noisy(1.1));
    assert_eq!(curve.points[0].verdict, Verdict::NotEnoughData);
    assert!(curve.words.starts_with("not enough data: known only within "), "{}", curve.words);
    let shifted = |runs: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        runs.into_iter().map(|r| r.into_iter().map(|v| v - 150.0).collect()).collect()
    };
    let signed = one(shifted(noisy(1.0)), shifted(noisy(1.1)));
    assert_eq!(signed.points[0].verdict, Verdict::NotEnoughData);
    assert_eq!(signed.points[0].ratio, None);
}

/// Builds that differ by 1 % of 100, each with its five runs.
fn earlier(builds: usize) -> History {
    let level = |i: usize| 100.0 + [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5][i % 7];
    History::Builds((0..builds).map(|i| FIVE.map(|v| v * level(i) / 100.0).to_vec()).collect())
}

#[test]
fn earlier_builds_decide_what_counts_and_both_parts_of_the_scale_are_shown() {
    let with = |builds, factor| {
        let sides = Sides { history: earlier(builds), ..point(1, times(1.0), times(factor)) };
        judged(&[sides]).points.remove(0)
    };
    let small = with(20, 1.02);
    assert_eq!(small.verdict, Verdict::NoChange, "two builds of one code differ by as much");
    let large = with(20, 1.06);
    assert_eq!((large.verdict, large.unconfirmed), (Verdict::Improvement, false));
    let notes = large.evidence.notes.join("; ");
    assert!(notes.contains("between builds: 0.98 % beyond what runs explain, from 20"), "{notes}");
    assert!(notes.contains("within a build: 0.32 % a run, 0.14 % for the runs"), "{notes}");
    assert!(notes.contains("against the base and its history together"), "{notes}");
    assert_eq!(large.evidence.inequalities[0].what, "earlier builds");
    let few = with(14, 1.02);
    assert_eq!((few.verdict, few.unconfirmed), (Verdict::Improvement, true));
    assert!(few.words().ends_with(", unconfirmed"), "{}", few.words());
    assert!(few.evidence.notes.iter().any(|n| n.starts_with("unconfirmed: 14 builds of history")));
}

#[test]
fn history_lets_one_run_a_side_be_judged() {
    let single = |v: f64| vec![vec![v]];
    let with = |head| Sides { history: earlier(20), ..point(4, single(100.3), single(head)) };
    assert_eq!(judged(&[with(100.9)]).points[0].verdict, Verdict::NoChange);
    assert_eq!(judged(&[with(90.0)]).points[0].verdict, Verdict::Regression);
    let nothing = Sides { history: earlier(20), ..point(4, single(100.0), Vec::new()) };
    assert_eq!(judged(&[nothing]).points[0].verdict, Verdict::NotEnoughData);
}

#[test]
fn a_base_that_left_its_history_stands_alone() {
    let sides = |head| Sides { history: earlier(20), ..point(1, times(1.2), times(head)) };
    let same = judged(&[sides(1.2)]);
    assert_eq!(same.points[0].verdict, Verdict::NoChange, "the step lies before the base");
    let notes = same.points[0].evidence.notes.join("; ");
    assert!(notes.contains("the base does not stand with its history"), "{notes}");
    let (ratio, _, _) = judged(&[sides(1.32)]).points[0].ratio.expect("positive");
    assert!((ratio - 1.1).abs() < 1e-9, "{ratio}");
}

#[test]
fn constant_builds_and_then_a_jump_are_a_change() {
    let builds = History::Builds(vec![vec![7.0; 5]; 20]);
    let five = |v: f64| vec![vec![v]; 5];
    let sides = |head| Sides { history: builds.clone(), ..point(1, five(7.0), five(head)) };
    let verdict = |head| judged(&[sides(head)]).points[0].verdict;
    assert_eq!(verdict(7.0), Verdict::NoChange);
    assert_eq!(verdict(8.0), Verdict::Improvement);
    assert_eq!(verdict(7.01), Verdict::NoChange, "below the least effect");
    assert_eq!(verdict(-7.0), Verdict::Regression);
    assert_eq!(verdict(0.0), Verdict::Regression);
}

#[test]
fn what_is_one_build_needs_no_history() {
    let small = point(1, times(1.0), times(1.01));
    assert!(judged(std::slice::from_ref(&small)).points[0].unconfirmed);
    let same = judged(&[Sides { history: History::OneBuild, ..small.clone() }]);
    assert_eq!(same.points[0].verdict, Verdict::Improvement);
    assert!(!same.points[0].unconfirmed);
    let floor = judged(&[Sides { noise_floor: 0.003, ..small }]);
    assert!(!floor.points[0].unconfirmed, "a measured floor tells how builds differ");
}

/// Runs of two sides in turns on a machine whose speed wanders by a tenth, each off by `noise`.
fn in_turns(random: &mut Random, pairs: usize, noise: f64, ratio: f64) -> Sides {
    let mut speed = 100.0;
    let (mut base, mut head) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        speed *= (0.1 * random.normal()).exp();
        let mut run = |level: f64| vec![speed * level * (1.0 + noise * random.normal())];
        base.push(run(1.0));
        head.push(run(ratio));
    }
    Sides { history: History::OneBuild, paired: true, ..Sides::new(1, base, head) }
}

#[test]
fn sides_that_took_turns_are_compared_in_pairs_whatever_the_machine_did() {
    let mut random = Random::new(3);
    for pairs in [6, 40] {
        let sides = in_turns(&mut random, pairs, 0.002, 1.02);
        let apart = Sides { paired: false, ..sides.clone() };
        assert_ne!(judged(&[apart]).points[0].verdict, Verdict::Improvement, "{pairs}");
        let point = &judged(&[sides]).points[0];
        assert_eq!(point.verdict, Verdict::Improvement, "{pairs}");
        let (ratio, low, high) = point.ratio.expect("positive values");
        assert!((1.015..1.025).contains(&ratio) && low > 1.0 && high < 1.04, "{point:?}");
        assert!(point.evidence.notes.iter().any(|note| note.contains("took turns")));
    }
}

#[test]
fn pairs_of_equal_sides_are_called_as_seldom_as_the_policy_says() {
    let mut random = Random::new(4);
    for pairs in [4, 8, 30] {
        let called = (0..3000)
            .filter(|_| {
                let sides = in_turns(&mut random, pairs, 0.02, 1.0);
                judged(&[sides]).points[0].verdict.is_change()
            })
            .count();
        assert!(called <= 45, "{called} of 3000 at {pairs} pairs: more than 1.5 %");
    }
}

#[test]
fn sides_that_are_not_whole_pairs_are_compared_as_two_samples() {
    let mut random = Random::new(5);
    let mut sides = in_turns(&mut random, 8, 0.002, 1.0);
    sides.head.pop();
    let whole = Sides { paired: false, ..sides.clone() };
    assert_eq!(judged(std::slice::from_ref(&sides)), judged(&[whole]));
    sides.head.push(Vec::new());
    let notes = &judged(&[sides]).points[0].evidence.notes;
    assert!(!notes.iter().any(|note| note.contains("took turns")), "{notes:?}");
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
    fn no_input_panics(
        base in any_runs(),
        head in any_runs(),
        builds in prop::collection::vec(prop::collection::vec(any::<f64>(), 0..4), 0..20),
        floor in any::<f64>(),
    ) {
        let history = History::Builds(builds);
        let sides = Sides { noise_floor: floor, history, ..Sides::new(1, base, head) };
        let curve = judged(&[sides.clone(), sides]);
        prop_assert_eq!(curve.points.len(), 2);
    }

    #[test]
    fn swapping_the_sides_swaps_the_verdict(factor in 0.5f64..2.0) {
        let swap = |v: Verdict| match v {
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
