//! Series: one metric at one task count, every run in the order of revisions.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::at::At;
use super::auth::Reader;
use super::columns::Columns;
use super::problem::Read;
use super::values::SummaryView;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
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
    ),
    responses((status = 200, description = "The series.", body = SeriesDetail), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    mut params: Params,
) -> Answer<Json<SeriesDetail>> {
    let branch = params.take::<String>("branch")?;
    let samples = params.take::<bool>("samples")?.unwrap_or(false);
    let form = params.take::<Form>("form")?.unwrap_or(Form::Rows);
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
    }))
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
