//! Intervals of a share: how many of how many.

/// 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// 95 % interval of a share of which `hits` of `all` were seen, as (low, high), both within 0 to 1;
/// none where nothing was seen or more hits than all.
///
/// Wilson's score interval (Wilson 1927): (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). It
/// stays within 0 to 1 and is honest for few observations, where p ± z·σ is not. O(1).
pub fn wilson(hits: u64, all: u64) -> Option<(f64, f64)> {
    if all == 0 || hits > all {
        return None;
    }
    let (n, p) = (all as f64, hits as f64 / all as f64);
    let square = Z * Z;
    let middle = p + square / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt();
    let scale = 1.0 + square / n;
    // At the ends the formula is exact but for rounding.
    let low = if hits == 0 { 0.0 } else { (middle - half) / scale };
    let high = if hits == all { 1.0 } else { (middle + half) / scale };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::wilson;

    #[test]
    fn the_interval_is_that_of_published_tables() {
        // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (hits, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_low, found_high) = wilson(hits, all).expect("something was seen");
            assert!((found_low - low).abs() < 6e-5, "{hits} of {all}: {found_low}");
            assert!((found_high - high).abs() < 6e-5, "{hits} of {all}: {found_high}");
        }
    }

    #[test]
    fn it_holds_the_share_and_mirrors_its_complement() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(3, 2), None);
        for all in 1..60_u64 {
            for hits in 0..=all {
                let (low, high) = wilson(hits, all).expect("something was seen");
                let share = hits as f64 / all as f64;
                assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
                let (other_low, other_high) = wilson(all - hits, all).expect("as many were seen");
                assert!((low + other_high - 1.0).abs() < 1e-12);
                assert!((high + other_low - 1.0).abs() < 1e-12);
            }
        }
    }
}
