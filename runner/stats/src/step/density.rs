//! How values scatter about their level: what a deviation costs, −ln of its density, as a table.
//! At first Student's t about one or two modes; then what the residuals themselves show.

use super::modes::Modes;

/// Cells of the table either side of 0. With [`super::course::CELLS_PER_SCALE`] it reaches 85
/// scales; a deviation beyond costs what the last cell does.
pub(super) const HALF: usize = 256;

/// The t that stands in where residuals say nothing: it counts for this many of them …
const PRIOR_VALUES: f64 = 12.0;

/// … and for this share of them.
const PRIOR_SHARE: f64 = 0.08;

/// Bandwidth of the kernel in scales, times n^(−1/5) (Silverman's rule).
const BANDWIDTH: f64 = 0.9;

/// Costs, in nats above the least, of deviations on a grid; entry [`HALF`] stands for 0. Deviations
/// fall from entry to entry, so that the costs of one value at rising levels stand in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Density {
    width: f64,
    cost: Vec<f32>,
}

/// Density of Student's t with three degrees of freedom.
fn student(z: f64) -> f64 {
    let x = 1.0 + z * z / 3.0;
    0.367_552_596_947_861_4 / (x * x)
}

/// The prior: a t of `scale` about 0, or half of it about each of two modes.
fn prior(deviation: f64, scale: f64, modes: Option<Modes>) -> f64 {
    let lower = student(deviation / scale) / scale;
    match modes {
        None => lower,
        Some(modes) => 0.5 * (lower + student((deviation - modes.gap) / scale) / scale),
    }
}

impl Density {
    /// What is assumed before any residual is seen, on a grid of `width`. O(1).
    pub(super) fn prior(scale: f64, width: f64, modes: Option<Modes>) -> Density {
        Density::of(width, |deviation| prior(deviation, scale, modes))
    }

    /// Kernel density of the residuals, mixed with the prior. O(n + grid · bandwidth).
    pub(super) fn learned(
        residuals: &[f64],
        scale: f64,
        width: f64,
        modes: Option<Modes>,
    ) -> Density {
        let n = residuals.len() as f64;
        let weights = modes.map_or([1.0, 1.0], |modes| modes.weights(residuals));
        let mut count = [0.0f64; 2 * HALF + 1];
        for &r in residuals {
            let cell = HALF as f64 - (r / width).round();
            if (0.0..=2.0 * HALF as f64).contains(&cell) {
                let upper = modes.is_some_and(|modes| modes.is_upper(r));
                count[cell as usize] += weights[usize::from(upper)];
            }
        }
        let bandwidth = (BANDWIDTH * scale * n.max(1.0).powf(-0.2) / width).max(0.2);
        let reach = (3.0 * bandwidth).ceil() as usize;
        let mut kernel: Vec<f64> =
            (0..=reach).map(|i| (-0.5 * (i as f64 / bandwidth).powi(2)).exp()).collect();
        let sum = 2.0 * kernel.iter().sum::<f64>() - kernel[0];
        kernel.iter_mut().for_each(|k| *k /= sum * width);
        let mut smooth = [0.0f64; 2 * HALF + 1];
        for (i, c) in count.iter().enumerate().filter(|(_, c)| **c > 0.0) {
            let (low, high) = (i.saturating_sub(reach), (i + reach).min(2 * HALF));
            for (j, s) in smooth.iter_mut().enumerate().take(high + 1).skip(low) {
                *s += c * kernel[j.abs_diff(i)];
            }
        }
        let assumed = PRIOR_VALUES + PRIOR_SHARE * n;
        let mut own = smooth.iter();
        Density::of(width, |deviation| {
            let own = own.next().copied().unwrap_or(0.0);
            (own + assumed * prior(deviation, scale, modes)) / (n + assumed)
        })
    }

    /// Half the squared deviation in scales: least squares instead of a density.
    pub(super) fn squares(scale: f64, width: f64) -> Density {
        Density::of(width, |deviation| (-0.5 * (deviation / scale).powi(2)).exp())
    }

    fn of(width: f64, mut density: impl FnMut(f64) -> f64) -> Density {
        let mut cost: Vec<f32> = (0..=2 * HALF)
            .map(|i| -density((HALF as f64 - i as f64) * width).max(f64::MIN_POSITIVE).ln() as f32)
            .collect();
        let least = cost.iter().copied().fold(f32::INFINITY, f32::min);
        cost.iter_mut().for_each(|c| *c -= least);
        Density { width, cost }
    }

    /// Bytes of its state.
    pub(super) fn size(&self) -> usize {
        self.cost.len() * size_of::<f32>()
    }

    /// Cost of one deviation.
    pub(super) fn cost(&self, deviation: f64) -> f64 {
        let cell = (deviation / self.width).round().clamp(-(HALF as f64), HALF as f64);
        f64::from(self.cost[(HALF as f64 - cell) as usize])
    }

    /// Costs of a value `cell` cells above the lowest of `levels` levels (at most [`HALF`]), for each level upwards.
    pub(super) fn costs(&self, cell: f64, levels: usize) -> &[f32] {
        let cell = cell.round().clamp(levels as f64 - HALF as f64 - 1.0, HALF as f64);
        let first = (HALF as f64 - cell) as usize;
        &self.cost[first..first + levels]
    }
}
