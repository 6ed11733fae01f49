//! Base against head: one curve at two revisions, judged point by point.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::auth::Reader;
use super::curves::metric_of;
use super::export::{self, Format, FormatParam, Tabular};
use super::lookup::{self, Side};
use super::noise::NoiseFloorView;
use super::problem::Read;
use super::scaling::ScalingCompared;
use super::values::Estimate;
use super::{Answer, Params};
use crate::account::Viewer;
use crate::app::App;
use crate::db;
use crate::detect::floor::Floor;
use crate::detect::history::{Environments, direction_of};
use crate::detect::two_sides::{Across, Comparison};
use crate::detect::{earlier, environments, policy, scaling, two_sides};
use crate::error::{Error, Result};
use crate::model::environment::Known;
use crate::model::step::Evidence;
use crate::model::{Curve, CurveId, Difference, EnvironmentId, Measurement, Revision, Series};

/// Base against head, judged point by point.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Comparison)]
pub struct ComparisonView {
    curve: CurveId,
    metric: String,
    unit: wire::Unit,
    direction: wire::Direction,
    base: RevisionView,
    head: RevisionView,
    /// The verdict over the curve in words; never one number.
    words: String,
    /// The environment both sides were judged in; null when they share none.
    environment: Option<EnvironmentId>,
    /// What differs where the sides share no environment; what moved results most often first.
    environment_changes: Vec<Known>,
    /// Runs left out, in sentences.
    set_aside: Vec<String>,
    /// What identical code differs by here; null where that is not known.
    noise_floor: Option<NoiseFloorView>,
    /// How both sides scale, and whether that changed; null where the metric counts no work of all
    /// tasks together, and where the sides share no environment.
    scaling: Option<ScalingCompared>,
    points: Vec<PointView>,
}

/// A side of a comparison.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ComparisonRevision)]
struct RevisionView {
    commit: String,
    subject: String,
}

/// One task count, judged.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ComparisonPoint)]
struct PointView {
    tasks: u32,
    verdict: &'static str,
    /// Two builds of one code might show the change too: earlier builds are too few to tell.
    unconfirmed: bool,
    base: Option<f64>,
    head: Option<f64>,
    /// head ÷ base, the base taken with the earlier builds it stands with; its interval at the
    /// level corrected for the number of points.
    ratio: Option<Estimate>,
    evidence: Evidence,
}

/// Compares a curve at two revisions.
#[utoipa::path(
    get, path = "/compare", operation_id = "compare", tag = "compare",
    params(CompareParams, FormatParam),
    responses(
        (status = 200, description = "The verdict; as CSV and NDJSON its points.", content(
            (ComparisonView = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Response> {
    let format = Format::asked(&mut params)?;
    let compared = compared(&app, &viewer, params).await?;
    let scaling = compared.scaling();
    let Compared { curve, series, base, head, floor, comparison, .. } = compared;
    let points: Vec<PointView> = comparison.judgement.points.iter().map(PointView::from).collect();
    match format {
        Format::Csv => return Ok(export::csv("compare", points)),
        Format::Ndjson => return Ok(export::ndjson("compare", points)),
        Format::Json => {}
    }
    let comparison = ComparisonView {
        curve: curve.id,
        metric: series.metric,
        unit: series.unit,
        direction: series.direction,
        base: RevisionView::of(&base),
        head: RevisionView::of(&head),
        points,
        words: comparison.judgement.words,
        environment: comparison.environment,
        environment_changes: comparison.environment_changes,
        set_aside: comparison.set_aside,
        scaling,
        noise_floor: floor.of.map(NoiseFloorView::from),
    };
    Ok(Json(comparison).into_response())
}

impl Tabular for PointView {
    const COLUMNS: &'static [&'static str] = &[
        "tasks",
        "verdict",
        "unconfirmed",
        "base",
        "head",
        "ratio.value",
        "ratio.low",
        "ratio.high",
    ];
}

/// What to compare.
pub enum CompareParams {}

impl utoipa::IntoParams for CompareParams {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let id = ObjectBuilder::new().schema_type(Type::Integer);
        let across = text().enum_values(Some([Across::WORD]));
        [
            ("curve", Required::True, "Number of the curve.", id),
            (
                "base",
                Required::True,
                "A commit by at least 4 hex digits; `A..B`, the revisions after A up to B; or runs, \
                 `run:UUID,UUID`.",
                text(),
            ),
            ("head", Required::True, "Likewise.", text()),
            (
                "branch",
                Required::False,
                "Branch of a range, where several have both ends.",
                text(),
            ),
            ("metric", Required::False, "The primary one when left out.", text()),
            (
                "environments",
                Required::False,
                "Whether runs of different environments are compared all the same.",
                across,
            ),
        ]
        .map(|(name, required, words, schema)| {
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(required)
                .description(Some(words))
                .schema(Some(schema))
                .build()
        })
        .into()
    }
}

/// What was compared, and how it compares.
pub struct Compared {
    /// The curve.
    pub curve: Curve,
    /// A series of the metric.
    pub series: Series,
    /// What is compared with.
    pub base: Side,
    /// What is judged.
    pub head: Side,
    /// What identical code differs by here.
    pub floor: Floor,
    /// The verdict.
    pub comparison: Comparison,
    /// What was measured at the base and at the head.
    runs: [Vec<Measurement>; 2],
}

impl Compared {
    /// How both sides scale in the environment they were judged in; none where they share none.
    fn scaling(&self) -> Option<ScalingCompared> {
        let environment = self.comparison.environment?;
        let applies = scaling::applies(self.series.unit, self.series.direction);
        let here = |runs: &Vec<Measurement>| -> Vec<Measurement> {
            runs.iter().filter(|run| run.environment == environment).cloned().collect()
        };
        let [base, head] = self.runs.each_ref().map(here);
        applies.then(|| ScalingCompared::of(&base, &head))
    }
}

/// Compares what the parameters ask for.
pub async fn compared(app: &App, viewer: &Viewer, mut params: Params) -> Result<Compared> {
    let curve = params.require::<CurveId>("curve")?;
    let base = params.require::<String>("base")?;
    let head = params.require::<String>("head")?;
    let branch = params.take::<String>("branch")?;
    let metric = params.take::<String>("metric")?;
    let across = params.take::<String>("environments")?;
    params.finish()?;
    let across = Across::parse(across.as_deref()).ok_or_else(|| {
        Error::query("environments", format!("must be {} where it is given", Across::WORD))
    })?;
    let curve = lookup::curve(app, viewer, curve).await?;
    let base = lookup::side(app, curve.project, ("base", &base), branch.as_deref()).await?;
    let head = lookup::side(app, curve.project, ("head", &head), branch.as_deref()).await?;
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let series = metric_of(&series, metric.as_deref())?.clone();
    let base_runs = runs(app, &curve, &series.metric, &base).await?;
    let head_runs = runs(app, &curve, &series.metric, &head).await?;
    let floors = db::noise::list_of_curve(&app.db, curve.machine, curve.id).await?;
    let floor = Floor::of_sides(&floors, &series.metric);
    let earlier = earlier::load(&app.db, &curve, &series.metric, &base_runs, &head_runs).await?;
    let points = two_sides::points(&base_runs, &head_runs, &earlier, floor.relative);
    let facts = facts(app, base_runs.iter().chain(&head_runs)).await?;
    let direction = direction_of(series.direction);
    let policy = policy::two_sides();
    let mut comparison = two_sides::compare_curve(&points, direction, &facts, &policy, across);
    let differences: Vec<Difference> =
        comparison.environment_changes.iter().map(|one| one.difference.clone()).collect();
    comparison.rank(environments::ranked(&app.db, &differences).await?);
    let runs = [base_runs, head_runs];
    Ok(Compared { curve, series, base, head, floor, comparison, runs })
}

async fn runs(app: &App, curve: &Curve, metric: &str, side: &Side) -> Result<Vec<Measurement>> {
    let filter = db::history::Filter {
        metric: Some(metric),
        revisions: Some(&side.runs.revisions),
        runs: (!side.runs.runs.is_empty()).then_some(&side.runs.runs),
        ..Default::default()
    };
    Ok(db::history::list(&app.db, curve, &filter, true).await?)
}

async fn facts(app: &App, runs: impl Iterator<Item = &Measurement>) -> Result<Environments> {
    let ids: BTreeSet<EnvironmentId> = runs.map(|run| run.environment).collect();
    let ids: Vec<EnvironmentId> = ids.into_iter().collect();
    let found = db::environment::list(&app.db, &ids).await?;
    Ok(found.into_iter().map(|one| (one.id, one.facts)).collect())
}

impl RevisionView {
    /// The last of the side: a lookup gives at least one.
    fn of(side: &Side) -> RevisionView {
        let last = side.revisions.last();
        let text = |of: fn(&Revision) -> &String| last.map(of).cloned().unwrap_or_default();
        RevisionView { commit: text(|one| &one.commit), subject: text(|one| &one.subject) }
    }
}

impl From<&stats::two_sides::PointJudgement> for PointView {
    fn from(point: &stats::two_sides::PointJudgement) -> PointView {
        PointView {
            tasks: point.tasks,
            verdict: point.verdict.words(),
            unconfirmed: point.unconfirmed,
            base: point.base,
            head: point.head,
            ratio: point.ratio.map(Estimate::from),
            evidence: (&point.evidence).into(),
        }
    }
}
