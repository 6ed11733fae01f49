//! Scales that a few wild values cannot move.

use crate::{Sample, order};

/// Makes the median absolute deviation consistent with the standard deviation of a normal:
/// 1 / Φ⁻¹(¾).
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// Median absolute deviation from the median, unscaled. 0 when more than half are equal. O(n).
pub fn mad(sample: Sample<'_>) -> f64 {
    mad_of(sample.values()).expect("a sample has at least one value")
}

/// As [`mad`], of plain values; none when empty.
pub(crate) fn mad_of(values: &[f64]) -> Option<f64> {
    let centre = order::median(values)?;
    let mut deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    order::median_in_place(&mut deviations)
}

/// Robust standard deviation: 1.4826 · MAD · b(n), b the small-sample correction of Croux and
/// Rousseeuw (1992) for n ≤ 9 and n / (n − 0.8) beyond. None for one value. O(n).
pub fn scale(sample: Sample<'_>) -> Option<f64> {
    let n = sample.values().len();
    (n > 1).then(|| MAD_TO_SD * mad(sample) * mad_correction(n))
}

fn mad_correction(n: usize) -> f64 {
    const SMALL: [f64; 8] = [1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107];
    match n {
        0 | 1 => 1.0,
        2..=9 => SMALL[n - 2],
        _ => n as f64 / (n as f64 - 0.8),
    }
}

/// Qn of Rousseeuw and Croux (1993): the k-th smallest distance |xᵢ − xⱼ|, i < j, with
/// k = C(⌊n/2⌋ + 1, 2), times 2.2219 and the paper's small-sample factor. More efficient than the
/// MAD (82 % at the normal) and needs no centre. None for one value. O(n²): for n up to a few
/// hundred.
pub fn qn(sample: Sample<'_>) -> Option<f64> {
    const SMALL: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];
    let values = sample.values();
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mut distances = Vec::with_capacity(n * (n - 1) / 2);
    for (i, a) in values.iter().enumerate() {
        distances.extend(values[i + 1..].iter().map(|b| (a - b).abs()));
    }
    let half = n / 2 + 1;
    let k = half * (half - 1) / 2;
    let (_, &mut distance, _) = distances.select_nth_unstable_by(k - 1, f64::total_cmp);
    let size = n as f64;
    let factor = match n {
        2..=9 => SMALL[n - 2],
        _ if n % 2 == 1 => size / (size + 1.4),
        _ => size / (size + 3.8),
    };
    Some(2.2219 * factor * distance)
}
