//! Distributions: the normal, Student's t and the binomial, computed rather than tabled.
//!
//! Each is good to about 1e-12 relative in the body and 1e-9 in the tails that are asked of it.

use std::f64::consts::{PI, SQRT_2};

/// Natural logarithm of the gamma function for x > 0 (Lanczos, g = 7, nine terms); relative error
/// below 1e-14. NaN for x ≤ 0. O(1).
pub fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let series = COEFFICIENTS[0]
        + COEFFICIENTS[1..].iter().zip(1..).map(|(c, i)| c / (x + f64::from(i))).sum::<f64>();
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

/// Regularised incomplete beta function `I_x(a, b)` by its continued fraction (Lentz's method, as
/// in Abramowitz & Stegun 26.5.8), a, b > 0 and 0 ≤ x ≤ 1. At most 300 terms.
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only below the mean; above it the mirror image does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    front * beta_fraction(a, b, x)
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / keep(1.0 + even * d);
        c = keep(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / keep(1.0 + odd * d);
        c = keep(1.0 + odd / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Complementary error function: its power series below 2, its continued fraction above
/// (Abramowitz & Stegun 7.1.6 and 7.1.14). Relative error below 1e-13.
pub fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.0 {
        let mut term = x;
        let mut sum = x;
        for n in 1..200 {
            term *= 2.0 * x * x / (2.0 * f64::from(n) + 1.0);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return 1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum;
    }
    let mut tail = 0.0;
    for k in (1..=120).rev() {
        tail = f64::from(k) / 2.0 / (x + tail);
    }
    (-x * x).exp() / PI.sqrt() / (x + tail)
}

/// P(Z ≤ z) of the standard normal.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// ln P(Z > z): finite far into the tail, where the probability itself is 0.
pub fn ln_normal_tail(z: f64) -> f64 {
    if z < 30.0 {
        return (0.5 * erfc(z / SQRT_2)).ln();
    }
    // Mills' ratio, first two terms: relative error below 3/z⁴.
    -0.5 * z * z - z.ln() - 0.5 * (2.0 * PI).ln() - 1.0 / (z * z)
}

/// The z with P(Z ≤ z) = p: Acklam's rational approximation and one step of Halley's method.
/// ∓∞ at 0 and 1, NaN outside. O(1).
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p > 0.5 {
        // 1 − p is exact for p ≥ 0.5, and the lower tail keeps its digits.
        return -normal_quantile(1.0 - p);
    }
    let z = rough_normal_quantile(p);
    let error = (normal_cdf(z) - p) * (2.0 * PI).sqrt() * (z * z / 2.0).exp();
    z - error / (1.0 + z * error / 2.0)
}

fn rough_normal_quantile(p: f64) -> f64 {
    let horner = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    if p < 0.024_25 {
        let q = (-2.0 * p.ln()).sqrt();
        let top = [
            -7.784_894_002_430_293e-3,
            -0.322_396_458_041_136_5,
            -2.400_758_277_161_838,
            -2.549_732_539_343_734,
            4.374_664_141_464_968,
            2.938_163_982_698_783,
        ];
        let bottom = [
            7.784_695_709_041_462e-3,
            0.322_467_129_070_039_8,
            2.445_134_137_142_996,
            3.754_408_661_907_416,
            1.0,
        ];
        return horner(&top, q) / horner(&bottom, q);
    }
    let q = p - 0.5;
    let r = q * q;
    let top = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    let bottom = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    horner(&top, r) * q / horner(&bottom, r)
}

/// P(T ≤ t) of Student's t with `df` > 0 degrees of freedom, by the incomplete beta function.
pub fn student_cdf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let tail = 0.5 * incomplete_beta(df / 2.0, 0.5, df / (df + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The t with P(T ≤ t) = p, by Newton's method kept inside a bracket: about ten evaluations of
/// [`student_cdf`]. ∓∞ at 0 and 1, NaN outside or for df ≤ 0.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p >= 0.5 {
        return if p == 0.5 { 0.0 } else { -student_quantile(1.0 - p, df) };
    }
    let ln_scale = ln_gamma((df + 1.0) / 2.0) - ln_gamma(df / 2.0) - 0.5 * (df * PI).ln();
    let density = |t: f64| (ln_scale - (df + 1.0) / 2.0 * (t * t / df).ln_1p()).exp();
    let mut low = -1.0;
    while student_cdf(low, df) > p && low > -1e150 {
        low *= 4.0;
    }
    let (mut high, mut t) = (0.0, normal_quantile(p).max(low));
    for _ in 0..200 {
        let excess = student_cdf(t, df) - p;
        if excess < 0.0 {
            low = t
        } else {
            high = t
        }
        let newton = t - excess / density(t);
        let next = if newton > low && newton < high { newton } else { low / 2.0 + high / 2.0 };
        if (next - t).abs() <= 1e-12 * t.abs() {
            return next;
        }
        t = next;
    }
    t
}

/// P(B ≤ k) of a binomial with `n` trials of probability ½. O(k).
pub fn half_binomial_cdf(k: usize, n: usize) -> f64 {
    if k >= n {
        return 1.0;
    }
    // Summed from the smallest term, in logarithms: n may be large enough for 2⁻ⁿ to vanish.
    let ln_all = n as f64 * 2f64.ln();
    let mut ln_term = -ln_all;
    let mut sum = ln_term.exp();
    for i in 1..=k {
        ln_term += ((n + 1 - i) as f64 / i as f64).ln();
        sum += ln_term.exp();
    }
    sum.min(1.0)
}
