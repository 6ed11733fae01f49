//! How often incidents were right.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::auth::Reader;
use super::problem::Read;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::detect::quality;
use crate::model::Visible;
use crate::model::quality::{ENOUGH, Group, Tally};

/// How often incidents were right, from what people said of them.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AlertQuality {
    /// Incidents that must be decided before a share is given.
    enough: u64,
    /// Over all, then by rule, by machine and by workload, the most incidents first.
    groups: Vec<QualityView>,
}

/// Incidents with something in common. One over several machines counts for each of them.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Quality)]
struct QualityView {
    by: Group,
    /// `level` or `law`, the id of a machine, the id of a workload; empty for all.
    key: String,
    name: String,
    /// Called confirmed, fixed or won't fix by people.
    confirmed: u64,
    /// Called invalid by people.
    invalid: u64,
    /// Nobody said yet what they are.
    undecided: u64,
    /// `confirmed` ÷ (`confirmed` + `invalid`); null where fewer than `enough` are decided.
    precision: Option<Share>,
}

/// A share with its 95 % interval, 0 to 1.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Share {
    value: f64,
    low: f64,
    high: f64,
}

impl From<Tally> for QualityView {
    fn from(tally: Tally) -> QualityView {
        QualityView {
            by: tally.group,
            name: tally.title().to_owned(),
            confirmed: tally.confirmed,
            invalid: tally.invalid,
            undecided: tally.undecided(),
            precision: quality::precision(&tally).map(|(value, low, high)| Share {
                value,
                low,
                high,
            }),
            key: tally.key,
        }
    }
}

/// How often incidents were right, by rule, machine and workload.
#[utoipa::path(
    get, path = "/alert-quality", operation_id = "read_alert_quality", tag = "incidents",
    params(("project" = Option<String>, Query, description = "Name of a project; all that may be read when left out.")),
    responses((status = 200, description = "Counts and shares.", body = AlertQuality), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Json<AlertQuality>> {
    let project = params.take::<String>("project")?;
    params.finish()?;
    let visible = match project {
        Some(name) => Visible::only([lookup::project(&app, &viewer, &name).await?.id]),
        None => viewer.visible().clone(),
    };
    let tallies = db::quality::list(&app.db, &visible).await?;
    let groups = sorted(tallies).into_iter().map(QualityView::from).collect();
    Ok(Json(AlertQuality { enough: ENOUGH, groups }))
}

/// In the order in which groups are shown.
fn sorted(mut tallies: Vec<Tally>) -> Vec<Tally> {
    let place = |tally: &Tally| Group::ALL.iter().position(|group| *group == tally.group);
    tallies.sort_by_key(place);
    tallies
}
