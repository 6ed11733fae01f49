//! The comparison rules of mmtests, as written, faults included and named; formatting is the
//! caller's. In: the pooled samples of two kernels and the metric's direction. Out: the rows of a
//! "Multiops" summary with their percentages, and the star of the main mean.
//!
//! Positive percentages always mean better. The star asks whether two 1.96·sd intervals are
//! disjoint: sd, not standard error, so more samples never earn one. Our verdicts do not use it.

use crate::{Direction, Sample, order, special, summary};

/// Which mean stands for a kernel: the direction decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanKind {
    /// `Hmean`, for metrics where higher is better.
    Harmonic,
    /// `Amean`, for metrics where lower is better.
    Arithmetic,
}

impl From<Direction> for MeanKind {
    fn from(direction: Direction) -> MeanKind {
        match direction {
            Direction::Higher => MeanKind::Harmonic,
            Direction::Lower => MeanKind::Arithmetic,
        }
    }
}

/// A row of the summary, in the order printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Least value.
    Min,
    /// Harmonic or arithmetic mean: the only row that can carry a star.
    Mean,
    /// Deviation of that mean's kind.
    Sd,
    /// 100 · deviation ÷ mean.
    CoeffVar,
    /// Greatest value.
    Max,
    /// Mean of the best 95 % of values.
    Best95,
}

impl Statistic {
    /// Every row, in the order printed.
    pub const ALL: [Statistic; 6] = [
        Statistic::Min,
        Statistic::Mean,
        Statistic::Sd,
        Statistic::CoeffVar,
        Statistic::Max,
        Statistic::Best95,
    ];

    /// The row's name: `Hmean`, `HStddev`, `BHmean.95` … or `Amean`, `Stddev`, `BAmean.95` …
    pub const fn name(self, kind: MeanKind) -> &'static str {
        match (self, kind) {
            (Statistic::Min, _) => "Min",
            (Statistic::Max, _) => "Max",
            (Statistic::Mean, MeanKind::Harmonic) => "Hmean",
            (Statistic::Mean, MeanKind::Arithmetic) => "Amean",
            (Statistic::Sd, MeanKind::Harmonic) => "HStddev",
            (Statistic::Sd, MeanKind::Arithmetic) => "Stddev",
            (Statistic::CoeffVar, MeanKind::Harmonic) => "HCoeffVar",
            (Statistic::CoeffVar, MeanKind::Arithmetic) => "CoeffVar",
            (Statistic::Best95, MeanKind::Harmonic) => "BHmean.95",
            (Statistic::Best95, MeanKind::Arithmetic) => "BAmean.95",
        }
    }
}

/// The summary of one kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Number of values pooled over all iterations.
    pub n: usize,
    /// Which mean `mean` is.
    pub kind: MeanKind,
    /// Least value.
    pub min: f64,
    /// The main mean; none for a harmonic mean of values that are not all positive (where mmtests
    /// prints −1).
    pub mean: Option<f64>,
    /// Sample deviation (n − 1) for `Amean`, delta-method deviation (n) for `Hmean`; none for one
    /// value (where mmtests holds NaN).
    pub sd: Option<f64>,
    /// 100 · sd ÷ mean; 0 where either is missing or the mean is 0, as in mmtests.
    pub coeff_var: f64,
    /// Greatest value.
    pub max: f64,
    /// Mean of the best 95 %; none where the mean is.
    pub best95: Option<f64>,
}

/// Summary of one kernel's pooled samples. O(n log n).
pub fn side(sample: Sample<'_>, direction: Direction) -> Side {
    let kind = MeanKind::from(direction);
    let sorted = order::sorted(sample.values());
    let mean = mean_of(kind, sample);
    let sd = match kind {
        MeanKind::Harmonic => summary::harmonic_sd(sample),
        MeanKind::Arithmetic => summary::sd(sample),
    };
    let coeff_var = match (sd, mean) {
        (Some(sd), Some(mean)) if mean != 0.0 => sd * 100.0 / mean,
        _ => 0.0,
    };
    let best95 = Sample::new(best_95(&sorted, direction)).and_then(|best| mean_of(kind, best));
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    Side { n: sorted.len(), kind, min, mean, sd, coeff_var, max, best95 }
}

fn mean_of(kind: MeanKind, sample: Sample<'_>) -> Option<f64> {
    match kind {
        MeanKind::Harmonic => summary::harmonic_mean(sample),
        MeanKind::Arithmetic => Some(summary::mean(sample)),
    }
}

/// The best 95 %: the floor(0.95 n) least values, or (fault, kept) one more of the greatest, so that
/// up to 20 values of a "higher" metric lose none.
fn best_95(sorted: &[f64], direction: Direction) -> &[f64] {
    let n = sorted.len();
    let kept = n * 95 / 100;
    match direction {
        Direction::Higher => &sorted[n - (kept + 1).min(n)..],
        Direction::Lower if kept == 0 => sorted,
        Direction::Lower => &sorted[..kept],
    }
}

impl Side {
    /// The value of a row; none where mmtests has NaN or −1.
    pub fn value(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Min => Some(self.min),
            Statistic::Mean => self.mean,
            Statistic::Sd => self.sd,
            Statistic::CoeffVar => Some(self.coeff_var),
            Statistic::Max => Some(self.max),
            Statistic::Best95 => self.best95,
        }
    }
}

/// One row of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Which statistic.
    pub statistic: Statistic,
    /// The base's value.
    pub base: Option<f64>,
    /// The head's value.
    pub head: Option<f64>,
    /// Percent change, positive is better; none where a value is missing.
    pub percent: Option<f64>,
    /// Printed between asterisks instead of parentheses; only ever true in the mean's row.
    pub starred: bool,
}

/// Base against head for one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The base's summary.
    pub base: Side,
    /// The head's summary.
    pub head: Side,
    /// The rows, in the order of [`Statistic::ALL`].
    pub rows: Vec<Row>,
}

/// All rows for one label, `head` against `base`. O(n log n).
pub fn compare(base: Sample<'_>, head: Sample<'_>, direction: Direction) -> Comparison {
    let (base, head) = (side(base, direction), side(head, direction));
    let row = |statistic| {
        let spread = matches!(statistic, Statistic::Sd | Statistic::CoeffVar);
        let better = if spread { Direction::Lower } else { direction };
        let (b, h) = (base.value(statistic), head.value(statistic));
        let percent = b.zip(h).map(|(b, h)| percent(b, h, better));
        let starred = statistic == Statistic::Mean && star(&base, &head);
        Row { statistic, base: b, head: h, percent, starred }
    };
    Comparison { base, head, rows: Statistic::ALL.map(row).to_vec() }
}

/// Percent change, positive is better: `100·head/base − 100` for higher, `100 − 100·head/base` for
/// lower. Faults kept: a "higher" head of 0 reads 0 %, a base of 0 reads 100 % (higher) or −99 %
/// (lower).
pub fn percent(base: f64, head: f64, direction: Direction) -> f64 {
    match direction {
        _ if head == base => 0.0,
        Direction::Higher if head == 0.0 => 0.0,
        Direction::Higher if base == 0.0 => 100.0,
        Direction::Higher => head * 100.0 / base - 100.0,
        Direction::Lower if head == 0.0 => 100.0,
        Direction::Lower if base == 0.0 => -99.0,
        Direction::Lower => 100.0 - head * 100.0 / base,
    }
}

/// The star rule: the intervals mean ± 1.96·sd of the two kernels are disjoint, that is
/// |m₁ − m₂| > 1.96·(s₁ + s₂). With both deviations 0 it asks |m₁ − m₂| > 1 (fault: in whatever
/// unit). A missing mean or deviation (one value a side) never earns a star.
pub fn star(base: &Side, head: &Side) -> bool {
    let (Some(m1), Some(m2), Some(s1), Some(s2)) = (base.mean, head.mean, base.sd, head.sd) else {
        return false;
    };
    let distance = (m1 - m2).abs();
    let width = special::normal_quantile(0.975) * (s1 + s2);
    if width == 0.0 { distance > 1.0 } else { distance > width }
}
