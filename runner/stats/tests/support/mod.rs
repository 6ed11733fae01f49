//! Seeded noise in the shapes real benchmarks have; shared by the simulations.

use scalewatch_stats::random::Random;

/// Shapes of independent noise, deviation about 1 (see each).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Normal.
    Normal,
    /// Student's t with three degrees of freedom, scaled to deviation 1.
    Heavy,
    /// Two modes 4 apart, a quarter in the upper one: deviation 1.8.
    Bimodal,
    /// Normal, and 3 % of values 5 to 40 higher.
    Spikes,
    /// Normal, rounded to steps of 1.5.
    Quantised,
}

pub const SHAPES: [Shape; 5] =
    [Shape::Normal, Shape::Heavy, Shape::Bimodal, Shape::Spikes, Shape::Quantised];

/// Standard normal.
pub fn normal(random: &mut Random) -> f64 {
    random.normal()
}

impl Shape {
    pub fn draw(self, random: &mut Random) -> f64 {
        match self {
            Shape::Normal => normal(random),
            Shape::Heavy => {
                let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                normal(random) / (squares / 3.0).sqrt() / 3f64.sqrt()
            }
            Shape::Bimodal => {
                let mode = if random.unit() < 0.25 { 4.0 } else { 0.0 };
                mode + normal(random) / 2.0
            }
            Shape::Spikes => {
                let spike = if random.unit() < 0.03 { 5.0 + 35.0 * random.unit() } else { 0.0 };
                normal(random) + spike
            }
            Shape::Quantised => (normal(random) / 1.5).round() * 1.5,
        }
    }

    /// `n` values around `level` with a coefficient of variation of about `cv`.
    pub fn values(self, random: &mut Random, n: usize, level: f64, cv: f64) -> Vec<f64> {
        (0..n).map(|_| level * (1.0 + cv * self.draw(random))).collect()
    }
}
