//! What judging point by point must do whatever the data, and what it promises on seeded histories.

#[path = "support/found.rs"]
mod found;
#[path = "support/history.rs"]
mod history;

use found::{Count, count, online, whole};
use history::{History, Noise, histories, normal};
use scalewatch_stats::random::Random;
use scalewatch_stats::step::{Buffers, Online, Policy};
use scalewatch_stats::{Direction, Verdict};

fn counted(histories: &[History], tell: fn(&[f64]) -> Vec<(usize, usize)>) -> Count {
    let mut sum = Count::default();
    for one in histories {
        let truth: Vec<usize> = one.truth.iter().map(|(at, _)| *at).collect();
        sum.add(&count(one.values.len(), &truth, &tell(&one.values)).0);
    }
    sum
}

fn split(histories: &[History]) -> (Vec<History>, Vec<History>) {
    histories.iter().cloned().partition(|one| one.noise == Noise::Sticky)
}

/// 495 histories, 148 500 points. What is measured lies well inside: see docs/detection.md.
#[test]
fn whole_series_are_judged_as_promised_in_nine_shapes_of_noise() {
    let all = histories(31);
    let sum = counted(&all, whole);
    println!("F1 {} wrong {} exact {}", sum.f1(), sum.wrong_per_1000(), sum.exact_share());
    assert!(sum.f1() >= 0.85, "F1 {}", sum.f1());
    assert!(sum.wrong_per_1000() <= 0.5, "{} in 1000", sum.wrong_per_1000());
    assert!(sum.exact_share() >= 0.80, "{} at their place", sum.exact_share());
}

#[test]
fn point_by_point_alarms_are_few_and_soon() {
    let all = [histories(33), histories(34)].concat();
    let (sticky, others) = split(&all);
    let (sticky, others) = (counted(&sticky, online), counted(&others, online));
    println!("others: {} in 1000, recall {}", others.wrong_per_1000(), others.recall());
    println!("sticky: {} in 1000, recall {}", sticky.wrong_per_1000(), sticky.recall());
    assert!(others.wrong_per_1000() <= 0.30, "{} in 1000", others.wrong_per_1000());
    assert!(others.precision() >= 0.88 && others.recall() >= 0.74, "{}", others.recall());
    assert!(sticky.wrong_per_1000() <= 3.5, "{} in 1000 of sticky modes", sticky.wrong_per_1000());
    assert!(sticky.recall() >= 0.5, "recall of sticky modes {}", sticky.recall());
    assert!(others.delay(0.5) <= 4, "median delay {}", others.delay(0.5));
}

#[test]
fn a_large_step_is_told_with_its_third_point_and_its_begin() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let history = Noise::Normal.history(&mut random, 80, 0.005, &[(50, 1.1)]);
        let told = online(&history.values);
        assert_eq!(told, [(50, 53)], "seed {seed}");
    }
}

#[test]
fn what_was_told_does_not_depend_on_what_comes_after() {
    for one in histories(35).iter().step_by(21) {
        let all = online(&one.values);
        for cut in [40, 90, 155, 222, 299] {
            let early: Vec<_> = all.iter().copied().filter(|(_, seen)| *seen <= cut).collect();
            assert_eq!(online(&one.values[..cut]), early, "{:?} cut at {cut}", one.noise);
        }
    }
}

#[test]
fn a_step_told_carries_its_lines_verdict_and_levels() {
    let history = Noise::Normal.history(&mut Random::new(3), 90, 0.01, &[(60, 1.0 / 1.1)]);
    let mut series = Online::new(Direction::Higher, Policy::default());
    let mut buffers = Buffers::default();
    let told: Vec<_> =
        history.values.iter().filter_map(|&v| series.push(v, &mut buffers)).collect();
    assert_eq!(told.len(), 1);
    let evidence = &told[0].evidence;
    assert_eq!((told[0].index, told[0].verdict), (60, Verdict::Regression));
    assert!(told[0].before > told[0].after);
    assert!(evidence.inequalities.len() >= 4 && evidence.inequalities.iter().all(|i| i.holds));
    assert_eq!(evidence.decided_by, Some(evidence.inequalities.len() - 1));
}

#[test]
fn degenerate_points_have_defined_answers() {
    let after = |before: &[f64], value: f64| online(&[before, &[value; 12]].concat());
    let none: [(usize, usize); 0] = [];
    assert_eq!(online(&[]), none);
    assert_eq!(online(&[1.0]), none);
    assert_eq!(online(&[1.0, 2.0]), none);
    assert_eq!(online(&[f64::NAN; 50]), none);
    // A constant, then a jump: no noise at all, and it must be told.
    for (before, value) in
        [(7.0, 8.0), (0.0, 9.0), (9.0, 0.0), (-5.0, -9.0), (1e-12, 2e-12), (1e15, 2e15)]
    {
        let told = after(&[before; 40], value);
        assert!(
            told.len() == 1 && told[0].0 == 40 && told[0].1 <= 46,
            "{before} to {value}: {told:?}"
        );
    }
    let integers: Vec<f64> = (0..60).map(|i| f64::from(1000 + i % 3)).collect();
    assert_eq!(online(&integers), none);
    assert_eq!(after(&integers, 1500.0).first().map(|told| told.0), Some(60));
}

#[test]
fn a_value_that_is_not_finite_takes_no_number() {
    let mut values = Noise::Normal.history(&mut Random::new(4), 80, 0.005, &[(50, 1.1)]).values;
    values.insert(20, f64::NAN);
    values.insert(30, f64::INFINITY);
    assert_eq!(online(&values), [(50, 55)]);
}

#[test]
fn a_million_equal_points_and_five_thousand_that_wander_stay_within_eight_kilobytes() {
    let mut buffers = Buffers::default();
    let mut series = Online::new(Direction::Higher, Policy::default());
    for _ in 0..1_000_000 {
        assert_eq!(series.push(5.0, &mut buffers), None);
    }
    assert!(series.size() <= 8192, "{} bytes", series.size());
    let (mut random, mut level) = (Random::new(6), 100.0);
    let mut wanders = Online::new(Direction::Higher, Policy::default());
    for _ in 0..5_000 {
        level += normal(&mut random);
        let wild = if random.unit() < 0.02 { 40.0 * normal(&mut random) } else { 0.0 };
        wanders.push(level + wild, &mut buffers);
        assert!(wanders.size() <= 8192, "{} bytes", wanders.size());
    }
}
