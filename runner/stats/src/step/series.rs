//! A history made ready: finite values in canonical order, and where a step may lie.

use super::Observation;
use super::noise;
use super::test::{Raw, Values};
use crate::order;

/// Values in revision order; runs of one revision sorted among themselves, so that the order they
/// arrived in cannot matter.
pub(super) struct Series {
    pub values: Vec<f64>,
    /// Position of each value in the history given.
    pub index: Vec<usize>,
    /// Number of the revision each value belongs to, 0, 1, 2 …
    pub group: Vec<usize>,
    /// Least scale of one value that its own samples allow; 0 when unknown.
    pub within: f64,
    /// Robust scale of the first differences ÷ √2: the noise, whatever the steps.
    pub local_scale: f64,
    /// Values set aside because they are not finite.
    pub dropped: usize,
    /// The values before those of an upper mode were taken down by the gap, and that.
    pub folded: Option<(Vec<f64>, f64)>,
}

impl Series {
    pub(super) fn new(history: &[Observation]) -> Series {
        let mut kept: Vec<usize> =
            (0..history.len()).filter(|&i| history[i].value.is_finite()).collect();
        kept.sort_by(|&a, &b| {
            let (a, b) = (&history[a], &history[b]);
            a.rank.cmp(&b.rank).then(a.value.total_cmp(&b.value))
        });
        let values = kept.iter().map(|&i| history[i].value).collect();
        let mut group = Vec::with_capacity(kept.len());
        for (at, &i) in kept.iter().enumerate() {
            let number = match at {
                0 => 0,
                _ if history[kept[at - 1]].rank == history[i].rank => group[at - 1],
                _ => group[at - 1] + 1,
            };
            group.push(number);
        }
        let within: Vec<f64> = kept
            .iter()
            .filter_map(|&i| history[i].within.map(|w| w / (history[i].n.max(1) as f64).sqrt()))
            .filter(|w| w.is_finite() && *w >= 0.0)
            .collect();
        // The first value of a revision's group stands for the place of the revision.
        let mut index = kept;
        let mut start = 0;
        for at in 1..=index.len() {
            if at == index.len() || group[at] != group[start] {
                index[start..at].sort_unstable();
                start = at;
            }
        }
        let dropped = history.len() - index.len();
        Series::build(values, index, group, order::median(&within).unwrap_or(0.0), dropped)
    }

    pub(super) fn of_values(values: &[f64]) -> Series {
        let index: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
        let kept: Vec<f64> = index.iter().map(|&i| values[i]).collect();
        let group = (0..kept.len()).collect();
        let dropped = values.len() - kept.len();
        Series::build(kept, index, group, 0.0, dropped)
    }

    fn build(
        values: Vec<f64>,
        index: Vec<usize>,
        group: Vec<usize>,
        within: f64,
        dropped: usize,
    ) -> Series {
        let local_scale = noise::local_scale(&values);
        Series { values, index, group, within, local_scale, dropped, folded: None }
    }

    /// The same places with other values.
    pub(super) fn unfold(&mut self, values: Vec<f64>, gap: f64) {
        self.local_scale = noise::local_scale(&values);
        self.folded = Some((std::mem::replace(&mut self.values, values), gap));
    }

    /// What tests read.
    pub(super) fn values(&self, deflation: [f64; 2]) -> Values<'_> {
        let folded = self.folded.as_ref();
        Values {
            known: None,
            modes: folded.map(|(values, gap)| Raw { values, gap: *gap, deflation: deflation[1] }),
            values: &self.values,
            group: Some(&self.group),
            within: self.within,
            local_scale: self.local_scale,
            deflation: deflation[0],
        }
    }

    /// Whether every value is a revision of its own.
    pub(super) fn one_each(&self) -> bool {
        self.group.last().is_some_and(|&last| last + 1 == self.len())
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether a step may begin at `k`: only between different revisions.
    pub(super) fn splits_at(&self, k: usize) -> bool {
        k > 0 && k < self.len() && self.group[k - 1] != self.group[k]
    }
}
