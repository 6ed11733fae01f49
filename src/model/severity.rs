//! How grave an incident is: how far beyond noise it reaches, how widely, and how much its
//! project's users care.

use std::collections::BTreeSet;

use super::{CurveId, IncidentId};

/// Noise units of a change that has no ratio or exceeds them: more would say nothing more.
pub const MOST_UNITS: f64 = 100.0;

/// Least score of each word above `slight`.
pub const WORDS: [(f64, &str); 3] = [(64.0, "severe"), (16.0, "serious"), (4.0, "moderate")];

/// What one standing step adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Incident it belongs to.
    pub incident: IncidentId,
    /// Curve it lies on.
    pub curve: CurveId,
    /// after ÷ before, where before is positive.
    pub ratio: Option<f64>,
    /// What identical code differs by there, relative; 0 where unknown.
    pub floor: f64,
    /// How much the project's users care.
    pub weight: f64,
}

/// The severity of one incident: `units × weight × √curves`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Severity {
    /// Size of the step that weighs most, in noise units: |ln ratio| ÷ the larger of the noise floor
    /// and the least effect.
    pub units: f64,
    /// Its weight.
    pub weight: f64,
    /// Curves on which anything weighed moved.
    pub curves: usize,
    /// The product.
    pub score: f64,
}

impl Severity {
    /// Of the effects of one incident; `least_effect` is the smallest change called at all.
    pub fn of<'a>(effects: impl IntoIterator<Item = &'a Effect>, least_effect: f64) -> Severity {
        let mut curves = BTreeSet::new();
        let (mut units, mut weight) = (0.0, 0.0);
        for effect in effects {
            let own = effect.units(least_effect);
            if effect.weight > 0.0 {
                curves.insert(effect.curve);
            }
            if own * effect.weight > units * weight {
                (units, weight) = (own, effect.weight);
            }
        }
        let curves = curves.len();
        Severity { units, weight, curves, score: units * weight * (curves as f64).sqrt() }
    }

    /// `severe`, `serious`, `moderate`, `slight`.
    pub fn word(&self) -> &'static str {
        WORDS.iter().find(|(least, _)| self.score >= *least).map_or("slight", |(_, word)| word)
    }

    /// `serious: 21.4 noise units × √4 curves`, a weight other than 1 between them.
    pub fn words(&self) -> String {
        let curves = match self.curves {
            1 => " on 1 curve".to_owned(),
            n => format!(" × √{n} curves"),
        };
        let weight =
            if self.weight == 1.0 { String::new() } else { format!(" × weight {}", self.weight) };
        format!("{}: {:.1} noise units{weight}{curves}", self.word(), self.units)
    }
}

impl Effect {
    /// Size in noise units, at most [`MOST_UNITS`].
    pub fn units(&self, least_effect: f64) -> f64 {
        let size = self.ratio.filter(|ratio| *ratio > 0.0).map(|ratio| ratio.ln().abs());
        size.map_or(MOST_UNITS, |size| (size / self.floor.max(least_effect)).min(MOST_UNITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(curve: i64, ratio: Option<f64>, floor: f64, weight: f64) -> Effect {
        Effect { incident: IncidentId(1), curve: CurveId(curve), ratio, floor, weight }
    }

    #[test]
    fn severity_is_size_in_noise_times_weight_times_the_root_of_breadth() {
        // −10 % over a floor of 1 %: |ln 0.9| ÷ 0.01 = 10.536.
        let one = Severity::of(&[effect(1, Some(0.9), 0.01, 1.0)], 0.005);
        assert!((one.score - 10.536).abs() < 1e-3, "{one:?}");
        assert_eq!(one.words(), "moderate: 10.5 noise units on 1 curve");
        let four: Vec<Effect> = (0..4).map(|n| effect(n, Some(0.9), 0.01, 2.0)).collect();
        let four = Severity::of(&four, 0.005);
        assert!((four.score - 42.144).abs() < 1e-2, "{four:?}");
        assert_eq!(four.words(), "serious: 10.5 noise units × weight 2 × √4 curves");
    }

    #[test]
    fn what_nobody_cares_about_weighs_nothing_and_no_ratio_weighs_most() {
        let muted = Severity::of(&[effect(1, Some(0.5), 0.0, 0.0)], 0.005);
        assert_eq!((muted.score, muted.curves, muted.word()), (0.0, 0, "slight"));
        let gone = Severity::of(&[effect(1, None, 0.0, 1.0)], 0.005);
        assert_eq!((gone.units, gone.word()), (MOST_UNITS, "severe"));
        assert_eq!(Severity::of(&[], 0.005).score, 0.0);
    }
}
