//! The likeliest course of levels: a value costs what its deviation from the level costs, a change
//! of level a fixed price. Exact on a grid of levels, one value at a time, never looking ahead
//! (Bellman's recursion; optimal partitioning, Jackson and others 2005): O(levels) a value.

use super::density::{Density, HALF};

/// What a change of level costs, in nats. The step test asks for about ten; this only proposes.
pub(super) const PRICE: f64 = 8.0;

/// Cells of the grid in one scale of the noise.
pub(super) const CELLS_PER_SCALE: f64 = 3.0;

/// Levels are handled in bundles that fit vector registers.
const LANES: usize = 8;

/// Levels on a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    pub low: f64,
    pub width: f64,
    levels: usize,
}

impl Grid {
    /// From `low` to `high` in cells of a fraction of `scale`, or coarser where that many do not
    /// fit; none when `scale` is no scale.
    pub(super) fn new(low: f64, high: f64, scale: f64) -> Option<Grid> {
        let most = HALF - LANES;
        let width = (scale / CELLS_PER_SCALE).max((high / 2.0 - low / 2.0) / (most / 2) as f64);
        let levels = ((high - low) / width).ceil();
        let fits = width > 0.0 && width.is_finite() && levels.is_finite();
        let levels = (levels.max(0.0) as usize + 1).next_multiple_of(LANES).min(HALF);
        fits.then_some(Grid { low, width, levels })
    }

    /// The grid with as many more levels as it takes to reach `value`; none where they do not fit.
    pub(super) fn reaching(&self, value: f64) -> Option<Grid> {
        let below = ((self.low - value) / self.width).ceil().max(0.0);
        let above = ((value - self.high()) / self.width).ceil().max(0.0);
        let more = below + above;
        let levels = (self.levels + more.min(HALF as f64) as usize).next_multiple_of(LANES);
        let low = self.low - below * self.width;
        (levels <= HALF - LANES).then_some(Grid { low, levels, ..*self })
    }

    /// The highest level.
    pub(super) fn high(&self) -> f64 {
        self.low + (self.levels - 1) as f64 * self.width
    }
}

/// The recursion's state: for each level, the cost of the best course of all values so far that
/// ends at it, and where its last segment begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Course {
    grid: Grid,
    price: f32,
    /// Cost of the best course when these costs were written.
    least: f32,
    costs: Vec<[f32; LANES]>,
    begins: Vec<[u32; LANES]>,
}

/// End of the best course so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End {
    /// Number of the value with which the last segment begins.
    pub begin: u32,
    /// Its level.
    pub level: f64,
}

impl Course {
    /// Before any value; the first will have number `first`.
    pub(super) fn new(grid: Grid, price: f64, first: u32) -> Course {
        Course {
            grid,
            price: price as f32,
            least: 0.0,
            costs: vec![[0.0; LANES]; grid.levels / LANES],
            begins: vec![[first; LANES]; grid.levels / LANES],
        }
    }

    /// Takes value number `at`; a segment may begin with it only if `may_begin`.
    pub(super) fn push(&mut self, value: f64, at: u32, may_begin: bool, density: &Density) -> End {
        let row = density.costs((value - self.grid.low) / self.grid.width, self.grid.levels);
        let (row, _) = row.as_chunks::<LANES>();
        let price = if may_begin { self.price } else { f32::INFINITY };
        let before = self.least;
        let mut least = [f32::INFINITY; LANES];
        for ((costs, begins), row) in self.costs.iter_mut().zip(&mut self.begins).zip(row) {
            // One lane like the other, without a branch: the compiler makes vectors of it.
            let stay = costs.map(|c| c - before);
            let kept: [u32; LANES] =
                std::array::from_fn(|l| if stay[l] <= price { u32::MAX } else { 0 });
            *begins = std::array::from_fn(|l| (begins[l] & kept[l]) | (at & !kept[l]));
            *costs =
                std::array::from_fn(|l| (if stay[l] <= price { stay[l] } else { price }) + row[l]);
            least = std::array::from_fn(|l| if costs[l] < least[l] { costs[l] } else { least[l] });
        }
        self.least = least.into_iter().fold(f32::INFINITY, f32::min);
        self.end()
    }

    pub(super) fn grid(&self) -> Grid {
        self.grid
    }

    /// Bytes of its state.
    pub(super) fn size(&self) -> usize {
        self.costs.len() * LANES * 2 * size_of::<f32>()
    }

    /// The end of the best course. O(levels).
    pub(super) fn end(&self) -> End {
        let has_best =
            |costs: &[f32; LANES]| costs.iter().fold(false, |any, c| any | (*c == self.least));
        let bundle = self.costs.iter().position(has_best).unwrap_or(0);
        let lane = self.costs[bundle].iter().position(|c| *c == self.least).unwrap_or(0);
        End {
            begin: self.begins[bundle][lane],
            level: self.grid.low + (bundle * LANES + lane) as f64 * self.grid.width,
        }
    }
}

/// First positions of the segments after the first, and the level of each segment.
#[derive(Debug, Default)]
pub(super) struct Path {
    pub splits: Vec<usize>,
    pub levels: Vec<f64>,
}

/// The best course of all values. A segment may begin only where `may_begin`. O(n · levels).
pub(super) fn path(
    values: &[f64],
    mut course: Course,
    density: &Density,
    may_begin: impl Fn(usize) -> bool,
) -> Path {
    let push = |(t, &v): (usize, &f64)| course.push(v, t as u32, t > 0 && may_begin(t), density);
    let ends: Vec<End> = values.iter().enumerate().map(push).collect();
    let mut path = Path::default();
    let mut end = values.len();
    while end > 0 {
        let last = ends[end - 1];
        path.levels.push(last.level);
        end = last.begin as usize;
        if end > 0 {
            path.splits.push(end);
        }
    }
    path.splits.reverse();
    path.levels.reverse();
    path
}
