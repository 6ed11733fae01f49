//! `UnixBench`'s rules against published scores and indexes.

use scalewatch_stats::unixbench::{Pass, Score, index, overall, score};

fn passes(counts: &[f64]) -> Vec<Pass> {
    counts.iter().map(|&count| Pass { count, seconds: 10.0 }).collect()
}

fn one_decimal(value: f64) -> String {
    format!("{value:.1}")
}

#[test]
fn published_scores_have_their_published_indexes() {
    for (lps, published) in [
        (3_160_841.4, "2107.2"),
        (2_222_456.0, "1481.6"),
        (4_288_509.1, "2859.0"),
        (3_666_313.0, "2444.2"),
    ] {
        let score = score(&passes(&[lps * 10.0]), 1.0).unwrap();
        assert_eq!((one_decimal(score.value), score.passes), (one_decimal(lps), 1));
        assert_eq!(one_decimal(index(score.value, 15_000.0)), published);
    }
}

#[test]
fn the_lowest_third_of_the_passes_is_dropped() {
    for (n, kept) in [(1, 1), (2, 2), (3, 2), (4, 3), (6, 4), (9, 6), (10, 7)] {
        // From the highest down, so that the order of the passes cannot matter.
        let counts: Vec<f64> = (0..n).rev().map(|i| 10.0 * 2f64.powi(i)).collect();
        let score = score(&passes(&counts), 1.0).unwrap();
        assert_eq!(score.passes, kept);
        let dropped = n as usize - kept;
        let middle = 2f64.powf((dropped as f64 + f64::from(n - 1)) / 2.0);
        assert!((score.value / middle - 1.0).abs() < 1e-12, "{n}: {score:?}");
    }
}

#[test]
fn the_timebase_makes_a_rate_of_a_count_and_0_leaves_it() {
    let pass = [Pass { count: 300.0, seconds: 30.0 }];
    assert_eq!(score(&pass, 1.0).map(|s| one_decimal(s.value)), Some("10.0".into()));
    assert_eq!(score(&pass, 60.0).map(|s| one_decimal(s.value)), Some("600.0".into()));
    assert_eq!(score(&pass, 0.0).map(|s| one_decimal(s.value)), Some("300.0".into()));
}

#[test]
fn the_time_shown_is_the_mean_of_the_kept_passes() {
    let passes = [(10.0, 99.0), (20.0, 10.0), (30.0, 11.0)];
    let passes = passes.map(|(count, seconds)| Pass { count, seconds });
    let Score { seconds, passes, .. } = score(&passes, 0.0).unwrap();
    assert_eq!((seconds, passes), (10.5, 2));
}

#[test]
fn a_pass_that_counted_nothing_has_no_score_unless_it_is_dropped() {
    assert_eq!(score(&[], 1.0), None);
    assert_eq!(score(&passes(&[0.0, 0.0]), 1.0), None);
    assert!(score(&passes(&[0.0, 5.0, 5.0]), 1.0).is_some());
    assert_eq!(score(&[Pass { count: 5.0, seconds: 0.0 }], 1.0), None);
    assert_eq!(overall(&[]), None);
    assert_eq!(overall(&[100.0, 0.0]), None);
}

#[test]
fn the_overall_index_is_a_geometric_mean() {
    assert_eq!(overall(&[10.0, 1000.0]).map(one_decimal), Some("100.0".into()));
    assert_eq!(overall(&[2107.2]).map(one_decimal), Some("2107.2".into()));
}
