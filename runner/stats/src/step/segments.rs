//! From the likeliest course to the splits that stand: prune, place, ask more of what toggles.

use super::density::Density;
use super::noise::Noise;
use super::regimes::{self, Regime};
use super::series::Series;
use super::test::{self, Numbers, Scratch};
use super::weed::weed;
use super::{Policy, returns};
use crate::order;

/// Rounds of placing and pruning anew.
const ROUNDS: usize = 3;

/// What was found in a series.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// First positions of new levels, in order.
    pub splits: Vec<usize>,
    /// The numbers of each split's test.
    pub numbers: Vec<Numbers>,
    /// Whether each is a step; else it only bounds its neighbours' segments.
    pub supported: Vec<bool>,
    /// What divides every ln p: of the values as tested, and as they came.
    pub deflation: [f64; 2],
    /// Where the course changes though no level does.
    pub regimes: Vec<Regime>,
}

/// Every step of the series, which is left with the values that were tested: see
/// [`Series::folded`]. O(n log n).
pub(super) fn find(series: &mut Series, policy: &Policy) -> Found {
    let mut found = Found { deflation: [1.0; 2], ..Found::default() };
    let Some(mut noise) = Noise::learn(&series.values, |t| series.splits_at(t)) else {
        return found;
    };
    if let Some(unfolded) = noise.unfold(&series.values) {
        series.unfold(unfolded, noise.modes.map_or(0.0, |modes| modes.gap));
        noise.modes = None;
        noise.density = noise.density_about(&series.values, &noise.path.splits);
    }
    found.splits = std::mem::take(&mut noise.path.splits);
    let mut scratch = Scratch::default();
    prune(series, &mut found, policy, &mut scratch);
    for _ in 0..ROUNDS {
        let before = found.splits.clone();
        place_all(series, &mut found.splits, &noise.density);
        if found.splits == before {
            break;
        }
        prune(series, &mut found, policy, &mut scratch);
    }
    found.regimes = regimes::find(series, &found.splits, policy);
    found.supported = supported(series, &found, policy);
    found
}

/// Whether each split is more than a visit to a level, or a mode, that the series goes to and fro
/// between.
fn supported(series: &Series, found: &Found, policy: &Policy) -> Vec<bool> {
    let supported = |(i, numbers): (usize, &Numbers)| {
        let at = bounds(&found.splits, i, series.len());
        let (shown, asked) = returns::support(&series.values, at, numbers);
        numbers.is_no_visit(policy) && (series.folded.is_some() || shown >= asked)
    };
    found.numbers.iter().enumerate().map(supported).collect()
}

/// Start of the segment before split `i`, the split, end of the segment after it.
pub(super) fn bounds(splits: &[usize], i: usize, n: usize) -> (usize, usize, usize) {
    let start = if i == 0 { 0 } else { splits[i - 1] };
    let end = splits.get(i + 1).copied().unwrap_or(n);
    (start, splits[i], end)
}

/// Tests every split and removes the weakest that fails, until none does. O(splits · segment log
/// segment).
fn prune(series: &Series, found: &mut Found, policy: &Policy, scratch: &mut Scratch) {
    let Found { splits, numbers, deflation, .. } = found;
    // Runs of one revision stand sorted: their neighbours resemble each other for no other reason.
    if series.one_each() {
        deflation[0] = test::deflation(&series.values, splits, scratch);
        if let Some((folded, _)) = &series.folded {
            deflation[1] = test::deflation(folded, splits, scratch);
        }
    }
    let of = series.values(*deflation);
    *numbers = weed(splits, series.len(), |at| {
        let numbers = test::numbers(of, at, scratch);
        let fault = (!numbers.passes(policy)).then(|| numbers.strength(policy));
        (numbers, fault)
    });
}

/// Moves each split to where the deviations from the two medians are likeliest. O(n).
fn place_all(series: &Series, splits: &mut [usize], density: &Density) {
    for i in 0..splits.len() {
        let at = bounds(splits, i, series.len());
        splits[i] = place(&series.values, at, density, |k| series.splits_at(k));
    }
}

/// The likeliest place of the split at `k` of `start..end`, between the middles of its segments.
pub(super) fn place(
    values: &[f64],
    (start, k, end): (usize, usize, usize),
    density: &Density,
    may_begin: impl Fn(usize) -> bool,
) -> usize {
    let median = |s: &[f64]| order::median(s).unwrap_or(f64::NAN);
    let (before, after) = (median(&values[start..k]), median(&values[k..end]));
    let (low, high) = (start + (k - start) / 2, k + (end - k).div_ceil(2));
    let (mut cost, mut least, mut best) = (0.0, f64::INFINITY, k);
    for j in low.max(start + 1)..high.min(end) {
        let value = values[j - 1];
        cost += density.cost(value - before) - density.cost(value - after);
        if may_begin(j) && cost < least {
            (least, best) = (cost, j);
        }
    }
    best
}
