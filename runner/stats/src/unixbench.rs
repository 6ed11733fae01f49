//! `UnixBench`'s arithmetic as written: the worst third of the passes is dropped, the score is the
//! geometric mean of the rest, the index is ten times the score over a workstation of 1995.

/// One pass of a test: what all its copies counted, and how long they took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// Loops, or kilobytes; summed over the copies.
    pub count: f64,
    /// Seconds; the mean of the copies' times.
    pub seconds: f64,
}

/// What a test's passes come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Geometric mean of the kept passes' rates.
    pub value: f64,
    /// Mean time of the kept passes, seconds.
    pub seconds: f64,
    /// Passes kept.
    pub passes: usize,
}

/// The score of some passes: sorted by count, the lowest ⌊n/3⌋ dropped, then the geometric mean of
/// count ÷ (seconds ÷ `timebase`). A timebase of 0 says that a count is a rate already. None when
/// there is no pass, or one whose rate is no positive number.
pub fn score(passes: &[Pass], timebase: f64) -> Option<Score> {
    let mut passes = passes.to_vec();
    passes.sort_by(|a, b| a.count.total_cmp(&b.count));
    let kept = &passes[passes.len() / 3..];
    let rate = |pass: &Pass| match timebase > 0.0 {
        true => pass.count / (pass.seconds / timebase),
        false => pass.count,
    };
    let value = geometric_mean(kept.iter().map(rate))?;
    let seconds = kept.iter().map(|pass| pass.seconds).sum::<f64>() / kept.len() as f64;
    Some(Score { value, seconds, passes: kept.len() })
}

/// The index of a score: 10 is what the workstation did that gave the baselines.
pub fn index(score: f64, baseline: f64) -> f64 {
    score / baseline * 10.0
}

/// The index of several tests: the geometric mean of theirs. None of nothing.
pub fn overall(indexes: &[f64]) -> Option<f64> {
    geometric_mean(indexes.iter().copied())
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0u32);
    for value in values {
        if !(value.is_finite() && value > 0.0) {
            return None;
        }
        sum += value.ln();
        n += 1;
    }
    (n > 0).then(|| (sum / f64::from(n)).exp())
}
