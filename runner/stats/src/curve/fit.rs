//! The law through measured points: n ÷ X(n) is linear in the three coefficients, so every step is
//! a weighted least-squares problem of three unknowns, none negative.

use super::Law;
use crate::{order, robust};

/// One measured throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    pub tasks: f64,
    pub throughput: f64,
    /// Relative standard error of the throughput.
    pub error: f64,
}

/// From this many points on one of them may be an outlier; three coefficients bend to fewer.
const ROBUST_FROM: usize = 6;

/// Tukey's biweight: points further off than this many deviations have no weight.
const BIWEIGHT: f64 = 4.685;

/// Most points of which all triples are tried as a start.
const MOST_TRIED: usize = 24;

/// The law nearest to the points in relative distance. O(n) a step, O(n⁴) once for the start with up
/// to 24 points. None when the numbers overflow.
pub(super) fn fit(points: &[Measured], start: Option<Law>) -> Option<Law> {
    let known = weights(points);
    let plain = || solve(points, &known);
    if points.len() < ROBUST_FROM {
        return refine(points, &known, plain()?, false);
    }
    let start = match start {
        Some(start) => start,
        None => best_of_triples(points).or_else(plain)?,
    };
    refine(points, &known, start, true)
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

/// Reweights for relative distances, and against outliers, until nothing moves.
fn refine(points: &[Measured], known: &[f64], start: Law, robust: bool) -> Option<Law> {
    let mut law = start;
    for _ in 0..30 {
        let residuals = residuals(points, &law);
        let scale = if robust { scale(points, &residuals) } else { f64::INFINITY };
        let weights: Vec<f64> = points
            .iter()
            .zip(known)
            .zip(&residuals)
            .map(|((point, known), residual)| {
                let expected = point.tasks / law.throughput(point.tasks);
                known * biweight(residual / scale) / (expected * expected)
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

/// Robust deviation of the residuals, three degrees of freedom spent; never below what the points'
/// own errors explain.
fn scale(points: &[Measured], residuals: &[f64]) -> f64 {
    let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    let n = points.len() as f64;
    let seen = robust::MAD_TO_SD * order::median(&sizes).unwrap_or(0.0) * n / (n - 3.0);
    let errors: Vec<f64> = points.iter().map(|p| p.error).collect();
    seen.max(order::median(&errors).unwrap_or(0.0)).max(1e-9)
}

fn biweight(deviations: f64) -> f64 {
    let share = deviations / BIWEIGHT;
    if share.abs() >= 1.0 { 0.0 } else { (1.0 - share * share).powi(2) }
}

/// Least squares in relative terms, with the measured values in the place of the expected ones.
fn solve(points: &[Measured], known: &[f64]) -> Option<Law> {
    let relative = |(p, known): (&Measured, &f64)| known * (p.throughput / p.tasks).powi(2);
    let weights: Vec<f64> = points.iter().zip(known).map(relative).collect();
    solve_weighted(points, &weights)
}

/// The exact law through some three points that lies nearest to most: least median of distances
/// (Rousseeuw 1984).
fn best_of_triples(points: &[Measured]) -> Option<Law> {
    let n = points.len().min(MOST_TRIED);
    let mut best: Option<(f64, Law)> = None;
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                let triple = [points[i], points[j], points[k]];
                let Some(law) = solve(&triple, &[1.0; 3]) else { continue };
                let mut sizes: Vec<f64> =
                    residuals(points, &law).into_iter().map(f64::abs).collect();
                let Some(median) = order::median_in_place(&mut sizes) else { continue };
                if best.is_none_or(|(least, _)| median < least) {
                    best = Some((median, law));
                }
            }
        }
    }
    best.map(|(_, law)| law)
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
