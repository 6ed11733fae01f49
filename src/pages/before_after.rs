//! The curves of an incident before and after, with what moved beside them.

use super::evidence::{self, StepEvidence};
use super::incidents::tasks_words;
use super::metric::Metric;
use super::moved::metric_of;
use super::view::Figure;
use super::{noise, sides};
use crate::app::App;
use crate::chart::{CurvePlot, FittedLaw, Size, svg};
use crate::db;
use crate::detect::{explain, modes, scaling};
use crate::error::Result;
use crate::format;
use crate::model::Curve;
use crate::model::incident::IncidentStep;

/// Curves drawn before and after.
const DRAWN: usize = 4;

const WIDE: Size = Size { width: 520, height: 280 };
const NARROW: Size = Size { width: 360, height: 240 };

/// A curve before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAfter {
    /// Workload and machine.
    pub title: String,
    /// Address of the curve.
    pub href: String,
    /// Address of the comparison.
    pub compare: String,
    /// Its plot.
    pub figure: Figure,
    /// What steps of its law of scaling do to it, in sentences.
    pub bends: Vec<String>,
    /// Two modes of the newest level where its first step is.
    pub modes: Option<String>,
    /// The noise floor of its metric, with age and number of observations.
    pub floor: Option<String>,
    /// `16 tasks`: where its first step is.
    pub tasks_words: String,
    /// What moved with it there.
    pub evidence: StepEvidence,
}

/// The curves with steps, one plot each, in the order of the steps.
pub(super) async fn before_and_after(
    app: &App,
    steps: &[&IncidentStep],
) -> Result<Vec<BeforeAfter>> {
    let mut firsts: Vec<&IncidentStep> = Vec::new();
    for step in steps {
        if !firsts.iter().any(|first| first.curve == step.curve) && firsts.len() < DRAWN {
            firsts.push(step);
        }
    }
    let mut drawn = Vec::new();
    for step in firsts {
        if let Some(curve) = db::curve::find(&app.db, step.curve).await? {
            let bends = steps.iter().filter(|one| one.curve == step.curve);
            let bends = bends.filter_map(|one| explain::bend(one)).collect();
            drawn.push(one_before_and_after(app, &curve, step, bends).await?);
        }
    }
    Ok(drawn)
}

async fn one_before_and_after(
    app: &App,
    curve: &Curve,
    step: &IncidentStep,
    bends: Vec<String>,
) -> Result<BeforeAfter> {
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    // What bends is the curve of the first metric.
    let metric = match series.first().filter(|_| step.derived) {
        Some(first) => Metric::of(first),
        None => metric_of(step),
    };
    let (mut lines, mut laws) = (Vec::new(), Vec::new());
    for (index, end) in [&step.good, &step.bad].into_iter().enumerate() {
        let all = sides::load(app, curve, end.revision).await?;
        let measured = sides::of_metric(&all, &series, &metric.name);
        lines.push(sides::line(format::commit(&end.commit), &sides::by_tasks(&measured), |_| 1.0));
        // Laws are those of the first metric.
        let is_bent =
            !bends.is_empty() && series.first().is_some_and(|one| one.metric == metric.name);
        let fit = is_bent.then(|| scaling::law(&measured).ok()).flatten();
        laws.extend(fit.map(|fit| (index, FittedLaw::of(&fit))));
    }
    let topology = sides::topology(app, curve).await?;
    let plot = CurvePlot { y_title: metric.axis(), lines, topology, laws, ..CurvePlot::default() };
    let (good, bad) = (&step.good.commit, &step.bad.commit);
    let name = &metric.name;
    Ok(BeforeAfter {
        title: format!("{} on {}", curve.workload, curve.machine_name),
        href: format!("/curves/{}?base={good}&rev={bad}", curve.id),
        compare: format!("/compare?curve={}&base={good}&head={bad}&metric={name}", curve.id),
        figure: Figure::two(
            format!("{}. Hollow is before, filled is after; 95 % intervals.", metric.title()),
            (WIDE, NARROW),
            |size| svg::curve(&plot, size),
        ),
        bends,
        modes: modes(app, curve, &metric, step).await?,
        floor: noise::floor(app, curve, &metric).await?,
        tasks_words: tasks_words(step.tasks),
        evidence: evidence::of(app, step).await?,
    })
}

/// Two modes of the level after the step, in the order of its branch.
async fn modes(
    app: &App,
    curve: &Curve,
    metric: &Metric,
    step: &IncidentStep,
) -> Result<Option<String>> {
    let filter = db::history::Filter {
        metric: Some(&metric.name),
        tasks: Some(step.tasks),
        ..Default::default()
    };
    let mut runs = db::history::list(&app.db, curve, &filter, false).await?;
    let branch = runs.iter().find(|run| run.revision == step.bad.revision).map(|run| run.branch);
    runs.retain(|run| Some(run.branch) == branch);
    let modes = modes::of_newest_level(&runs, Some(step.bad.rank));
    Ok(modes.map(|modes| noise::modes_words(&modes, metric)))
}
