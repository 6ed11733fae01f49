//! Curves: listed, and one with its points at each revision.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::at::At;
use super::auth::Reader;
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
use super::page::Page;
use super::problem::Read;
use super::scaling::{LawAt, ScalingView};
use super::series::SeriesView;
use super::values::Estimate;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::detect::middle::middle;
use crate::detect::scaling;
use crate::error::Error;
use crate::model::{Curve, CurveId, Measurement, RevisionId, Series};

/// The points of one workload that differ only in task count.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Curve)]
pub struct CurveView {
    id: CurveId,
    machine: String,
    machine_name: String,
    project: String,
    workload: String,
    version: i32,
    parameters: BTreeMap<String, String>,
    tasks: Vec<i32>,
}

impl Tabular for CurveView {
    const COLUMNS: &'static [&'static str] =
        &["id", "machine", "machine_name", "project", "workload", "version", "parameters", "tasks"];
}

impl From<Curve> for CurveView {
    fn from(curve: Curve) -> CurveView {
        CurveView {
            id: curve.id,
            machine: curve.machine_public_id,
            machine_name: curve.machine_name,
            project: curve.project_name,
            workload: curve.workload,
            version: curve.version,
            parameters: curve.parameters,
            tasks: curve.tasks,
        }
    }
}

/// Curves, in the order they were first seen.
#[utoipa::path(
    get, path = "/curves", operation_id = "list_curves", tag = "curves",
    params(
        ("machine" = Option<String>, Query, description = "Id of a machine."),
        ("project" = Option<String>, Query, description = "Name of a project."),
        ("workload" = Option<String>, Query, description = "Id of a workload."),
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of curves.", content(
            (Page<CurveView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Response> {
    let machine = params.take::<String>("machine")?;
    let project = params.take::<String>("project")?;
    let mut filter = db::curve::Filter { workload: params.take("workload")?, ..Default::default() };
    let (asked, format) = (params.page()?, Format::asked(&mut params)?);
    params.finish()?;
    filter.machine = lookup::machine_filter(&app, machine.as_deref()).await?;
    (filter.project, _) = lookup::project_filter(&app, &viewer, project.as_deref(), None).await?;
    let visible = viewer.visible().clone();
    export::list("curves", format, asked, move |after, limit| {
        let (pool, filter) = (app.db.clone(), db::curve::Filter { after, ..filter.clone() });
        let visible = visible.clone();
        async move {
            let rows = db::curve::list(&pool, &visible, &filter, limit).await?;
            Ok(rows.into_iter().map(|one| (one.id, CurveView::from(one))).collect())
        }
    })
    .await
}

/// A curve with its points at each revision.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct CurveDetail {
    #[serde(flatten)]
    curve: CurveView,
    branch: Option<String>,
    /// The metric of the points below.
    metric: String,
    unit: wire::Unit,
    direction: wire::Direction,
    series: Vec<SeriesView>,
    /// How the metric scales at the newest of the revisions; null where it counts no work of all
    /// tasks together.
    scaling: Option<ScalingView>,
    /// The laws of scaling of the primary metric as last judged, in the order of revisions; empty
    /// for other metrics.
    scaling_history: Vec<LawAt>,
    revisions: Vec<RevisionView>,
}

/// One metric of the curve at one revision.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = CurveRevision)]
struct RevisionView {
    commit: String,
    subject: String,
    rank: i64,
    points: Vec<PointView>,
}

/// One task count at one revision.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = CurvePoint)]
struct PointView {
    tasks: i32,
    runs: usize,
    samples: usize,
    /// Of the samples of all runs at this revision.
    median: f64,
    /// With its exact 95 % interval; null where samples are too few for one.
    interval: Option<Estimate>,
}

/// A curve with its series, and the points of a metric at each revision of a branch, in order.
#[utoipa::path(
    get, path = "/curves/{id}", operation_id = "read_curve", tag = "curves",
    params(
        ("id" = CurveId, Path, description = "Number of the curve."),
        ("metric" = Option<String>, Query, description = "The primary one when left out."),
        ("branch" = Option<String>, Query, description = "Must be given where the project has \
            several."),
        FormatParam,
    ),
    responses(
        (status = 200, description = "The curve; as CSV a row for each point, as NDJSON a line \
            for each revision.", content(
            (CurveDetail = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    mut params: Params,
) -> Answer<Response> {
    let metric = params.take::<String>("metric")?;
    let branch = params.take::<String>("branch")?;
    let format = Format::asked(&mut params)?;
    params.finish()?;
    let id: CurveId = id.parse().map_err(|_| Error::NotFound("curve"))?;
    let curve = lookup::curve(&app, &viewer, id).await?;
    let id = curve.id;
    let series = db::series::list_of_curve(&app.db, id).await?;
    let shown = metric_of(&series, metric.as_deref())?.clone();
    let branch = lookup::branch_or_only(&app, curve.project, branch.as_deref()).await?;
    let filter = db::history::Filter {
        metric: Some(&shown.metric),
        branch: branch.as_ref().map(|branch| branch.id),
        ..Default::default()
    };
    let mut measurements = db::history::list(&app.db, &curve, &filter, false).await?;
    let pooled = with_samples(&measurements);
    measurements.retain(|one| !pooled.contains(&one.revision));
    let pooled: Vec<RevisionId> = pooled.into_iter().collect();
    let filter = db::history::Filter { revisions: Some(&pooled), ..filter };
    let pooled = db::history::list(&app.db, &curve, &filter, true).await?;
    let scaling = scaling::applies(shown.unit, shown.direction);
    let scaling = scaling.then(|| ScalingView::of_newest(&pooled)).flatten();
    measurements.extend(pooled);
    let mut laws = match shown.primary {
        true => db::scaling::list(&app.db, curve.machine, id).await?,
        false => Vec::new(),
    };
    laws.retain(|law| branch.as_ref().is_none_or(|branch| law.branch == branch.id));
    let revisions = by_revision(measurements);
    Ok(match format {
        Format::Csv => export::csv("curve", point_rows(revisions)),
        Format::Ndjson => export::ndjson("curve", revisions),
        Format::Json => Json(CurveDetail {
            curve: curve.into(),
            branch: branch.map(|branch| branch.name),
            metric: shown.metric,
            unit: shown.unit,
            direction: shown.direction,
            series: series.into_iter().map(SeriesView::from).collect(),
            scaling,
            scaling_history: laws.into_iter().map(LawAt::from).collect(),
            revisions,
        })
        .into_response(),
    })
}

/// A point of the curve as a row of CSV.
#[derive(Debug, Serialize)]
struct PointRow {
    commit: String,
    subject: String,
    rank: i64,
    #[serde(flatten)]
    point: PointView,
}

impl Tabular for PointRow {
    const COLUMNS: &'static [&'static str] = &[
        "commit",
        "subject",
        "rank",
        "tasks",
        "runs",
        "samples",
        "median",
        "interval.low",
        "interval.high",
    ];
}

fn point_rows(revisions: Vec<RevisionView>) -> Vec<PointRow> {
    let of_revision = |revision: RevisionView| {
        let RevisionView { commit, subject, rank, points } = revision;
        let row =
            move |point| PointRow { commit: commit.clone(), subject: subject.clone(), rank, point };
        points.into_iter().map(row)
    };
    revisions.into_iter().flat_map(of_revision).collect()
}

/// The metric of this name, else the primary one; a curve whose every point failed has none.
pub fn metric_of<'a>(series: &'a [Series], name: Option<&str>) -> Result<&'a Series, Error> {
    let found = match name {
        None => series.first(),
        Some(name) => series.iter().find(|one| one.metric == name),
    };
    found.ok_or(Error::NotFound("metric"))
}

/// The revisions of which every sample is needed: the newest, through which the law is laid, and
/// those where the samples of several runs are one point.
fn with_samples(measurements: &[Measurement]) -> BTreeSet<RevisionId> {
    let newest = measurements.iter().max_by_key(|one| (one.rank, &one.commit));
    let mut seen = BTreeSet::new();
    let again = measurements.iter().filter(|one| !seen.insert((one.revision, one.tasks)));
    again.chain(newest).map(|one| one.revision).collect()
}

/// Runs by task count.
type ByTasks = BTreeMap<i32, Vec<Measurement>>;

fn by_revision(measurements: Vec<Measurement>) -> Vec<RevisionView> {
    let mut revisions: BTreeMap<(i64, String), (String, ByTasks)> = BTreeMap::new();
    for one in measurements {
        let key = (one.rank, one.commit.clone());
        let new = || (one.subject.clone(), ByTasks::new());
        let (_, points) = revisions.entry(key).or_insert_with(new);
        points.entry(one.tasks).or_default().push(one);
    }
    let mut views = Vec::with_capacity(revisions.len());
    for ((rank, commit), (subject, points)) in revisions {
        let points = points.iter().filter_map(|(tasks, runs)| point(*tasks, runs)).collect();
        views.push(RevisionView { commit, subject, rank, points });
    }
    views
}

fn point(tasks: i32, runs: &[Measurement]) -> Option<PointView> {
    let samples: Vec<f64> = runs.iter().flat_map(|run| &run.samples).copied().collect();
    let (median, interval) = match runs {
        [one] if one.samples.is_empty() => (one.summary.median, one.interval),
        _ => middle(&samples)?,
    };
    let interval = interval.map(|(low, high)| Estimate::from((median, low, high)));
    let samples = runs.iter().map(|run| run.summary.n).sum();
    Some(PointView { tasks, runs: runs.len(), samples, median, interval })
}
