//! One run: everything it recorded, and its evidence.

use std::collections::BTreeMap;
use std::io::Read as _;

use anyhow::Context as _;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use serde::Serialize;

use super::at::At;
use super::auth::Reader;
use super::environments::EnvironmentView;
use super::export::{self, Format, FormatParam};
use super::problem::Read;
use super::runs::RunView;
use super::values::SummaryView;
use super::{Answer, Params, lookup, run_rows};
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::model::profile;
use crate::model::{Artefact, CurveId, RunMetric, RunPoint, RunValues, SeriesId};

/// A run with everything it recorded.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    run: RunView,
    environment: EnvironmentView,
    recorded: Vec<PointView>,
    artefacts: Vec<ArtefactView>,
}

/// One workload at one setting in this run.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RunPoint)]
pub(super) struct PointView {
    curve: CurveId,
    pub(super) workload: String,
    pub(super) version: i32,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) tasks: i32,
    #[serde(flatten)]
    pub(super) outcome: OutcomeView,
}

/// What came of a point.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RunOutcome)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutcomeView {
    Measured(MeasuredView),
    Imported(ImportedView),
    Failed(wire::Failure),
}

/// What was measured at a point.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RunMeasured)]
pub(super) struct MeasuredView {
    placement: Vec<Vec<u32>>,
    start_skew_ns: i64,
    warmup_windows: i32,
    windows: Vec<wire::Window>,
    disturbance: wire::Disturbance,
    counters: BTreeMap<String, f64>,
    pub(super) metrics: Vec<MetricView>,
}

/// What another tool measured: values without windows.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RunImported)]
pub(super) struct ImportedView {
    /// The tool that measured.
    tool: String,
    /// The metrics it told, the primary one first.
    pub(super) metrics: Vec<MetricView>,
    /// Spread of samples that it did not tell, by metric.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    spread: BTreeMap<String, wire::Spread>,
}

/// The samples of one metric at a point.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RunMetric)]
pub(super) struct MetricView {
    series: SeriesId,
    pub(super) metric: String,
    pub(super) unit: wire::Unit,
    pub(super) direction: wire::Direction,
    summary: SummaryView,
    pub(super) samples: Vec<f64>,
}

/// A piece of evidence kept with a run.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = StoredArtefact)]
struct ArtefactView {
    name: String,
    media_type: String,
    size_bytes: i64,
    sha256: String,
}

/// A run with every raw window.
#[utoipa::path(
    get, path = "/runs/{id}", operation_id = "read_run", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "UUID of the run."), FormatParam),
    responses(
        (status = 200, description = "The run; as CSV a row for each sample and each point that \
            failed, as NDJSON a line for each point.", content(
            (RunDetail = "application/json"),
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
    let format = Format::asked(&mut params)?;
    params.finish()?;
    let run = lookup::run(&app, &viewer, &id).await?;
    let environment = db::environment::find(&app.db, run.environment).await?;
    let environment = environment.ok_or(Error::NotFound("environment"))?.into();
    let points = db::point::list_of_run(&app.db, &run).await?;
    let artefacts = db::run::list_artefacts(&app.db, &run).await?;
    let recorded: Vec<PointView> = points.into_iter().map(PointView::from).collect();
    Ok(match format {
        Format::Csv => export::csv("run", run_rows::of(&recorded)),
        Format::Ndjson => export::ndjson("run", recorded),
        Format::Json => Json(RunDetail {
            run: run.into(),
            environment,
            recorded,
            artefacts: artefacts.into_iter().map(ArtefactView::from).collect(),
        })
        .into_response(),
    })
}

/// A piece of evidence as it was sent, a profile as its folded stacks.
///
/// It came from outside, so whatever it says it is, it goes out as plain text.
#[utoipa::path(
    get, path = "/runs/{id}/artefacts/{name}", operation_id = "read_artefact", tag = "runs",
    params(
        ("id" = uuid::Uuid, Path, description = "UUID of the run."),
        ("name" = String, Path, description = "Name of the artefact."),
    ),
    responses(
        (status = 200, description = "Its content.", body = String, content_type = "text/plain"),
        Read,
    ),
)]
pub async fn artefact(
    State(app): State<App>,
    Reader(viewer): Reader,
    At((id, name)): At<(String, String)>,
    params: Params,
) -> Answer<impl IntoResponse> {
    params.finish()?;
    let run = lookup::run(&app, &viewer, &id).await?;
    let found = db::run::find_artefact(&app.db, run.id, &name).await?;
    let (media_type, compressed) = found.ok_or(Error::NotFound("artefact"))?;
    let mut content = Vec::new();
    GzDecoder::new(&*compressed)
        .read_to_end(&mut content)
        .context("a stored artefact is broken")?;
    let folded = |content| profile::folded(std::str::from_utf8(content).ok()?).ok();
    if let (true, Some(folded)) = (media_type == wire::Artefact::PROFILE, folded(&content)) {
        content = folded.into_bytes();
    }
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, content))
}

impl From<RunPoint> for PointView {
    fn from(point: RunPoint) -> PointView {
        PointView {
            curve: point.curve,
            workload: point.workload,
            version: point.version,
            parameters: point.parameters,
            tasks: point.tasks,
            outcome: match point.outcome {
                Ok(RunValues { origin: Some(origin), metrics, .. }) => {
                    OutcomeView::Imported(ImportedView {
                        tool: origin.tool,
                        metrics: metrics.into_iter().map(MetricView::from).collect(),
                        spread: origin.spread,
                    })
                }
                Ok(values) => OutcomeView::Measured(values.into()),
                Err(failure) => OutcomeView::Failed(failure),
            },
        }
    }
}

impl From<RunValues> for MeasuredView {
    fn from(values: RunValues) -> MeasuredView {
        MeasuredView {
            placement: values.placement,
            start_skew_ns: values.start_skew_ns,
            warmup_windows: values.warmup_windows,
            windows: values.windows,
            disturbance: values.disturbance,
            counters: values.counters,
            metrics: values.metrics.into_iter().map(MetricView::from).collect(),
        }
    }
}

impl From<RunMetric> for MetricView {
    fn from(metric: RunMetric) -> MetricView {
        MetricView {
            series: metric.series,
            metric: metric.name,
            unit: metric.unit,
            direction: metric.direction,
            summary: metric.summary.into(),
            samples: metric.samples,
        }
    }
}

impl From<Artefact> for ArtefactView {
    fn from(artefact: Artefact) -> ArtefactView {
        ArtefactView {
            name: artefact.name,
            media_type: artefact.media_type,
            size_bytes: artefact.size_bytes,
            sha256: artefact.digest,
        }
    }
}
