//! Properties of summaries, scales and intervals.

mod support;

use proptest::prelude::*;
use scalewatch_stats::random::Random;
use scalewatch_stats::{Sample, interval, robust, summary};
use support::{SHAPES, Shape};

fn sample(values: &[f64]) -> Sample<'_> {
    Sample::new(values).expect("finite")
}

#[test]
fn a_large_level_does_not_swallow_the_deviation() {
    let values = [1e15, 1e15 + 1.0, 1e15 + 2.0];
    assert_eq!(summary::sd(sample(&values)), Some(1.0));
    assert_eq!(summary::mean(sample(&values)), 1e15 + 1.0);
    assert_eq!(summary::population_sd(sample(&[3.0])), 0.0);
}

#[test]
fn samples_refuse_nothing_and_the_infinite() {
    for bad in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
        assert_eq!(Sample::new(bad), None);
    }
}

#[test]
fn one_value_has_no_deviation_and_means_need_positive_values() {
    let one = sample(&[4.0]);
    let s = summary::summarise(one);
    assert_eq!((s.n, s.mean, s.sd, s.min, s.median, s.max), (1, 4.0, None, 4.0, 4.0, 4.0));
    assert_eq!((robust::scale(one), robust::qn(one)), (None, None));
    for bad in [[0.0, 1.0], [-1.0, 1.0]] {
        assert_eq!(summary::harmonic_mean(sample(&bad)), None);
        assert_eq!(summary::geometric_mean(sample(&bad)), None);
    }
}

#[test]
fn trimming_cuts_whole_values_from_each_end() {
    let values = [1000.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -900.0];
    assert_eq!(summary::trimmed_mean(sample(&values), 0.1), 4.5);
    assert!((summary::trimmed_mean(sample(&values), 0.0) - 13.6).abs() < 1e-9);
    assert_eq!(summary::trimmed_mean(sample(&values), 0.5), 4.5);
    assert_eq!(summary::trimmed_mean(sample(&[2.0]), 0.5), 2.0);
}

/// Mean of the scale over 2000 normal samples of deviation 1; its standard error is below 0.02.
#[test]
fn robust_scales_are_unbiased_for_normal_samples_of_every_size() {
    let mut random = Random::new(5);
    for n in [3, 4, 5, 8, 9, 10, 15, 40] {
        let (mut by_mad, mut by_qn) = (0.0, 0.0);
        for _ in 0..2000 {
            let values: Vec<f64> = (0..n).map(|_| support::normal(&mut random)).collect();
            by_mad += robust::scale(sample(&values)).expect("n > 1") / 2000.0;
            by_qn += robust::qn(sample(&values)).expect("n > 1") / 2000.0;
        }
        assert!((by_mad - 1.0).abs() < 0.08, "MAD, n = {n}: {by_mad}");
        assert!((by_qn - 1.0).abs() < 0.08, "Qn, n = {n}: {by_qn}");
    }
}

#[test]
fn half_of_wild_values_less_one_cannot_move_a_robust_scale_far() {
    let mut values: Vec<f64> = (0..21).map(|i| f64::from(i) / 10.0).collect();
    let clean = (robust::mad(sample(&values)), robust::qn(sample(&values)).expect("n > 1"));
    values[13..].iter_mut().for_each(|v| *v += 1e9);
    assert!(robust::mad(sample(&values)) < 4.0 * clean.0);
    assert!(robust::qn(sample(&values)).expect("n > 1") < 4.0 * clean.1);
}

/// 1500 samples of 25: 92–96.5 % holds for percentile intervals, whose coverage is a little short.
#[test]
fn a_resampled_interval_covers_about_as_often_as_it_says_and_the_seed_fixes_it() {
    let mut random = Random::new(6);
    let median = |values: &[f64]| summary::median(sample(values));
    let covered = (0..1500)
        .filter(|&i| {
            let values = Shape::Normal.values(&mut random, 25, 10.0, 0.1);
            let found = interval::bootstrap(sample(&values), median, 0.95, 400, i).expect("finite");
            found.low <= 10.0 && 10.0 <= found.high
        })
        .count();
    assert!((1365..=1470).contains(&covered), "{covered} of 1500");
    for shape in SHAPES {
        let values = shape.values(&mut random, 9, 10.0, 0.1);
        let at = |seed| interval::bootstrap(sample(&values), median, 0.9, 200, seed);
        assert_eq!(at(1), at(1), "{shape:?}");
    }
}

#[test]
fn a_ratio_of_medians_needs_sound_sides() {
    let (base, head) = (vec![vec![1.0, 2.0], vec![1.5]], vec![vec![3.0]; 2]);
    let found = interval::ratio_of_medians(&base, &head, 0.9, 300, 1).expect("positive");
    assert!(found.low <= 2.0 && 2.0 <= found.high);
    assert_eq!(interval::ratio_of_medians(&[], &head, 0.9, 300, 1), None);
    assert_eq!(interval::ratio_of_medians(&[vec![]], &head, 0.9, 300, 1), None);
    assert_eq!(interval::ratio_of_medians(&[vec![0.0]], &head, 0.9, 300, 1), None);
    assert_eq!(interval::ratio_of_medians(&base, &[vec![f64::NAN]], 0.9, 300, 1), None);
}

/// 2000 samples of 12 and a level of 95 %: exact intervals cover at least that, less three errors.
#[test]
fn exact_intervals_cover_at_least_as_often_as_they_say() {
    let mut random = Random::new(7);
    let (mut median, mut student, mut shift) = (0, 0, 0);
    for _ in 0..2000 {
        let a: Vec<f64> = (0..12).map(|_| support::normal(&mut random)).collect();
        let b: Vec<f64> = (0..10).map(|_| support::normal(&mut random)).collect();
        let m = interval::median_interval(sample(&a), 0.95).expect("n ≥ 6");
        median += usize::from(m.low <= 0.0 && 0.0 <= m.high);
        let t = interval::student(sample(&a), 0.95).expect("n > 1");
        student += usize::from(t.low <= 0.0 && 0.0 <= t.high);
        let s = interval::hodges_lehmann(sample(&a), sample(&b), 0.95).interval.expect("enough");
        shift += usize::from(s.low <= 0.0 && 0.0 <= s.high);
    }
    for covered in [median, student, shift] {
        assert!(covered >= 1870, "{covered} of 2000");
    }
    assert!(student <= 1930, "{student} of 2000");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn summaries_are_ordered_and_do_not_depend_on_order(
        mut values in prop::collection::vec(-1e12f64..1e12, 1..50)
    ) {
        let s = summary::summarise(sample(&values));
        prop_assert!(s.min <= s.median && s.median <= s.max);
        prop_assert!(s.min <= s.mean && s.mean <= s.max);
        values.reverse();
        let r = summary::summarise(sample(&values));
        prop_assert_eq!((s.n, s.min, s.median, s.max), (r.n, r.min, r.median, r.max));
        prop_assert!((s.mean - r.mean).abs() <= 1e-9 * s.mean.abs().max(1.0));
    }

    #[test]
    fn means_keep_their_order(values in prop::collection::vec(1e-3f64..1e6, 2..50)) {
        let s = sample(&values);
        let (h, g) = (summary::harmonic_mean(s), summary::geometric_mean(s));
        let (h, g, a) = (h.expect("positive"), g.expect("positive"), summary::mean(s));
        prop_assert!(h <= g * (1.0 + 1e-12) && g <= a * (1.0 + 1e-12));
    }

    #[test]
    fn no_finite_value_panics_or_gives_nan(
        values in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..20)
    ) {
        let s = sample(&values);
        prop_assert!(summary::mean(s).is_finite());
        prop_assert!(summary::median(s).is_finite());
        for p in [0.0, 0.3, 1.0, -1.0, f64::NAN] {
            prop_assert!(summary::quantile(s, p).is_finite());
        }
        prop_assert!(!robust::mad(s).is_nan());
        interval::hodges_lehmann(s, s, 0.95);
        scalewatch_stats::rank::mann_whitney(s, s);
    }
}
