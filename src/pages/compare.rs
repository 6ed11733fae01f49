//! `/compare?curve=&base=&head=`: one curve at two revisions, point by point, with every
//! inequality behind each verdict, and the rules of mmtests and LKP beside ours.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;

use super::failure::Failure;
use super::metric::Metric;
use super::sides::{self, Judged};
use super::view::{CommitMark, EnvironmentChanges, Evidence, Figure, Layout, Section, Value};
use super::visitor::Visitor;
use super::{incidents, shown};
use crate::api::lookup;
use crate::app::App;
use crate::chart::{ComparePlot, CompareRow, CurvePlot, Size, svg};
use crate::db;
use crate::detect::beside::{Beside, beside, mean_name};
use crate::detect::evidence::change_of;
use crate::detect::explain;
use crate::detect::floor::Floor;
use crate::detect::history::direction_of;
use crate::detect::policy;
use crate::detect::two_sides::{Across, Comparison, PointJudgement, PointSides};
use crate::error::{Error, Result};
use crate::format;
use crate::model::step::Change;
use crate::model::{Curve, CurveId, Measurement, Revision, Series};

const WIDE: Size = Size { width: 1080, height: 320 };
const NARROW: Size = Size { width: 360, height: 280 };

/// What the address must say.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    curve: Option<String>,
    base: Option<String>,
    head: Option<String>,
    metric: Option<String>,
    environments: Option<String>,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointRow {
    /// Task count.
    pub tasks: u32,
    /// The same in words.
    pub tasks_words: String,
    /// Median of the base.
    pub base: Value,
    /// Median of the head.
    pub head: Value,
    /// head ÷ base with its interval, as changes.
    pub change: String,
    /// Verdict in words.
    pub verdict: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// mmtests' cell.
    pub mmtests: String,
    /// LKP's cell.
    pub lkp: String,
    /// LKP's verdict in words.
    pub lkp_verdict: &'static str,
    /// Whether its evidence is shown unasked.
    pub open: bool,
    /// Why.
    pub evidence: Evidence,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/compare.html")]
pub struct CompareView {
    /// Frame.
    pub layout: Layout,
    /// Row of the curve.
    pub id: i64,
    /// Workload id.
    pub workload: String,
    /// Parameters, task count left out.
    pub parameters: Vec<(String, String)>,
    /// Whose code.
    pub project: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Base revision.
    pub base: CommitMark,
    /// Head revision.
    pub head: CommitMark,
    /// Class of the style sheet for the verdict.
    pub class: &'static str,
    /// Verdict over the curve in words.
    pub words: String,
    /// What is compared.
    pub metric: String,
    /// Name of mmtests' mean.
    pub mean: &'static str,
    /// Our rule in a sentence, from its limits.
    pub rule: String,
    /// The noise floor here, in a sentence.
    pub floor: String,
    /// Whether both sides ran in one environment.
    pub environment_words: &'static str,
    /// Address that compares across environments, where they differ and that was not asked.
    pub across: Option<String>,
    /// What differs where no environment is shared.
    pub environment_changes: EnvironmentChanges,
    /// Runs left out, in sentences.
    pub set_aside: Vec<String>,
    /// Ratios.
    pub figure: Figure,
    /// Both curves.
    pub lines_figure: Figure,
    /// In order of task count.
    pub rows: Vec<PointRow>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Html<String>, Failure> {
    shown(&view(&app, &visitor, &choice).await?)
}

async fn view(app: &App, visitor: &Visitor, choice: &Choice) -> Result<CompareView> {
    let id = required("curve", &choice.curve)?;
    let id = id.parse().map(CurveId).map_err(|_| Error::NotFound("curve"))?;
    let curve = lookup::curve(app, &visitor.viewer, id).await?;
    let base = revision(app, &curve, "base", &choice.base).await?;
    let head = revision(app, &curve, "head", &choice.head).await?;
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let metric = metric(&series, choice)?;
    let of = |all: Vec<Measurement>| sides::of_metric(&all, &series, &metric.name);
    let base_runs = of(sides::load(app, &curve, base.id).await?);
    let head_runs = of(sides::load(app, &curve, head.id).await?);
    let asked = choice.environments.as_deref();
    let across = Across::parse(asked).ok_or_else(|| {
        Error::query("environments", format!("must be {} where it is given", Across::WORD))
    })?;
    let judged = sides::judge(app, &curve, &base_runs, &head_runs, &metric, across).await?;
    let mut view = filled(&curve, (&base, &head), &metric, (&base_runs, &head_runs), &judged);
    view.layout = view.layout.seen_by(visitor);
    view.across = across_address(&curve, (&base, &head), &metric, across, &judged.comparison);
    Ok(view)
}

/// Where the sides are compared though their environments differ; none where they are already, or
/// share one.
fn across_address(
    curve: &Curve,
    (base, head): (&Revision, &Revision),
    metric: &Metric,
    across: Across,
    comparison: &Comparison,
) -> Option<String> {
    let differ = across == Across::No && !comparison.environment_changes.is_empty();
    differ.then(|| {
        format!(
            "/compare?curve={}&base={}&head={}&metric={}&environments={}",
            curve.id,
            base.commit,
            head.commit,
            metric.name,
            Across::WORD
        )
    })
}

fn required<'a>(name: &'static str, value: &'a Option<String>) -> Result<&'a str> {
    let given = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
    given.ok_or_else(|| Error::query(name, "must be given"))
}

async fn revision(
    app: &App,
    curve: &Curve,
    name: &'static str,
    commit: &Option<String>,
) -> Result<Revision> {
    let commit = required(name, commit)?;
    let found = db::revision::list_by_prefix(&app.db, curve.project, commit).await?;
    let unknown = || format!("`{commit}` is no commit of project {}", curve.project_name);
    found.into_iter().next().ok_or_else(|| Error::query(name, unknown()))
}

/// The metric asked for, else the one people look at first.
fn metric(series: &[Series], choice: &Choice) -> Result<Metric> {
    let mut metrics = sides::metrics(series).into_iter();
    let found = match &choice.metric {
        None => metrics.next(),
        Some(name) => metrics.find(|metric| metric.name == *name),
    };
    found.ok_or_else(|| Error::query("metric", "was not measured on this curve"))
}

fn filled(
    curve: &Curve,
    (base, head): (&Revision, &Revision),
    metric: &Metric,
    (base_runs, head_runs): (&[Measurement], &[Measurement]),
    judged: &Judged,
) -> CompareView {
    let rows = rows(metric, judged);
    CompareView {
        layout: Layout::new(format!("Compare {}", curve.workload), Section::Curves),
        id: curve.id.0,
        workload: curve.workload.clone(),
        parameters: curve.parameters.clone().into_iter().collect(),
        project: curve.project_name.clone(),
        machine_id: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        base: CommitMark::new(&base.commit, &base.subject),
        head: CommitMark::new(&head.commit, &head.subject),
        class: judged.class(),
        words: judged.words(),
        metric: metric.full(),
        mean: mean_name(direction_of(metric.direction)),
        rule: explain::two_sides_rule(),
        floor: floor_words(&judged.floor),
        environment_words: environment_words(&judged.comparison),
        across: None,
        environment_changes: EnvironmentChanges::new(&judged.comparison.environment_changes),
        set_aside: judged.comparison.set_aside.clone(),
        figure: ratios_figure(metric, judged),
        lines_figure: lines_figure(metric, (base, head), (base_runs, head_runs)),
        rows,
    }
}

fn environment_words(comparison: &Comparison) -> &'static str {
    match (comparison.environment, comparison.environment_changes.as_slice()) {
        (Some(_), _) => "The same on both sides: only runs of one environment were compared.",
        (None, []) => "One of the sides has no run of this metric on this curve.",
        (None, _) => {
            "The sides ran in different environments, so no point is called. What moved results \
             most often before stands first."
        }
    }
}

fn floor_words(floor: &Floor) -> String {
    match floor.words() {
        Some(words) => format!("Here: {words}."),
        None => "No noise floor of A/A runs is known here.".into(),
    }
}

fn rows(metric: &Metric, judged: &Judged) -> Vec<PointRow> {
    let direction = direction_of(metric.direction);
    let judgement = &judged.comparison.judgement;
    let row = |(point, sides): (&PointJudgement, &PointSides)| {
        let change = change_of(point.verdict);
        let Beside { mmtests, lkp, lkp_verdict } = beside(&sides.base, &sides.head, direction);
        let words = format::count(point.tasks as usize, "task");
        PointRow {
            tasks: point.tasks,
            tasks_words: words.clone(),
            base: Value::maybe(point.base),
            head: Value::maybe(point.head),
            change: point.ratio.map_or(String::new(), format::change_with_interval),
            verdict: verdict(point),
            class: change.map_or("undecided", incidents::class),
            mmtests: mmtests.unwrap_or("–".into()),
            lkp: lkp.unwrap_or("–".into()),
            lkp_verdict,
            open: change.is_some() || judgement.points.len() == 1,
            evidence: Evidence::new(words, &crate::model::step::Evidence::from(&point.evidence)),
        }
    };
    judgement.points.iter().zip(&judged.points).map(row).collect()
}

/// `regression`, `regression, unconfirmed`.
fn verdict(point: &PointJudgement) -> String {
    let doubt = if point.unconfirmed { ", unconfirmed" } else { "" };
    format!("{}{doubt}", point.verdict.words())
}

fn ratios_figure(metric: &Metric, judged: &Judged) -> Figure {
    let judgement = &judged.comparison.judgement;
    let row = |point: &PointJudgement| CompareRow {
        label: format::count(point.tasks as usize, "task"),
        ratio: point.ratio,
        noise_floor: judged.floor.relative.max(policy::two_sides().least_effect),
        worse: change_of(point.verdict).map(|change| change == Change::Regression),
        note: match point.ratio {
            Some((ratio, _, _)) => format!("{}, {}", format::change(ratio), verdict(point)),
            None => verdict(point),
        },
    };
    let plot = ComparePlot {
        title: format!("head ÷ base, {}", metric.axis()),
        rows: judgement.points.iter().map(row).collect(),
    };
    let caption = "One row a point: the ratio and its interval; beyond 0 % on either side is a \
                   change only where the whole interval clears the limit.";
    Figure::two(caption, (WIDE, NARROW), |size| svg::compare(&plot, size.width))
}

fn lines_figure(
    metric: &Metric,
    (base, head): (&Revision, &Revision),
    (base_runs, head_runs): (&[Measurement], &[Measurement]),
) -> Figure {
    let line = |revision: &Revision, runs: &[Measurement]| {
        sides::line(format::commit(&revision.commit), &sides::by_tasks(runs), |_| 1.0)
    };
    let lines = vec![line(base, base_runs), line(head, head_runs)];
    let plot = CurvePlot { y_title: metric.axis(), lines, ..CurvePlot::default() };
    let caption = "Both curves; medians of all windows with 95 % intervals.";
    Figure::two(caption, (WIDE, NARROW), |size| svg::curve(&plot, size))
}
