//! LKP's rules against published figures and by hand.

use scalewatch_stats::lkp::{self, Comparison, Key, Options, Rule};
use scalewatch_stats::{Direction, Verdict};

fn with(rule: Rule, base: &[f64], head: &[f64]) -> Comparison {
    lkp::compare(base, head, Direction::Higher, rule, Options::default())
}

fn overlap(base: &[f64], head: &[f64]) -> Comparison {
    with(Rule::Overlap, base, head)
}

#[test]
fn published_changes_come_out_to_the_digit() {
    let published = [
        (493_145.0, 387_892.0, -21.3),
        (12193.0, 12883.0, 5.7),
        (2_222_456.0, 3_160_841.4, 42.2),
        (3_666_313.0, 4_288_509.1, 17.0),
    ];
    for (base, head, printed) in published {
        let percent = overlap(&[base; 3], &[head; 3]).percent.expect("positive base");
        assert!((percent - printed).abs() < 0.051, "{percent} against {printed}");
    }
}

#[test]
fn the_spread_is_shown_only_above_two_percent_and_cut_to_a_whole_number() {
    let side = |values: &[f64]| overlap(values, &[1.0; 3]).base.expect("values");
    assert_eq!(side(&[98.0, 102.0]).shown_percent(), None, "exactly 2 %");
    assert_eq!(side(&[97.0, 103.0]).shown_percent(), Some(3));
    assert_eq!(side(&[92.5, 107.5]).shown_percent(), Some(7));
    assert_eq!(side(&[0.0, 0.0]).relative_sd_percent(), None);
}

#[test]
fn each_side_must_lie_beyond_the_others_middle_value() {
    assert!(overlap(&[100.0, 101.0, 104.0], &[90.0, 95.0, 99.0]).changed);
    // Ranges overlap, yet each lies beyond the other's middle: LKP calls it changed.
    assert!(overlap(&[100.0, 104.0, 105.0], &[90.0, 92.0, 103.0]).changed);
    assert!(!overlap(&[100.0, 104.0, 105.0], &[90.0, 92.0, 104.0]).changed);
    assert!(!overlap(&[100.0; 3], &[100.0; 3]).changed);
}

#[test]
fn the_middle_of_an_even_number_is_the_upper_one() {
    let base = overlap(&[1.0, 2.0, 3.0, 4.0], &[1.0]).base.expect("values");
    assert_eq!(base.middle, 3.0);
}

#[test]
fn sides_are_skipped_only_when_both_have_fewer_than_three_runs() {
    let both = overlap(&[100.0, 101.0], &[50.0, 51.0]);
    assert!(both.too_few && !both.changed);
    assert_eq!(both.verdict, Verdict::NotEnoughData);
    let one = overlap(&[100.0, 101.0, 102.0], &[50.0]);
    assert!(!one.too_few && one.changed, "one run against three passes: their fault, kept");
    let whole = Options { whole: true, ..Options::default() };
    let asked = lkp::compare(&[100.0], &[50.0], Direction::Higher, Rule::Overlap, whole);
    assert_eq!(asked.verdict, Verdict::Regression);
}

#[test]
fn the_size_filter_asks_for_one_percent_or_five() {
    let (base, head) = ([100.0; 3], [103.0; 3]);
    assert_eq!(overlap(&base, &head).verdict, Verdict::Improvement);
    let counter = Options { perf_metric: false, ..Options::default() };
    let result = lkp::compare(&base, &head, Direction::Higher, Rule::Overlap, counter);
    assert!(result.changed && !result.large_enough);
    assert_eq!(result.verdict, Verdict::NoChange);
    assert_eq!(overlap(&base, &[100.9; 3]).verdict, Verdict::NoChange);
    assert_eq!(overlap(&base, &[900.0; 3]).ratio, Some(5.0), "capped");
}

#[test]
fn the_direction_gives_the_word() {
    let (base, head) = ([100.0; 3], [50.0; 3]);
    let word = |direction| {
        lkp::compare(&base, &head, direction, Rule::Overlap, Options::default()).verdict
    };
    assert_eq!(word(Direction::Higher), Verdict::Regression);
    assert_eq!(word(Direction::Lower), Verdict::Improvement);
}

#[test]
fn distance_never_calls_touching_integers_and_ignores_its_own_number_from_three_runs_on() {
    let five = Rule::Distance(5.0);
    assert!(!with(five, &[10.0, 10.0, 10.0], &[11.0, 11.0, 11.0]).changed);
    assert!(with(five, &[10.0, 10.0, 10.0], &[12.0, 12.0, 12.0]).changed);
    let (base, head) = ([100.0, 104.0, 108.0], [120.0, 124.0, 128.0]);
    // Gap 12, half the difference of the middles 10.
    assert!(with(five, &base, &head).changed);
    assert!(with(Rule::Distance(500.0), &base, &head).changed);
    assert!(!with(five, &base, &[110.5, 124.0, 128.0]).changed);
}

#[test]
fn distance_multiplies_the_range_when_a_side_has_fewer_than_three_runs() {
    let whole = Options { whole: true, ..Options::default() };
    let changed = |head: &[f64]| {
        let rule = Rule::Distance(5.0);
        lkp::compare(&[100.0, 104.0], head, Direction::Higher, rule, whole).changed
    };
    assert!(!changed(&[124.0, 125.0]), "gap 20 is not above 5 · 4");
    assert!(changed(&[124.5, 125.0]));
}

#[test]
fn gap_and_variance_follow_their_rules() {
    let (base, head) = ([100.0, 104.0, 108.0], [120.0, 124.0, 128.0]);
    assert!(with(Rule::Gap(0.5), &base, &head).changed, "gap 12 > 0.5 · 20");
    assert!(!with(Rule::Gap(0.7), &base, &head).changed);
    let narrow: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i) * 0.1).collect();
    let wide: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i)).collect();
    assert!(with(Rule::Variance(5.0), &narrow, &wide).changed);
    assert!(!with(Rule::Variance(20.0), &narrow, &wide).changed);
    assert!(!with(Rule::Variance(5.0), &narrow[..9], &wide).changed, "nine runs are too few");
}

#[test]
fn values_are_trimmed_by_one_in_thirty_two_from_each_end() {
    let values: Vec<f64> = (0..64).map(f64::from).collect();
    let base = overlap(&values, &[1.0]).base.expect("values");
    assert_eq!((base.trimmed, base.min, base.max), (2, 2.0, 61.0));
    let many: Vec<f64> = (0..500).map(f64::from).collect();
    assert_eq!(overlap(&many, &[1.0]).base.expect("values").trimmed, 3);
    assert_eq!(overlap(&[1.0; 3], &many).head.expect("values").trimmed, 1);
    let failures = Options { key: Key::Failure, ..Options::default() };
    let untrimmed = lkp::compare(&many, &many, Direction::Lower, Rule::Overlap, failures);
    assert_eq!(untrimmed.base.expect("values").trimmed, 0);
}

#[test]
fn failures_change_when_their_greatest_value_does_and_latencies_never() {
    let of = |key| {
        let options = Options { key, ..Options::default() };
        let (base, head) = ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        lkp::compare(&base, &head, Direction::Lower, Rule::Overlap, options).changed
    };
    assert!(of(Key::Failure));
    assert!(!of(Key::Latency));
}

#[test]
fn missing_values_are_dropped_and_an_empty_side_says_too_few() {
    let dropped = overlap(&[-1.0, 100.0, 101.0, 102.0], &[50.0; 3]);
    assert_eq!(dropped.base.expect("values").n, 3);
    for empty in [&[][..], &[-1.0], &[f64::NAN, f64::INFINITY]] {
        let result = overlap(empty, &[1.0; 3]);
        assert_eq!((result.verdict, result.base), (Verdict::NotEnoughData, None));
    }
}

#[test]
fn a_zero_base_gives_no_percentage() {
    let result = overlap(&[0.0; 3], &[5.0; 3]);
    assert_eq!((result.percent, result.ratio), (None, None));
    assert!(result.changed && result.large_enough);
}

#[test]
fn the_display_filter_hides_negative_and_very_noisy_keys() {
    assert!(overlap(&[-5.0; 3], &[5.0; 3]).hidden);
    assert!(overlap(&[0.0, 0.0, 30.0], &[5.0; 3]).hidden);
    assert!(!overlap(&[10.0, 11.0, 12.0], &[5.0; 3]).hidden);
}
