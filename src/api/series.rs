//! Series: one metric at one task count, every run in the order of revisions.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::at::At;
use super::auth::Reader;
use super::columns::Columns;
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
use super::page::Page;
use super::problem::Read;
use super::values::SummaryView;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::db::series::{Filter, Listed};
use crate::detect::modes::{self, Mode, Modes};
use crate::error::Error;
use crate::model::{CurveId, EnvironmentId, Measurement, RunId, Series, SeriesId};

/// One metric of a curve at one task count.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Series)]
pub struct SeriesView {
    id: SeriesId,
    curve: CurveId,
    tasks: i32,
    metric: String,
    unit: wire::Unit,
    direction: wire::Direction,
    primary: bool,
}

impl From<Series> for SeriesView {
    fn from(series: Series) -> SeriesView {
        SeriesView {
            id: series.id,
            curve: series.curve,
            tasks: series.tasks,
            metric: series.metric,
            unit: series.unit,
            direction: series.direction,
            primary: series.primary,
        }
    }
}

/// A series with the curve it lies on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ListedSeries {
    #[serde(flatten)]
    series: SeriesView,
    machine: String,
    machine_name: String,
    project: String,
    workload: String,
    version: i32,
    parameters: BTreeMap<String, String>,
}

impl Tabular for ListedSeries {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "curve",
        "machine",
        "machine_name",
        "project",
        "workload",
        "version",
        "parameters",
        "tasks",
        "metric",
        "unit",
        "direction",
        "primary",
    ];
}

impl From<Listed> for ListedSeries {
    fn from(listed: Listed) -> ListedSeries {
        ListedSeries {
            series: listed.series.into(),
            machine: listed.machine_public_id,
            machine_name: listed.machine_name,
            project: listed.project_name,
            workload: listed.workload,
            version: listed.version,
            parameters: listed.parameters,
        }
    }
}

/// Series, in the order they were first seen.
#[utoipa::path(
    get, path = "/series", operation_id = "list_series", tag = "curves",
    params(
        ("curve" = Option<CurveId>, Query, description = "Number of a curve."),
        ("machine" = Option<String>, Query, description = "Id of a machine."),
        ("project" = Option<String>, Query, description = "Name of a project."),
        ("workload" = Option<String>, Query, description = "Id of a workload."),
        ("metric" = Option<String>, Query, description = "Name of a metric."),
        ("tasks" = Option<i32>, Query, description = "Task count."),
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of series.", content(
            (Page<ListedSeries> = "application/json"),
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
    let mut filter = Filter { curve: params.take("curve")?, ..Filter::default() };
    let machine = params.take::<String>("machine")?;
    let project = params.take::<String>("project")?;
    filter.workload = params.take("workload")?;
    filter.metric = params.take("metric")?;
    filter.tasks = params.take("tasks")?;
    let (asked, format) = (params.page()?, Format::asked(&mut params)?);
    params.finish()?;
    filter.machine = lookup::machine_filter(&app, machine.as_deref()).await?;
    (filter.project, _) = lookup::project_filter(&app, &viewer, project.as_deref(), None).await?;
    let visible = viewer.visible().clone();
    export::list("series", format, asked, move |after, limit| {
        let (pool, filter) = (app.db.clone(), Filter { after, ..filter.clone() });
        let visible = visible.clone();
        async move {
            let rows = db::series::list(&pool, &visible, &filter, limit).await?;
            Ok(rows.into_iter().map(|one| (one.series.id, ListedSeries::from(one))).collect())
        }
    })
    .await
}

/// A series with its runs.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SeriesDetail {
    #[serde(flatten)]
    series: SeriesView,
    branch: Option<String>,
    /// Two modes of the newest level; null where it has one.
    modes: Option<ModesView>,
    #[serde(flatten)]
    runs: Runs,
}

/// The runs in the form asked for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Runs {
    Measurements(Vec<MeasurementView>),
    Columns(Box<Columns>),
}

/// How runs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One object a run.
    Rows,
    /// One array a field, figures of six digits.
    Columns,
}

impl FromStr for Form {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Form, &'static str> {
        match word {
            "rows" => Ok(Form::Rows),
            "columns" => Ok(Form::Columns),
            _ => Err("it is neither rows nor columns"),
        }
    }
}

/// A switch from one mode to the other is no step.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Modes)]
struct ModesView {
    low: ModeView,
    high: ModeView,
    switches: usize,
}

/// One of the two values a level switches between.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Mode)]
struct ModeView {
    value: f64,
    runs: usize,
    /// Mean number of runs in a row.
    dwell: f64,
}

/// One run of a series.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Measurement)]
struct MeasurementView {
    #[schema(value_type = uuid::Uuid)]
    run: RunId,
    commit: String,
    subject: String,
    rank: i64,
    environment: EnvironmentId,
    #[serde(with = "rfc3339")]
    finished_at: OffsetDateTime,
    summary: SummaryView,
    /// In order of time; left out unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    samples: Vec<f64>,
}

/// A series with every run in the order of revisions.
#[utoipa::path(
    get, path = "/series/{id}", operation_id = "read_series", tag = "curves",
    params(
        ("id" = SeriesId, Path, description = "Number of the series."),
        ("branch" = Option<String>, Query, description = "Must be given where the project has \
            several."),
        ("samples" = Option<bool>, Query, description = "Whether every sample is shown."),
        ("form" = Option<String>, Query, description = "`rows`, one object a run, or `columns`, one \
            array a field: a plot of a long history loads fast."),
        FormatParam,
    ),
    responses(
        (status = 200, description = "The series; as CSV a row for each run, or for each sample \
            where they are asked for, as NDJSON a line for each run.", content(
            (SeriesDetail = "application/json"),
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
    let branch = params.take::<String>("branch")?;
    let samples = params.take::<bool>("samples")?.unwrap_or(false);
    let form = params.take::<Form>("form")?.unwrap_or(Form::Rows);
    let format = Format::asked(&mut params)?;
    params.finish()?;
    if samples && form == Form::Columns {
        return Err(Error::query("samples", "go with form=rows alone").into());
    }
    let id: SeriesId = id.parse().map_err(|_| Error::NotFound("series"))?;
    let series = db::series::find(&app.db, id).await?.ok_or(Error::NotFound("series"))?;
    let curve = db::curve::find(&app.db, series.curve).await?.ok_or(Error::NotFound("series"))?;
    viewer.sees(curve.project, "series")?;
    let branch = lookup::branch_or_only(&app, curve.project, branch.as_deref()).await?;
    let filter = db::history::Filter {
        metric: Some(&series.metric),
        tasks: Some(series.tasks),
        branch: branch.as_ref().map(|branch| branch.id),
        ..Default::default()
    };
    let measurements = db::history::list(&app.db, &curve, &filter, samples).await?;
    match format {
        Format::Csv if samples => return Ok(export::csv("series", sample_rows(measurements))),
        Format::Csv => {
            let rows = measurements.into_iter().map(MeasurementView::from);
            return Ok(export::csv("series", rows.collect()));
        }
        Format::Ndjson => {
            let rows = measurements.into_iter().map(MeasurementView::from);
            return Ok(export::ndjson("series", rows.collect()));
        }
        Format::Json => {}
    }
    let steps = db::incident_step::list_standing_of_curve(&app.db, curve.id).await?;
    let last_step = steps.iter().filter(|step| step.series == id).map(|step| step.bad.rank).max();
    let modes = modes::of_newest_level(&measurements, last_step);
    Ok(Json(SeriesDetail {
        modes: modes.map(ModesView::from),
        series: series.into(),
        branch: branch.map(|branch| branch.name),
        runs: match form {
            Form::Rows => {
                Runs::Measurements(measurements.into_iter().map(MeasurementView::from).collect())
            }
            Form::Columns => Runs::Columns(Box::new(Columns::of(&measurements))),
        },
    })
    .into_response())
}

impl Tabular for MeasurementView {
    const COLUMNS: &'static [&'static str] = &[
        "run",
        "commit",
        "subject",
        "rank",
        "environment",
        "finished_at",
        "summary.n",
        "summary.mean",
        "summary.sd",
        "summary.min",
        "summary.median",
        "summary.max",
    ];
}

/// A sample of a run as a row of CSV.
#[derive(Debug, Serialize)]
struct SampleRow {
    run: RunId,
    commit: String,
    rank: i64,
    environment: EnvironmentId,
    #[serde(with = "rfc3339")]
    finished_at: OffsetDateTime,
    sample: usize,
    value: f64,
}

impl Tabular for SampleRow {
    const COLUMNS: &'static [&'static str] =
        &["run", "commit", "rank", "environment", "finished_at", "sample", "value"];
}

fn sample_rows(measurements: Vec<Measurement>) -> Vec<SampleRow> {
    let of_run = |one: Measurement| {
        let Measurement { run, commit, rank, environment, finished_at, samples, .. } = one;
        let row = move |(sample, value)| SampleRow {
            run,
            commit: commit.clone(),
            rank,
            environment,
            finished_at,
            sample,
            value,
        };
        samples.into_iter().enumerate().map(row)
    };
    measurements.into_iter().flat_map(of_run).collect()
}

impl From<Modes> for ModesView {
    fn from(modes: Modes) -> ModesView {
        let view = |mode: Mode| ModeView { value: mode.value, runs: mode.runs, dwell: mode.dwell };
        ModesView { low: view(modes.low), high: view(modes.high), switches: modes.switches }
    }
}

impl From<Measurement> for MeasurementView {
    fn from(one: Measurement) -> MeasurementView {
        MeasurementView {
            run: one.run,
            commit: one.commit,
            subject: one.subject,
            rank: one.rank,
            environment: one.environment,
            finished_at: one.finished_at,
            summary: one.summary.into(),
            samples: one.samples,
        }
    }
}
