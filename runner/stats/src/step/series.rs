//! A history made ready: finite values in canonical order, and where a step may lie.

use super::Observation;
use crate::{order, robust};

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
        let mut differences: Vec<f64> =
            values.windows(2).map(|w| (w[1] / 2.0 - w[0] / 2.0).abs()).collect();
        let local = order::median_in_place(&mut differences).unwrap_or(0.0);
        let local_scale = local * robust::MAD_TO_SD * std::f64::consts::SQRT_2;
        Series { values, index, group, within, local_scale, dropped }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether a step may begin at `k`: only between different revisions.
    pub(super) fn splits_at(&self, k: usize) -> bool {
        k > 0 && k < self.len() && self.group[k - 1] != self.group[k]
    }
}
