//! The laws of scaling over revisions: each figure a history of its own, with intervals, levels and
//! the steps found in it. Where no law was fitted there is a gap, and the reason in the table.

use super::revisions::Chosen;
use crate::app::App;
use crate::chart::points::levels;
use crate::chart::{Band, HistoryColumn, HistoryDot, HistoryPlot, Size, svg};
use crate::db;
use crate::detect::history::in_words;
use crate::error::Result;
use crate::format;
use crate::model::environment::diff;
use crate::model::incident::IncidentStep;
use crate::model::scaling::{Estimate, Figure as Part, FittedLaw, Scaling};
use crate::model::step::Change;
use crate::model::{Curve, EnvironmentId};
use crate::pages::view::{CommitMark, Figure};

const WIDE: Size = Size { width: 520, height: 220 };
const NARROW: Size = Size { width: 360, height: 220 };

/// The law of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawRow {
    /// Revision.
    pub commit: CommitMark,
    /// Task counts, as `1 to 64`.
    pub tasks: String,
    /// Contention, coherency, knee and peak with their intervals; none where there is no law.
    pub figures: Option<Vec<String>>,
    /// Why there is none.
    pub refusal: String,
}

/// The section of the page; no rows where no law applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LawsView {
    /// A plot for each figure that has values.
    pub figures: Vec<Figure>,
    /// Newest first.
    pub rows: Vec<LawRow>,
}

/// The laws of the chosen branch.
pub async fn load(app: &App, curve: &Curve, chosen: &Chosen) -> Result<LawsView> {
    let mut laws = db::scaling::list(&app.db, curve.machine, curve.id).await?;
    laws.retain(|one| one.branch == chosen.branch);
    laws.sort_by(|a, b| {
        (a.rank, &a.commit, a.finished_at).cmp(&(b.rank, &b.commit, b.finished_at))
    });
    if !laws.iter().any(|one| one.law.is_ok()) {
        // The newest refusal stands beside the plot of the curve.
        return Ok(LawsView::default());
    }
    let columns = columns(&laws);
    let environments = environment_changes(app, &laws, &columns).await?;
    let axis = Axis { columns, environments };
    let drawn = Part::ALL.into_iter().filter_map(|part| {
        let steps = chosen.steps.iter().filter(|step| is_step_of(step, part));
        figure(part, &laws, &axis, steps)
    });
    Ok(LawsView { figures: drawn.collect(), rows: laws.iter().rev().map(row).collect() })
}

fn is_step_of(step: &IncidentStep, part: Part) -> bool {
    step.derived && step.metric == part.word()
}

/// What all plots share.
struct Axis {
    /// Revisions in order: rank and commit.
    columns: Vec<(i64, String)>,
    /// Columns before which the environment changed, with the reason.
    environments: Vec<(usize, String)>,
}

/// Revisions in order.
fn columns(laws: &[Scaling]) -> Vec<(i64, String)> {
    let mut columns: Vec<(i64, String)> =
        laws.iter().map(|one| (one.rank, one.commit.clone())).collect();
    columns.dedup();
    columns
}

fn figure<'a>(
    part: Part,
    laws: &[Scaling],
    axis: &Axis,
    steps: impl Iterator<Item = &'a IncidentStep>,
) -> Option<Figure> {
    let scale = if part.is_coefficient() { 100.0 } else { 1.0 };
    let unit = if part.is_coefficient() { "% of the work" } else { "tasks" };
    let dots = |(rank, commit): &(i64, String)| {
        let here = laws.iter().filter(|one| (one.rank, &one.commit) == (*rank, commit));
        let dot = |one: &Scaling| Some(dot(part.of(one.law.as_ref().ok()?)?, scale));
        HistoryColumn {
            commit: format::commit(commit).to_owned(),
            dots: here.filter_map(dot).collect(),
            ..HistoryColumn::default()
        }
    };
    let drawn: Vec<HistoryColumn> = axis.columns.iter().map(dots).collect();
    if drawn.iter().all(|column| column.dots.is_empty()) {
        return None;
    }
    let place = |rank: i64| axis.columns.iter().position(|(of, _)| *of == rank);
    let bands: Vec<Band> = steps
        .filter_map(|step| band(step, place(step.good.rank)?, place(step.bad.rank)?))
        .collect();
    let changes: Vec<usize> = bands
        .iter()
        .map(|band| band.to)
        .chain(axis.environments.iter().map(|(at, _)| *at))
        .collect();
    let plot = HistoryPlot {
        y_title: format!("{}, {unit}, {} is better", part.word(), part.direction().word()),
        levels: levels(&drawn, &changes),
        columns: drawn,
        bands,
        environments: axis.environments.clone(),
    };
    let caption = match part {
        Part::Contention => "Contention: work that one task does at a time.",
        Part::Coherency => "Coherency: what each pair of tasks costs by agreeing.",
        Part::Knee => "Knee, where it lies among the task counts measured.",
        Part::Peak => "Peak, where it lies among the task counts measured.",
    };
    Some(Figure::two(caption, (WIDE, NARROW), |size| svg::history(&plot, size)))
}

fn dot(estimate: Estimate, scale: f64) -> HistoryDot {
    let interval = estimate.low.zip(estimate.high);
    HistoryDot {
        value: scale * estimate.value,
        interval: interval.map(|(low, high)| (scale * low, scale * high)),
    }
}

fn band(step: &IncidentStep, from: usize, to: usize) -> Option<Band> {
    let size = step.ratio.map_or("from 0".into(), |(ratio, _, _)| format::change(ratio));
    let label = match step.incident {
        Some(incident) => format!("incident {incident}, {size}"),
        None => format!("step, {size}"),
    };
    Some(Band { from, to, label, worse: step.change == Change::Regression })
}

/// Where the environment differs from that of the law before.
async fn environment_changes(
    app: &App,
    laws: &[Scaling],
    columns: &[(i64, String)],
) -> Result<Vec<(usize, String)>> {
    let mut ids: Vec<EnvironmentId> = laws.iter().map(|one| one.environment).collect();
    ids.sort_unstable();
    ids.dedup();
    let known = db::environment::list(&app.db, &ids).await?;
    let facts = |id: EnvironmentId| known.iter().find(|one| one.id == id).map(|one| &one.facts);
    let changed = laws.windows(2).filter(|pair| pair[0].environment != pair[1].environment);
    let change = |pair: &[Scaling]| {
        let (before, after) = (facts(pair[0].environment)?, facts(pair[1].environment)?);
        let at = columns.iter().position(|(rank, _)| *rank == pair[1].rank)?;
        Some((at, in_words(&diff(before, after))))
    };
    Ok(changed.filter_map(change).collect())
}

fn row(one: &Scaling) -> LawRow {
    let tasks = match one.tasks.as_slice() {
        [first, .., last] => format!("{first} to {last}"),
        tasks => tasks.iter().map(i32::to_string).collect(),
    };
    LawRow {
        commit: CommitMark::new(&one.commit, &one.subject),
        tasks,
        figures: one.law.as_ref().ok().map(cells),
        refusal: one.law.as_ref().err().cloned().unwrap_or_default(),
    }
}

fn cells(law: &FittedLaw) -> Vec<String> {
    let cell = |part: Part| match part.of(law) {
        Some(estimate) => estimate_words(estimate, part.is_coefficient()),
        None => format!("beyond {}", law.largest),
    };
    Part::ALL.map(cell).into()
}

/// `3.12 % (2.80–3.50)`, `14.2 (12.1 or more)`.
fn estimate_words(estimate: Estimate, is_share: bool) -> String {
    let scale = if is_share { 100.0 } else { 1.0 };
    let number = |value: f64| format::number(scale * value);
    let low = number(estimate.low.unwrap_or(estimate.value));
    let doubt = match estimate.high {
        Some(high) => format!("{low}–{}", number(high)),
        None => format!("{low} or more"),
    };
    format!("{}{} ({doubt})", number(estimate.value), if is_share { " %" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_without_end_says_so() {
        let share = Estimate { value: 0.0312, low: Some(0.028), high: Some(0.035) };
        assert_eq!(estimate_words(share, true), "3.12 % (2.80–3.50)");
        let open = Estimate { value: 14.2, low: Some(12.1), high: None };
        assert_eq!(estimate_words(open, false), "14.2 (12.1 or more)");
    }
}
