//! What earlier builds of a point tell: where builds of one code lie, and how far apart.

use super::units::pooled_sd;
use crate::{Sample, order, special, summary, words};

/// Builds of history from which on their variation counts as known: with fewer, its estimate is too
/// often too small.
pub const LEAST_BUILDS: usize = 15;

/// Nine of ten runs lie this near to the median of their build, or nearer; a run further than
/// [`REACH`] times that is counted as if it lay there. A spike then moves its build little, while
/// two modes, each with a tenth of the runs or more, stay what they are.
const USUAL_SHARE: f64 = 0.9;
const REACH: f64 = 1.25;

/// Widens the error for the scale being learnt from the builds it judges.
const CAUTION: f64 = 1.03;

/// The base stands with its history when it lies within this many standard errors of it.
const STANDS_WITH: f64 = 2.5;

/// The sides' own deviation replaces the history's when half of their runs lie this many times as
/// far from their median: a spike alone does not.
const NOISIER: f64 = 2.0;

/// Earlier builds, the base among them where it stands with them, on the scale of the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Builds {
    /// Number of earlier builds.
    pub count: usize,
    /// Deviation of builds beyond what their runs explain.
    pub between: f64,
    /// Deviation of the runs of one build.
    pub within: f64,
    /// Level the head is held against, and its variance.
    level: f64,
    level_variance: f64,
    /// Whether that level is the base's alone, which does not stand with its history.
    pub base_alone: bool,
    /// Head − base alone.
    pub direct: f64,
    direct_error: f64,
    head: f64,
    head_runs: f64,
}

impl Builds {
    /// Learns from the run values of each earlier build, and places the sides. None below
    /// [`LEAST_BUILDS`] builds. O(runs · log runs).
    pub fn learn(builds: &[Vec<f64>], base: &[f64], head: &[f64]) -> Option<Builds> {
        if builds.len() < LEAST_BUILDS || base.is_empty() || head.is_empty() {
            return None;
        }
        let reach = reach(builds.iter().map(Vec::as_slice).chain([base]));
        let location = |runs: &[f64]| -> Option<f64> {
            let middle = order::median(runs)?;
            let pulled: Vec<f64> = runs.iter().map(|v| (v - middle).clamp(-reach, reach)).collect();
            Some(middle + summary::mean(Sample::new(&pulled)?))
        };
        let values: Vec<f64> = builds.iter().filter_map(|runs| location(runs)).collect();
        let count = values.len() as f64;
        let (centre, observed) = mean_and_variance(&values)?;
        let within = within(builds, reach);
        let inverse = builds.iter().map(|runs| 1.0 / runs.len() as f64).sum::<f64>() / count;
        let between = (observed - within * inverse).max(0.0);
        let usual = order::median(&distances(builds.iter().map(Vec::as_slice))).unwrap_or(0.0);
        let own = order::median(&distances([base, head].into_iter())).unwrap_or(0.0);
        let within = match pooled_sd(base, head) {
            Some((sd, _)) if own > NOISIER * usual => within.max(sd * sd),
            _ => within,
        };
        let variance = |runs: &[f64]| between + within / runs.len() as f64;
        let (base_value, head_value) = (location(base)?, location(head)?);
        let centre_variance = observed.max(within * inverse) / count;
        let base_variance = variance(base);
        let stands =
            (base_value - centre).abs() <= STANDS_WITH * (centre_variance + base_variance).sqrt();
        let (level, level_variance) = match (stands, centre_variance + base_variance) {
            (true, both) if both > 0.0 => {
                let share = centre_variance / both;
                (centre + share * (base_value - centre), share * base_variance)
            }
            _ => (base_value, base_variance),
        };
        Some(Builds {
            count: values.len(),
            between: between.sqrt(),
            within: within.sqrt(),
            level,
            level_variance,
            base_alone: !stands,
            direct: head_value - base_value,
            direct_error: (base_variance + variance(head)).sqrt(),
            head: head_value,
            head_runs: head.len() as f64,
        })
    }

    /// Head − level.
    pub fn shift(&self) -> f64 {
        self.head - self.level
    }

    /// Deviation of a build with as many runs as the head: what builds differ by, and never less
    /// than within ÷ √runs.
    pub fn scale(&self) -> f64 {
        (self.between.powi(2) + self.within.powi(2) / self.head_runs).sqrt()
    }

    /// What the runs alone would let such a build vary by: within ÷ √runs.
    pub fn within_share(&self) -> f64 {
        self.within / self.head_runs.sqrt()
    }

    /// Standard error of the shift.
    pub fn error(&self) -> f64 {
        CAUTION * (self.scale().powi(2) + self.level_variance).sqrt()
    }

    /// In words: the two parts of the scale apart, and what the base stands for.
    pub fn notes(&self, logarithmic: bool) -> [String; 3] {
        let figure = |value: f64| match logarithmic {
            true => words::share(value),
            false => words::figure(value),
        };
        let level = match self.base_alone {
            true => "the base does not stand with its history: the head is held against it alone",
            false => "the head is held against the base and its history together",
        };
        [
            format!(
                "between builds: {} beyond what runs explain, from {} earlier builds",
                figure(self.between),
                self.count
            ),
            format!(
                "within a build: {} a run, {} for the runs of the head; scale {}",
                figure(self.within),
                figure(self.within_share()),
                figure(self.scale())
            ),
            level.to_owned(),
        ]
    }

    /// Degrees of freedom of the scale.
    pub fn df(&self) -> f64 {
        self.count as f64 - 1.0
    }

    /// What |direct| must exceed, for the head has to differ from the base itself too: the end of its
    /// one-sided 90 % interval.
    pub fn least_direct(&self) -> f64 {
        special::student_quantile(0.9, self.df()) * self.direct_error
    }
}

fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let sample = Sample::new(values)?;
    Some((summary::mean(sample), summary::sd(sample)?.powi(2)))
}

/// Distance of each run from the median of its build, where there are three.
fn distances<'a>(builds: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut distances = Vec::new();
    for runs in builds.filter(|runs| runs.len() >= 3) {
        let middle = order::median(runs).expect("three runs have a median");
        distances.extend(runs.iter().map(|v| (v - middle).abs()));
    }
    distances
}

/// How far a run may lie from its build's median; infinite where no build has three runs.
fn reach<'a>(builds: impl Iterator<Item = &'a [f64]>) -> f64 {
    match Sample::new(&distances(builds)) {
        Some(distances) => REACH * summary::quantile(distances, USUAL_SHARE),
        None => f64::INFINITY,
    }
}

/// Variance of the runs of one build, pooled over builds; 0 where each has one run.
fn within(builds: &[Vec<f64>], reach: f64) -> f64 {
    let (mut squares, mut df) = (0.0, 0.0);
    for runs in builds {
        let middle = order::median(runs).unwrap_or(0.0);
        let pulled: Vec<f64> = runs.iter().map(|v| (v - middle).clamp(-reach, reach)).collect();
        let n = runs.len() as f64;
        let variance = Sample::new(&pulled).map_or(0.0, |s| summary::population_sd(s).powi(2));
        squares += variance * n;
        df += n - 1.0;
    }
    if df > 0.0 { squares / df } else { 0.0 }
}
