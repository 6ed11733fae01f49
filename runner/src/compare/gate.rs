//! One exit code for a whole comparison: a missing baseline never passes.

use stats::Verdict;

use super::curves::{Metrics, Unpaired};
use super::judge::Judged;
use crate::exit::Exit;
use crate::show::figures::counted;

/// The code, and the sentence that says why.
///
/// Judged are the primary metrics, or those asked for by name or by `--all`. A confirmed
/// regression comes before everything, a failed measurement before missing data and a regression that
/// two builds of one code might show as well, and only "no point is worse, all could be judged"
/// passes.
pub fn gate(judged: &[Judged], unpaired: &[Unpaired], metrics: &Metrics) -> (Exit, String) {
    let gated: Vec<&Judged> =
        judged.iter().filter(|j| j.curve.primary || *metrics != Metrics::Usual).collect();
    let against = || gated.iter().flat_map(|j| &j.against);
    let curves = |n: usize| counted(n as u64, "curve");
    let regressed = gated
        .iter()
        .filter(|j| j.against.iter().any(|a| a.judgement.any_confirmed(Verdict::Regression)));
    match regressed.count() {
        0 => {}
        n => return (Exit::Regression, format!("gate: regression on {}", curves(n))),
    }
    if against().any(|a| !a.failed.is_empty()) {
        return (Exit::MeasurementFailed, "gate: the head failed where the base ran".into());
    }
    let doubted = gated.iter().filter(|j| j.against.iter().any(|a| a.any(Verdict::Regression)));
    match doubted.count() {
        0 => {}
        n => {
            let words = format!("gate: undecided, unconfirmed regression on {}", curves(n));
            return (Exit::NotEnoughData, words);
        }
    }
    let undecided = [Verdict::NotEnoughData, Verdict::EnvironmentChanged, Verdict::NotComparable]
        .into_iter()
        .find(|&verdict| against().any(|a| a.any(verdict)));
    if let Some(verdict) = undecided {
        return (Exit::NotEnoughData, format!("gate: undecided, {}", verdict.words()));
    }
    if let Some(Unpaired { what, why, .. }) = unpaired.first() {
        return (Exit::NotEnoughData, format!("gate: undecided, {what}: {why}"));
    }
    if gated.is_empty() {
        return (Exit::NotEnoughData, "gate: undecided, nothing was compared".into());
    }
    (Exit::Done, format!("gate: no regression on {}", curves(gated.len())))
}
