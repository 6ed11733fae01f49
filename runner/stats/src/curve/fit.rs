//! The law through measured points: n ÷ X(n) is linear in the three coefficients, so every step is
//! a weighted least-squares problem of three unknowns, none negative.

use super::Law;
use crate::{order, special};

/// One measured throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    pub tasks: f64,
    pub throughput: f64,
    /// Relative standard error of the throughput.
    pub error: f64,
}

/// From this many points on one of them may be an outlier, from two more on two; three coefficients
/// bend to fewer.
const ONE_OUT_FROM: usize = 6;

/// Most points among which outliers are looked for.
const MOST_SEARCHED: usize = 40;

/// Chance that a curve without outliers has points left out.
const WRONGLY_OUT: f64 = 0.01;

/// An outlier lies at least so many of its own errors off, and this far at all.
const OWN_ERRORS: f64 = 4.0;
const LEAST_OFF: f64 = 1e-6;

/// The law nearest to the points in relative distance, and the points left out as outliers: one, or
/// two, without which the others agree so much better that chance does not explain it (the F test of
/// points taken out, for all ways to take them). Least squares of all points otherwise, the best
/// there is. O(n³). None when the numbers overflow.
pub(super) fn fit(points: &[Measured]) -> Option<(Law, Vec<usize>)> {
    let law = nearest(points)?;
    let n = points.len();
    if n > MOST_SEARCHED {
        return Some((law, Vec::new()));
    }
    let all = squares(points, &law);
    let ones = || (0..n).map(|i| vec![i]);
    let twos = || (0..n).flat_map(|i| (i + 1..n).map(move |j| vec![i, j]));
    for (count, ways) in [(1, ones().collect::<Vec<_>>()), (2, twos().collect())] {
        if n < ONE_OUT_FROM + 2 * (count - 1) {
            break;
        }
        let without = |out: &Vec<usize>| {
            let kept: Vec<Measured> =
                (0..n).filter(|i| !out.contains(i)).map(|i| points[i]).collect();
            let law = nearest(&kept)?;
            Some((squares(&kept, &law), law))
        };
        let found = ways.iter().filter_map(|out| Some((without(out)?, out)));
        let Some(((left, law), out)) = found.min_by(|a, b| a.0.0.total_cmp(&b.0.0)) else {
            break;
        };
        let p = f_tail((all - left) / left, count, n - 3 - count);
        let far = |i: &usize| {
            let off = (points[*i].throughput / law.throughput(points[*i].tasks)).ln().abs();
            off > (OWN_ERRORS * points[*i].error).max(LEAST_OFF)
        };
        if p * (ways.len() as f64) < WRONGLY_OUT && out.iter().all(far) {
            return Some((law, out.clone()));
        }
    }
    Some((law, Vec::new()))
}

/// P of a ratio of the squares taken away to those left at least this large, by chance.
fn f_tail(ratio: f64, taken: usize, left: usize) -> f64 {
    if ratio.is_nan() {
        return 1.0;
    }
    special::incomplete_beta(left as f64 / 2.0, taken as f64 / 2.0, 1.0 / (1.0 + ratio))
}

/// Weighted squares of the relative distances.
fn squares(points: &[Measured], law: &Law) -> f64 {
    residuals(points, law).iter().zip(weights(points)).map(|(r, w)| w * r * r).sum()
}

/// ln(measured ÷ law) at each point.
pub(super) fn residuals(points: &[Measured], law: &Law) -> Vec<f64> {
    points.iter().map(|p| (p.throughput / law.throughput(p.tasks)).ln()).collect()
}

/// 1 ÷ (error² + the usual error²): noisy points count less, very sure ones not much more.
fn weights(points: &[Measured]) -> Vec<f64> {
    let errors: Vec<f64> = points.iter().map(|p| p.error).collect();
    let usual = order::median(&errors).unwrap_or(0.0);
    let weight = |error: f64| 2.0 * usual * usual / (error * error + usual * usual);
    errors.iter().map(|&e| if usual > 0.0 { weight(e) } else { 1.0 }).collect()
}

/// The law nearest to all of the points: weighted least squares of relative distances, reweighted
/// until nothing moves. O(n) a round. None when the numbers overflow.
pub(super) fn nearest(points: &[Measured]) -> Option<Law> {
    let known = weights(points);
    let mut law = solve(points, &known)?;
    for _ in 0..30 {
        let weights: Vec<f64> = points
            .iter()
            .zip(&known)
            .map(|(point, known)| {
                let expected = point.tasks / law.throughput(point.tasks);
                known / (expected * expected)
            })
            .collect();
        let next = solve_weighted(points, &weights)?;
        let moved = (next.one / law.one - 1.0).abs()
            + (next.contention - law.contention).abs()
            + (next.coherency - law.coherency).abs();
        law = next;
        if moved < 1e-10 {
            break;
        }
    }
    Some(law)
}

/// Least squares in relative terms, with the measured values in the place of the expected ones.
fn solve(points: &[Measured], known: &[f64]) -> Option<Law> {
    let relative = |(p, known): (&Measured, &f64)| known * (p.throughput / p.tasks).powi(2);
    let weights: Vec<f64> = points.iter().zip(known).map(relative).collect();
    solve_weighted(points, &weights)
}

/// Which coefficients are free: the best fit without a negative one is the best over all of these.
const FREE: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];

fn solve_weighted(points: &[Measured], weights: &[f64]) -> Option<Law> {
    // In units of a typical n ÷ X, so that neither large nor small throughputs overflow.
    let unit = points.first().map(|p| p.tasks / p.throughput)?;
    let rows: Vec<([f64; 3], f64)> = points
        .iter()
        .map(|p| {
            let others = p.tasks - 1.0;
            ([1.0, others, others * p.tasks], p.tasks / p.throughput / unit)
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let mut best: Option<(f64, [f64; 3])> = None;
    for free in FREE {
        let Some(found) = least_squares(&rows, weights, free) else { continue };
        if found[0] <= 0.0 || found[1] < 0.0 || found[2] < 0.0 {
            continue;
        }
        let left: f64 = rows
            .iter()
            .zip(weights)
            .map(|((x, y), w)| w / total * (y - dot(x, &found)).powi(2))
            .sum();
        if best.is_none_or(|(least, _)| left < least) {
            best = Some((left, found));
        }
    }
    let (_, [level, linear, quadratic]) = best?;
    let law =
        Law { one: 1.0 / (level * unit), contention: linear / level, coherency: quadratic / level };
    let sound = [law.one, law.contention, law.coherency].iter().all(|v| v.is_finite());
    sound.then_some(law)
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Weighted least squares of the free coefficients by modified Gram–Schmidt, which keeps the digits
/// that normal equations lose; the others are 0. None where they do not tell the points apart.
fn least_squares(rows: &[([f64; 3], f64)], weights: &[f64], free: &[usize]) -> Option<[f64; 3]> {
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let column = |at: usize| -> Vec<f64> {
        rows.iter().zip(&roots).map(|((x, _), root)| x[at] * root).collect()
    };
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut columns: Vec<Vec<f64>> = free.iter().map(|&at| column(at)).collect();
    let mut right: Vec<f64> = rows.iter().zip(&roots).map(|((_, y), root)| y * root).collect();
    let size = free.len();
    let (mut upper, mut along) = ([[0.0; 3]; 3], [0.0; 3]);
    for k in 0..size {
        let before = product(&column(free[k]), &column(free[k])).sqrt();
        let (done, rest) = columns.split_at_mut(k + 1);
        let own = &mut done[k];
        let length = product(own, own).sqrt();
        if length.is_nan() || length <= 1e-10 * before {
            return None;
        }
        upper[k][k] = length;
        own.iter_mut().for_each(|v| *v /= length);
        for (offset, other) in rest.iter_mut().enumerate() {
            let share = product(own, other);
            upper[k][k + 1 + offset] = share;
            other.iter_mut().zip(own.iter()).for_each(|(o, v)| *o -= share * v);
        }
        along[k] = product(own, &right);
        right.iter_mut().zip(own.iter()).for_each(|(r, v)| *r -= along[k] * v);
    }
    let mut found = [0.0; 3];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|j| upper[k][j] * found[free[j]]).sum();
        found[free[k]] = (along[k] - known) / upper[k][k];
    }
    Some(found)
}
