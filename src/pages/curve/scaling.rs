//! How the curve scales at each revision shown: the law fitted to its points, what it says, and
//! whether head and base differ in it.

use super::Metric;
use crate::chart::FittedLaw;
use crate::detect::evidence::change_of;
use crate::detect::scaling::{Change, Fit, Refusal, applies, change, law};
use crate::model::Measurement;
use crate::pages::incidents;
use crate::pages::sides;

/// A law or why there is none, of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalingRow {
    /// Commit, shortened.
    pub side: String,
    /// Its cells; none where no law was fitted.
    pub law: Option<LawCells>,
    /// Why not.
    pub refusal: String,
}

/// What a law says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawCells {
    /// σ with its interval.
    pub contention: String,
    /// κ with its interval.
    pub coherency: String,
    /// Task count of the knee.
    pub knee: String,
    /// Task count of the peak.
    pub peak: String,
    /// Shape in a word.
    pub shape: &'static str,
    /// How far points lie off.
    pub misfit: String,
    /// Task counts left out.
    pub outliers: String,
}

/// A coefficient that differs, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalingChange {
    /// Class of the style sheet.
    pub class: &'static str,
    /// `regression: contention 3.1 % → 5.0 %`.
    pub words: String,
}

/// The section of the page; no rows where no law applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScalingView {
    /// Base first.
    pub rows: Vec<ScalingRow>,
    /// Head against base.
    pub changes: Vec<ScalingChange>,
}

/// Laws of both sides: what the page says of them, and what its plot draws.
pub fn of(
    metric: &Metric,
    (base, head): (&[Measurement], &[Measurement]),
) -> (ScalingView, Vec<(usize, FittedLaw)>) {
    if !applies(metric.unit, metric.direction) {
        return (ScalingView::default(), Vec::new());
    }
    let shown = [("base", base), ("head", head)].into_iter().filter(|(_, side)| !side.is_empty());
    let fits: Vec<(String, Result<Fit, Refusal>)> =
        shown.map(|(name, side)| (sides::label(side, name), law(side))).collect();
    let changes = match fits.as_slice() {
        [(_, Ok(base)), (_, Ok(head))] => change(base, head).iter().map(changed).collect(),
        _ => Vec::new(),
    };
    let drawn = |(index, (_, fit)): (usize, &(String, Result<Fit, Refusal>))| {
        Some((index, FittedLaw::of(fit.as_ref().ok()?)))
    };
    let laws = fits.iter().enumerate().filter_map(drawn).collect();
    (ScalingView { rows: fits.into_iter().map(row).collect(), changes }, laws)
}

fn changed(one: &Change) -> ScalingChange {
    let class = change_of(one.verdict).map_or("undecided", incidents::class);
    ScalingChange { class, words: one.words() }
}

fn row((side, fit): (String, Result<Fit, Refusal>)) -> ScalingRow {
    match fit {
        Ok(fit) => ScalingRow { side, law: Some(cells(&fit)), refusal: String::new() },
        Err(refusal) => ScalingRow { side, law: None, refusal: refusal.words() },
    }
}

fn cells(fit: &Fit) -> LawCells {
    let tasks = |value: Option<f64>| match value {
        Some(tasks) if tasks <= f64::from(fit.largest) => format!("{tasks:.0}"),
        _ => format!("beyond {}", fit.largest),
    };
    let outliers: Vec<String> = fit.outliers.iter().map(u32::to_string).collect();
    LawCells {
        contention: fit.contention_in_words(),
        coherency: fit.coherency_in_words(),
        knee: tasks(fit.law.knee()),
        peak: tasks(fit.law.peak()),
        shape: fit.shape.word(),
        misfit: fit.misfit_in_words(),
        outliers: outliers.join(", "),
    }
}
