//! Simulated curves for the two-sided judgement: both sides are builds, whose runs vary in a shape
//! of noise around a level of their own.

use scalewatch_stats::random::Random;
use scalewatch_stats::two_sides::{History, Sides};

use crate::support::{Shape, normal};

/// Deviation of the runs of one build, relative.
pub const RUN_CV: f64 = 0.01;

/// What is simulated.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Noise of runs.
    pub shape: Shape,
    /// Deviation between builds of one code, in deviations of their runs.
    pub build_sd: f64,
    /// Runs of each build.
    pub runs: usize,
    /// Points of the curve.
    pub points: u32,
    /// Earlier builds.
    pub history: usize,
}

/// One simulated curve: base and head differ by `ratio` in their code; the true ratio of the two
/// builds, which differ by more, stands beside.
pub struct Curve {
    pub points: Vec<Sides>,
    pub ratio_of_builds: Vec<f64>,
}

impl Setting {
    pub fn draw(&self, random: &mut Random, ratio: f64) -> Curve {
        let (points, ratio_of_builds) =
            (0..self.points).map(|i| self.point(random, 1 << i, ratio)).unzip();
        Curve { points, ratio_of_builds }
    }

    fn point(&self, random: &mut Random, tasks: u32, ratio: f64) -> (Sides, f64) {
        let history = (0..self.history).map(|_| self.build(random, 1.0).1).collect();
        let (base_level, base) = self.build(random, 1.0);
        let (head_level, head) = self.build(random, ratio);
        let one_value = |runs: Vec<f64>| runs.into_iter().map(|v| vec![v]).collect();
        let sides = Sides::new(tasks, one_value(base), one_value(head));
        (Sides { history: History::Builds(history), ..sides }, head_level / base_level)
    }

    /// A build's true level, and its runs.
    fn build(&self, random: &mut Random, ratio: f64) -> (f64, Vec<f64>) {
        // Two modes are brought to the same deviation as the other shapes.
        let unit = if self.shape == Shape::Bimodal { 1.0 / 13f64.sqrt() * 2.0 } else { 1.0 };
        let level = 1000.0 * ratio * (1.0 + RUN_CV * self.build_sd * normal(random));
        (level, self.shape.values(random, self.runs, level, RUN_CV * unit))
    }
}
