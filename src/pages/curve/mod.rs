//! `/curves/{id}`: one curve at a revision against a base, its history below.

mod extent;
mod history;
mod laws;
mod plots;
mod revisions;
mod scaling;
mod table;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use serde::Deserialize;

pub use extent::Extent;
pub use history::{HistoryRow, RunFigures, TaskChoice};
pub use laws::{LawRow, LawsView};
pub use revisions::RevisionOption;
pub use scaling::{LawCells, ScalingChange, ScalingRow, ScalingView};
pub use table::{Cell, MetricTable, TableRow};

use super::failure::Failure;
use super::metric::{Metric, workload_words};
use super::shown;
use super::sides;
use super::view::{Facts, Figure, Layout, Section, short_run};
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::detect::two_sides::Across;
use crate::error::{Error, Result};
use crate::format;
use crate::model::{Curve, CurveId, Measurement, Series};
use revisions::Chosen;

/// What can be chosen in the address.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Choice {
    /// Commit of the head, at least its first digits; the newest when not given.
    pub rev: Option<String>,
    /// Commit of the base; chosen by us when not given.
    pub base: Option<String>,
    /// Task count of the history.
    pub tasks: Option<String>,
    /// Least task count drawn.
    pub from: Option<String>,
    /// Greatest task count drawn.
    pub to: Option<String>,
    /// `linear`, when not given, or `log`.
    pub axis: Option<String>,
}

/// The verdict of head against base in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictLine {
    /// Class of the style sheet.
    pub class: &'static str,
    /// Words and figures.
    pub words: String,
    /// Where each inequality stands.
    pub why: String,
    /// Which revisions were compared, and why these.
    pub sides: String,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/curve.html")]
pub struct CurveView {
    /// Frame.
    pub layout: Layout,
    /// Row of the curve.
    pub id: i64,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: Vec<(String, String)>,
    /// Whose code.
    pub project: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Head against base; none with one revision.
    pub verdict: Option<VerdictLine>,
    /// Revisions to choose from, newest first; empty when nothing was measured.
    pub revisions: Vec<RevisionOption>,
    /// What is drawn of it, and how.
    pub extent: Extent,
    /// Runs whose points on this curve failed: id and its short form.
    pub failed_runs: Vec<(String, String)>,
    /// Task count of the history.
    pub tasks: i32,
    /// The same in words.
    pub tasks_words: String,
    /// The metric people look at first.
    pub primary_title: String,
    /// Its plot.
    pub main_figure: Figure,
    /// Per task, scalability.
    pub beside: Vec<Figure>,
    /// The law of scaling.
    pub scaling: ScalingView,
    /// The law of scaling over revisions.
    pub laws: LawsView,
    /// Every other metric.
    pub small_figures: Vec<Figure>,
    /// The figures of every plot.
    pub tables: Vec<MetricTable>,
    /// Task counts of the history to choose from.
    pub task_choices: Vec<TaskChoice>,
    /// The history's plot.
    pub history: Figure,
    /// Two modes of the newest level, in sentences.
    pub modes: Option<String>,
    /// The noise floor there, with age and number of observations.
    pub floor: Option<String>,
    /// Its figures, newest first.
    pub history_rows: Vec<HistoryRow>,
    /// What the workload does.
    pub what: Option<&'static str>,
    /// Facts of the newest environment of the head.
    pub environment: Facts,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(choice): Query<Choice>,
) -> Result<Html<String>, Failure> {
    let id = id.parse().map(CurveId).map_err(|_| Error::NotFound("curve"))?;
    let curve = lookup::curve(&app, &visitor.viewer, id).await?;
    let mut view = view(&app, &curve, &choice).await?;
    view.layout = view.layout.seen_by(&visitor);
    shown(&view)
}

async fn view(app: &App, curve: &Curve, choice: &Choice) -> Result<CurveView> {
    let mut view = empty(curve, Extent::of(curve, choice)?);
    let failed = db::pages_failed::list(&app.db, curve.machine, curve.id).await?;
    let mut runs: Vec<_> =
        failed.iter().map(|one| (one.run.to_string(), short_run(&one.run))).collect();
    runs.dedup();
    view.failed_runs = runs;
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let metrics = sides::metrics(&series);
    let Some(primary) = metrics.first() else { return Ok(view) };
    let Some(chosen) = revisions::choose(app, curve, primary, choice).await? else {
        return Ok(view);
    };
    let head = sides::load(app, curve, chosen.head.id).await?;
    let base = match &chosen.base {
        Some(base) => sides::load(app, curve, base.id).await?,
        None => Vec::new(),
    };
    view.revisions = chosen.options();
    view.verdict = verdict(app, curve, &series, primary, (&chosen, &base, &head)).await?;
    let topology = sides::topology(app, curve).await?;
    fill_figures(&mut view, &series, &metrics, (&base, &head), &topology);
    view.environment = environment(app, &head).await?;
    view.laws = laws::load(app, curve, &chosen).await?;
    history::fill(app, curve, primary, (&chosen, &failed), choice, &mut view).await?;
    Ok(view)
}

fn empty(curve: &Curve, extent: Extent) -> CurveView {
    let parameters = curve.parameters.clone().into_iter().collect();
    CurveView {
        layout: Layout::new(&curve.workload, Section::Curves),
        id: curve.id.0,
        workload: curve.workload.clone(),
        version: curve.version,
        parameters,
        project: curve.project_name.clone(),
        machine_id: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        verdict: None,
        revisions: Vec::new(),
        extent,
        failed_runs: Vec::new(),
        tasks: 1,
        tasks_words: String::new(),
        primary_title: String::new(),
        main_figure: Figure::one("", String::new()),
        beside: Vec::new(),
        scaling: ScalingView::default(),
        laws: LawsView::default(),
        small_figures: Vec::new(),
        tables: Vec::new(),
        task_choices: Vec::new(),
        history: Figure::one("", String::new()),
        modes: None,
        floor: None,
        history_rows: Vec::new(),
        what: workload_words(&curve.workload),
        environment: Facts { caption: String::new(), key_title: "fact", facts: Vec::new() },
    }
}

async fn verdict(
    app: &App,
    curve: &Curve,
    series: &[Series],
    primary: &Metric,
    (chosen, base, head): (&Chosen, &[Measurement], &[Measurement]),
) -> Result<Option<VerdictLine>> {
    let Some(base_revision) = &chosen.base else { return Ok(None) };
    let of = |side| sides::of_metric(side, series, &primary.name);
    let judged = sides::judge(app, curve, &of(base), &of(head), primary, Across::No).await?;
    let (base, head) = (&base_revision.commit, &chosen.head.commit);
    Ok(Some(VerdictLine {
        class: judged.class(),
        words: judged.words(),
        why: format!("/compare?curve={}&base={base}&head={head}#why", curve.id),
        sides: format!(
            "{} against {}, {}.",
            format::commit(head),
            format::commit(base),
            chosen.why_this_base
        ),
    }))
}

fn fill_figures(
    view: &mut CurveView,
    series: &[Series],
    metrics: &[Metric],
    (base, head): (&[Measurement], &[Measurement]),
    topology: &[(u32, String)],
) {
    let extent = view.extent.clone();
    let pooled = |side, metric: &Metric| {
        let mut pooled = sides::by_tasks(&sides::of_metric(side, series, &metric.name));
        pooled.retain(|tasks, _| extent.holds(*tasks));
        pooled
    };
    for (index, metric) in metrics.iter().enumerate() {
        let of = |side| sides::of_metric(side, series, &metric.name);
        let (scaling, laws) = match index {
            0 => scaling::of(metric, (&of(base), &of(head))),
            _ => Default::default(),
        };
        let sides = plots::Sides {
            base: (!base.is_empty()).then(|| (sides::label(base, "base"), pooled(base, metric))),
            head: (sides::label(head, "head"), pooled(head, metric)),
            topology: topology.to_vec(),
            log: extent.log,
            laws,
        };
        if index == 0 {
            view.primary_title = metric.title();
            view.main_figure = plots::main(metric, &sides);
            view.beside = plots::derived(metric, &sides);
            view.scaling = scaling;
        } else {
            view.small_figures.push(plots::small(metric, &sides));
        }
        view.tables.push(table::of(metric, &sides));
    }
}

async fn environment(app: &App, head: &[Measurement]) -> Result<Facts> {
    let newest = head.iter().max_by_key(|one| one.finished_at).map(|one| one.environment);
    let facts = match newest {
        Some(id) => db::environment::find(&app.db, id).await?.map(|one| one.facts),
        None => None,
    };
    Ok(Facts {
        caption: "Environment of the head's newest run".into(),
        key_title: "fact",
        facts: facts.unwrap_or_default().into_iter().collect(),
    })
}
