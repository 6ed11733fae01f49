//! Seeded histories with known steps, in nine shapes of noise that benchmarks have.

use scalewatch_stats::random::Random;

/// Standard normal, by Marsaglia's polar method.
pub fn normal(random: &mut Random) -> f64 {
    loop {
        let (u, v) = (2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0);
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * (-2.0 * s.ln() / s).sqrt();
        }
    }
}

/// Shapes of noise; cv is the deviation relative to the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noise {
    /// Independent normal.
    Normal,
    /// Student's t with three degrees of freedom.
    Heavy,
    /// Two modes 4 cv apart, a quarter of values in the upper, each for itself.
    Bimodal,
    /// Two modes 4 cv apart that last, twelve values on average.
    Sticky,
    /// Autocorrelated, φ = 0.6.
    Autocorrelated,
    /// Normal about a line that rises or falls by 1 to 3 % in all.
    Drifting,
    /// Normal, with a deviation that doubles or halves somewhere.
    Changing,
    /// Normal, and 3 % of values 5 to 40 % higher.
    Spikes,
    /// Normal, rounded to 1.5 cv.
    Quantised,
}

pub const NOISES: [Noise; 9] = [
    Noise::Normal,
    Noise::Heavy,
    Noise::Bimodal,
    Noise::Sticky,
    Noise::Autocorrelated,
    Noise::Drifting,
    Noise::Changing,
    Noise::Spikes,
    Noise::Quantised,
];

/// A series and where its level truly changes, with the size of each change in per cent.
#[derive(Debug, Clone)]
pub struct History {
    pub noise: Noise,
    pub values: Vec<f64>,
    pub truth: Vec<(usize, f64)>,
}

impl Noise {
    /// `n` deviations relative to the level.
    fn deviations(self, random: &mut Random, n: usize, cv: f64) -> Vec<f64> {
        let (mut upper, mut before) = (false, normal(random));
        let changes_at = n / 5 + random.below(3 * n / 5);
        let factor = if random.unit() < 0.5 { 2.0 } else { 0.5 };
        let total = (0.01 + 0.02 * random.unit()) * if random.unit() < 0.5 { 1.0 } else { -1.0 };
        let mut one = |i: usize| match self {
            Noise::Normal | Noise::Quantised => cv * normal(random),
            Noise::Heavy => {
                let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                cv * normal(random) / squares.sqrt()
            }
            Noise::Bimodal => {
                let mode = if random.unit() < 0.25 { 4.0 } else { 0.0 };
                cv * (mode + normal(random) / 2.0)
            }
            Noise::Sticky => {
                upper ^= random.unit() < 1.0 / 12.0;
                cv * (if upper { 4.0 } else { 0.0 } + normal(random) / 2.0)
            }
            Noise::Autocorrelated => {
                before = 0.6 * before + 0.8 * normal(random);
                cv * before
            }
            Noise::Drifting => total * i as f64 / n as f64 + cv * normal(random),
            Noise::Changing => cv * normal(random) * if i < changes_at { 1.0 } else { factor },
            Noise::Spikes => {
                let spike = if random.unit() < 0.03 { 0.05 + 0.35 * random.unit() } else { 0.0 };
                cv * normal(random) + spike
            }
        };
        (0..n).map(&mut one).collect()
    }

    /// `n` values about 100 whose level is multiplied at each step.
    pub fn history(
        self,
        random: &mut Random,
        n: usize,
        cv: f64,
        steps: &[(usize, f64)],
    ) -> History {
        let deviations = self.deviations(random, n, cv);
        let level = |i: usize| -> f64 {
            100.0 * steps.iter().filter(|(at, _)| *at <= i).map(|(_, by)| by).product::<f64>()
        };
        let mut values: Vec<f64> =
            deviations.iter().enumerate().map(|(i, d)| level(i) * (1.0 + d)).collect();
        if self == Noise::Quantised {
            let cell = 100.0 * 1.5 * cv;
            values.iter_mut().for_each(|v| *v = (*v / cell).round() * cell);
        }
        let truth = steps.iter().map(|&(at, by)| (at, 100.0 * (by.max(1.0 / by) - 1.0))).collect();
        History { noise: self, values, truth }
    }
}

fn up_or_down(random: &mut Random, percent: f64) -> f64 {
    let factor = 1.0 + percent / 100.0;
    if random.unit() < 0.5 { factor } else { 1.0 / factor }
}

/// Histories of 300 values: in every shape, nine with no step and nine with each of 1, 2, 5 and 10 %
/// at a random place of the middle three fifths, deviations of 0.5, 1 and 2 %; and ten with several
/// steps of 2 to 10 %, two in five of them reverted 8 to 25 values later.
pub fn histories(seed: u64) -> Vec<History> {
    let (n, mut random) = (300, Random::new(seed));
    let cv = |i: usize| [0.005, 0.01, 0.02][i % 3];
    let mut all = Vec::new();
    for noise in NOISES {
        for percent in [0.0, 1.0, 2.0, 5.0, 10.0] {
            for i in 0..9 {
                let at = n / 5 + random.below(3 * n / 5);
                let step = (at, up_or_down(&mut random, percent));
                let steps: &[_] = if percent > 0.0 { &[step] } else { &[] };
                all.push(noise.history(&mut random, n, cv(i), steps));
            }
        }
        for i in 0..10 {
            let (mut steps, mut at) = (Vec::new(), 20 + random.below(40));
            while at < n - 15 {
                let percent = [2.0, 3.0, 5.0, 10.0][random.below(4)];
                let by = up_or_down(&mut random, percent);
                steps.push((at, by));
                if random.unit() < 0.4 && at + 30 < n {
                    at += 8 + random.below(18);
                    steps.push((at, 1.0 / by));
                }
                at += 30 + random.below(90);
            }
            all.push(noise.history(&mut random, n, cv(i), &steps));
        }
    }
    all
}
