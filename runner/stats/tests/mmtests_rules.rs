//! mmtests' rules against published figures and by hand.

use scalewatch_stats::mmtests::{self, MeanKind, Statistic};
use scalewatch_stats::{Direction, Sample};

fn sample(values: &[f64]) -> Sample<'_> {
    Sample::new(values).expect("finite")
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
}

#[test]
fn published_percentages_come_out_to_the_digit() {
    let higher = [
        (36458.33, 23836.55, -34.62),
        (36458.33, 32608.70, -10.56),
        (36458.33, 37300.18, 2.31),
        (12875.54, 12765.96, -0.85),
        (20761.25, 19736.84, -4.93),
        (27149.32, 21660.65, -20.22),
        (32397.41, 27985.08, -13.62),
        (30573.25, 34139.40, 11.66),
        (14283.52, 67982.45, 375.95),
        (14705.88, 14354.07, -2.39),
        (27108.43, 28301.89, 4.40),
    ];
    for (base, head, printed) in higher {
        near(mmtests::percent(base, head, Direction::Higher), printed, 0.006);
    }
    near(mmtests::percent(33.0382, 24.5656, Direction::Lower), 25.64, 0.006);
    near(mmtests::percent(122.9414, 70.9504, Direction::Lower), 42.29, 0.006);
}

#[test]
fn published_percentages_of_the_first_seed_come_out() {
    let printed = [
        (4821.0, 9636.0, 99.8),
        (4784.0, 4834.0, 1.04),
        (314_065.0, 337_597.0, 7.4),
        (316_344.0, 341_440.0, 7.9),
        (15371.0, 22341.0, 45.3),
        (6101.0, 9177.0, 50.4),
        (205_851.0, 219_707.0, 6.7),
        (207_373.0, 215_732.0, 4.0),
        (7568.0, 9862.0, 30.3),
    ];
    for (base, head, percent) in printed {
        near(mmtests::percent(base, head, Direction::Higher), percent, 0.1);
    }
}

#[test]
fn the_direction_decides_the_mean_and_the_sign() {
    let (a, b) = ([10.0, 20.0, 40.0], [20.0, 40.0, 80.0]);
    let higher = mmtests::compare(sample(&a), sample(&b), Direction::Higher);
    assert_eq!(higher.base.kind, MeanKind::Harmonic);
    near(higher.base.mean.expect("positive"), 3.0 / (0.1 + 0.05 + 0.025), 1e-9);
    near(higher.rows[1].percent.expect("both"), 100.0, 1e-9);
    let lower = mmtests::compare(sample(&a), sample(&b), Direction::Lower);
    assert_eq!(lower.base.kind, MeanKind::Arithmetic);
    near(lower.rows[1].percent.expect("both"), -100.0, 1e-9);
    // Spread rows use the lower form whatever the direction.
    for row in [higher.rows[2], higher.rows[3]] {
        assert!(row.percent.expect("both") <= 0.0);
    }
}

#[test]
fn rows_carry_the_names_mmtests_prints() {
    let names = |kind| Statistic::ALL.map(|s| s.name(kind));
    assert_eq!(
        names(MeanKind::Harmonic),
        ["Min", "Hmean", "HStddev", "HCoeffVar", "Max", "BHmean.95"]
    );
    assert_eq!(
        names(MeanKind::Arithmetic),
        ["Min", "Amean", "Stddev", "CoeffVar", "Max", "BAmean.95"]
    );
}

#[test]
fn the_delta_method_deviation_follows_its_formula() {
    let values: [f64; 4] = [100.0, 110.0, 90.0, 130.0];
    let h = 4.0 / values.iter().map(|v| 1.0 / v).sum::<f64>();
    let squares: f64 = values.iter().map(|v| (1.0 / v - 1.0 / h).powi(2)).sum();
    let expected = (squares * h.powi(4) / 4.0).sqrt();
    let side = mmtests::side(sample(&values), Direction::Higher);
    near(side.sd.expect("four values"), expected, 1e-9);
    near(side.coeff_var, 100.0 * expected / h, 1e-9);
}

#[test]
fn a_star_needs_disjoint_intervals_of_two_deviations_and_not_more_samples() {
    let base = [99.0, 100.0, 101.0];
    let shifted = |by: f64| base.map(|v| v + by);
    let starred = |b: &[f64], h: &[f64]| {
        mmtests::compare(sample(b), sample(h), Direction::Lower).rows[1].starred
    };
    // sd = 1 a side, so the limit is 1.96 · 2 = 3.92.
    assert!(!starred(&base, &shifted(3.91)));
    assert!(starred(&base, &shifted(3.93)));
    let many =
        |by: f64| [99.0, 100.0, 101.0].repeat(200).iter().map(|v| v + by).collect::<Vec<_>>();
    assert!(!starred(&many(0.0), &many(3.0)), "600 samples a side do not shrink the interval");
}

#[test]
fn only_the_mean_is_ever_starred() {
    let (a, b) = ([1.0, 1.1, 0.9], [10.0, 10.1, 9.9]);
    let rows = mmtests::compare(sample(&a), sample(&b), Direction::Lower).rows;
    let starred: Vec<Statistic> = rows.iter().filter(|r| r.starred).map(|r| r.statistic).collect();
    assert_eq!(starred, [Statistic::Mean]);
}

#[test]
fn one_value_a_side_never_earns_a_star() {
    for direction in [Direction::Higher, Direction::Lower] {
        let result = mmtests::compare(sample(&[100.0]), sample(&[10_000.0]), direction);
        assert!(!result.rows.iter().any(|r| r.starred));
        assert_eq!(result.base.sd, None);
        assert_eq!(result.base.coeff_var, 0.0);
    }
}

#[test]
fn constant_sides_are_starred_when_they_differ_by_more_than_one_unit() {
    let starred = |b: f64, h: f64| {
        mmtests::compare(sample(&[b; 3]), sample(&[h; 3]), Direction::Lower).rows[1].starred
    };
    assert!(!starred(5.0, 5.0));
    assert!(!starred(5.0, 6.0));
    assert!(starred(5.0, 6.5));
}

#[test]
fn the_best_95_percent_keep_one_more_value_when_higher_is_better() {
    let values: Vec<f64> = (1..=15).map(f64::from).collect();
    let lower = mmtests::side(sample(&values), Direction::Lower);
    near(lower.best95.expect("values"), 7.5, 1e-12);
    let higher = mmtests::side(sample(&values), Direction::Higher);
    assert_eq!(higher.best95, higher.mean);
    let forty: Vec<f64> = (1..=40).map(f64::from).collect();
    let kept = &forty[1..];
    let expected = kept.len() as f64 / kept.iter().map(|v| 1.0 / v).sum::<f64>();
    near(mmtests::side(sample(&forty), Direction::Higher).best95.expect("values"), expected, 1e-9);
}

#[test]
fn zero_and_negative_values_have_defined_answers() {
    let side = mmtests::side(sample(&[0.0, 1.0]), Direction::Higher);
    assert_eq!((side.mean, side.sd, side.best95), (None, None, None));
    assert_eq!(mmtests::percent(0.0, 5.0, Direction::Higher), 100.0);
    assert_eq!(mmtests::percent(5.0, 0.0, Direction::Higher), 0.0);
    assert_eq!(mmtests::percent(0.0, 5.0, Direction::Lower), -99.0);
    assert_eq!(mmtests::percent(5.0, 0.0, Direction::Lower), 100.0);
    assert_eq!(mmtests::percent(0.0, 0.0, Direction::Lower), 0.0);
}
