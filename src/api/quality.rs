//! How good the alerts are: real changes and false alarms among what people decided.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::auth::Reader;
use super::problem::{NotFound, Read};
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::model::quality::{Grouping, Quality};

/// The alerts of every group.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AlertQuality {
    /// By what they are told apart by, then by name.
    groups: Vec<QualityView>,
}

/// The alerts of one group: an incident counts once in each that has a standing step of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = AlertQualityGroup)]
struct QualityView {
    by: Grouping,
    /// Rule, machine or workload; empty where all are together.
    name: String,
    /// Confirmed, fixed, not to be fixed, or intended.
    real: i64,
    /// Invalid for noise, environment, workload or measurement.
    false_alarms: i64,
    /// Not decided.
    open: i64,
    /// Share of real ones among the decided; null below 5 decisions.
    precision: Option<f64>,
    /// Its 95 % interval (Wilson).
    precision_95: Option<[f64; 2]>,
}

impl From<Quality> for QualityView {
    fn from(quality: Quality) -> QualityView {
        let precision = quality.precision();
        QualityView {
            by: quality.grouping,
            name: quality.name,
            real: quality.real,
            false_alarms: quality.false_alarms,
            open: quality.open,
            precision: precision.map(|(share, ..)| share),
            precision_95: precision.map(|(_, low, high)| [low, high]),
        }
    }
}

/// How many alerts were real, by rule, machine and workload.
#[utoipa::path(
    get, path = "/alert-quality", operation_id = "read_alert_quality", tag = "incidents",
    params(("project" = Option<String>, Query, description = "Of this project alone.")),
    responses((status = 200, description = "The groups.", body = AlertQuality), Read, NotFound),
)]
pub async fn read(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Json<AlertQuality>> {
    let project = match params.take::<String>("project")? {
        Some(name) => Some(lookup::project(&app, &viewer, &name).await?.id),
        None => None,
    };
    params.finish()?;
    let groups = db::quality::list(&app.db, viewer.visible(), project).await?;
    Ok(Json(AlertQuality { groups: groups.into_iter().map(QualityView::from).collect() }))
}
