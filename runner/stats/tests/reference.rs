//! Against numbers computed elsewhere (`support/reference.rs` says where and how).

#[path = "support/reference.rs"]
mod tables;

use scalewatch_stats::interval::{self, hodges_lehmann};
use scalewatch_stats::rank::{self, mann_whitney};
use scalewatch_stats::{Sample, robust, special, summary};

fn sample(values: &[f64]) -> Sample<'_> {
    Sample::new(values).expect("finite")
}

#[track_caller]
fn near(ours: f64, theirs: f64, relative: f64) {
    let tolerance = relative * theirs.abs().max(1e-300);
    assert!((ours - theirs).abs() <= tolerance, "{ours:e} against {theirs:e}");
}

#[test]
fn the_normal_distribution() {
    for &(z, p) in tables::NORMAL_CDF {
        near(special::normal_cdf(z), p, 1e-12);
    }
    for &(p, z) in tables::NORMAL_QUANTILE {
        if z == 0.0 {
            assert!(special::normal_quantile(p).abs() < 1e-15)
        } else {
            near(special::normal_quantile(p), z, 1e-11)
        }
    }
    for &(z, ln_p) in tables::LN_NORMAL_TAIL {
        near(special::ln_normal_tail(z), ln_p, 1e-8);
    }
}

#[test]
fn student_s_distribution_and_the_incomplete_beta_function() {
    for &(p, df, t) in tables::STUDENT_QUANTILE {
        near(special::student_quantile(p, df), t, 1e-9);
        near(special::student_cdf(t, df), p, 1e-9);
    }
    for &(a, b, x, value) in tables::INCOMPLETE_BETA {
        near(special::incomplete_beta(a, b, x), value, 1e-11);
    }
}

#[test]
fn distributions_answer_at_their_edges() {
    assert_eq!(special::normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(special::student_quantile(1.0, 3.0), f64::INFINITY);
    assert!(special::normal_quantile(f64::NAN).is_nan());
    assert!(special::student_quantile(0.5, -1.0).is_nan());
    assert!(special::student_cdf(f64::NAN, 2.0).is_nan());
    assert_eq!(special::student_quantile(0.5, 2.0), 0.0);
    assert!(special::ln_gamma(0.0).is_nan());
    near(special::ln_gamma(0.25), 1.288_022_524_698_077_5, 1e-12);
    assert_eq!(special::half_binomial_cdf(9, 9), 1.0);
}

#[test]
fn the_rank_test_is_exact_with_and_without_ties() {
    for &(base, head, u, p) in tables::MANN_WHITNEY {
        let test = mann_whitney(sample(base), sample(head));
        assert!(test.exact);
        near(test.u, u, 1e-12);
        near(test.p, p, 1e-9);
    }
    for &(base, head, u, p) in tables::MANN_WHITNEY_LARGE {
        let test = mann_whitney(sample(base), sample(head));
        assert!(!test.exact);
        near(test.u, u, 1e-12);
        near(test.p, p, 1e-9);
    }
}

#[test]
fn the_null_counts_sum_to_the_number_of_arrangements_and_are_symmetric() {
    assert_eq!(rank::null_counts(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
    let counts = rank::null_counts(5, 4);
    assert_eq!(counts.iter().sum::<f64>(), 126.0);
    assert!(counts.iter().eq(counts.iter().rev()));
}

#[test]
fn welch_s_test() {
    for &(base, head, [t, df, p, low, high]) in tables::WELCH {
        let test = interval::welch(sample(base), sample(head), 0.95).expect("both vary");
        for (ours, theirs) in [(test.t, t), (test.df, df), (test.p, p)] {
            near(ours, theirs, 1e-9);
        }
        near(test.difference.low, low, 1e-9);
        near(test.difference.high, high, 1e-9);
    }
    assert_eq!(interval::welch(sample(&[1.0; 3]), sample(&[2.0; 3]), 0.95), None);
    assert_eq!(interval::welch(sample(&[1.0]), sample(&[2.0, 3.0]), 0.95), None);
}

#[test]
fn summaries() {
    for &(values, [mean, sd, harmonic, geometric, q10, q50, q90, mad]) in tables::SUMMARIES {
        let s = sample(values);
        near(summary::mean(s), mean, 1e-13);
        near(summary::sd(s).expect("two or more"), sd, 1e-12);
        near(summary::harmonic_mean(s).expect("positive"), harmonic, 1e-13);
        near(summary::geometric_mean(s).expect("positive"), geometric, 1e-13);
        near(summary::quantile(s, 0.1), q10, 1e-12);
        near(summary::quantile(s, 0.9), q90, 1e-12);
        near(summary::median(s), q50, 1e-12);
        near(robust::mad(s), mad, 1e-12);
    }
}

#[test]
fn the_median_s_interval_is_the_narrowest_that_covers() {
    for &(n, k, level) in tables::MEDIAN_COVERAGE {
        let values: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        let found = interval::median_interval(sample(&values), 0.95).expect("six reach 95 %");
        assert_eq!((found.low, found.high), (k as f64, (n + 1 - k) as f64), "n = {n}");
        near(found.level, level, 1e-12);
    }
    assert_eq!(interval::median_interval(sample(&[1.0, 2.0, 3.0, 4.0, 5.0]), 0.95), None);
}

#[test]
fn the_shift_of_hodges_and_lehmann_has_its_exact_interval() {
    // Five against five: 95 % is reached by dropping two of the 25 differences at each end.
    let base = [1.0, 2.0, 3.0, 4.0, 5.0];
    let head = base.map(|v| v + 10.0);
    let found = hodges_lehmann(sample(&base), sample(&head), 0.95);
    assert_eq!(found.shift, 10.0);
    let interval = found.interval.expect("reachable");
    assert_eq!((interval.low, interval.high), (7.0, 13.0));
    near(interval.level, 1.0 - 2.0 * 4.0 / 252.0, 1e-12);
    assert_eq!(hodges_lehmann(sample(&base), sample(&head), 0.995).interval, None);
}
