//! Noise floors: those that a machine measured by A/A runs come in, all that are known go out.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::serde::rfc3339;

use super::at::At;
use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
use super::page::Page;
use super::problem::{NotFound, Read, Write};
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::noise::{NoiseFloor, Source};
use crate::model::{Machine, Scope};

/// Largest body, bytes.
const BODY_BYTES: usize = 4 << 20;

/// What identical code differs by, for one workload and metric, from one source.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = KnownNoiseFloor)]
pub struct NoiseFloorView {
    workload: String,
    metric: String,
    source: Source,
    /// 0.01 is 1 %.
    relative: f64,
    observations: i64,
    #[serde(with = "rfc3339")]
    observed_at: OffsetDateTime,
}

impl Tabular for NoiseFloorView {
    const COLUMNS: &'static [&'static str] =
        &["workload", "metric", "source", "relative", "observations", "observed_at"];
}

impl From<NoiseFloor> for NoiseFloorView {
    fn from(floor: NoiseFloor) -> NoiseFloorView {
        NoiseFloorView {
            workload: floor.workload,
            metric: floor.metric,
            source: floor.source,
            relative: floor.relative,
            observations: floor.observations,
            observed_at: floor.at,
        }
    }
}

/// Noise floors of a machine from every source, by workload and metric.
#[utoipa::path(
    get, path = "/machines/{id}/noise-floors", operation_id = "list_noise_floors", tag = "machines",
    params(("id" = String, Path, description = "Id of the machine."), PageParams, FormatParam),
    responses(
        (status = 200, description = "A page of floors.", content(
            (Page<NoiseFloorView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    mut params: Params,
) -> Answer<Response> {
    let (asked, format) = (params.page::<Place>()?, Format::asked(&mut params)?);
    params.finish()?;
    let machine = lookup::machine(&app, &id).await?;
    let visible = viewer.visible().clone();
    export::list("noise-floors", format, asked, move |after: Option<Place>, limit| {
        let (pool, machine, visible) = (app.db.clone(), machine.id, visible.clone());
        async move {
            let after = after.as_ref().map(Place::parts);
            let rows =
                db::noise::list_of_machine_after(&pool, &visible, machine, after, limit).await?;
            Ok(rows.into_iter().map(|one| (Place::of(&one), NoiseFloorView::from(one))).collect())
        }
    })
    .await
}

/// Where a floor stands: workload, metric and source, NUL between, which none of them holds.
#[derive(Clone)]
struct Place([String; 3]);

impl Place {
    fn of(floor: &NoiseFloor) -> Place {
        Place([floor.workload.clone(), floor.metric.clone(), floor.source.word().to_owned()])
    }

    fn parts(&self) -> (&str, &str, &str) {
        let Place([workload, metric, source]) = self;
        (workload, metric, source)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\0"))
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Place, ()> {
        let parts: Vec<String> = text.split('\0').map(str::to_owned).collect();
        parts.try_into().map(Place).map_err(drop)
    }
}

/// Takes noise floors that a machine measured by A/A runs.
///
/// Those that are newer than what is known are kept, and the curves of their workloads judged again.
#[utoipa::path(
    post, path = "/machines/{id}/noise-floors", operation_id = "put_noise_floors", tag = "machines",
    params(("id" = String, Path, description = "Id of the machine.")),
    request_body = wire::NoiseFloors,
    responses(
        (status = 200, description = "How many were newer.", body = wire::FloorsKept),
        Write,
        NotFound,
    ),
    security(("token" = ["upload"])),
)]
pub async fn put(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<wire::FloorsKept>> {
    caller.require(Scope::Upload)?;
    let machine = lookup::machine(&app, &id).await?;
    if caller.machine().is_some_and(|bound| bound != machine.id) {
        return Err(Error::Forbidden("this token uploads for another machine").into());
    }
    let floors = body::read(request, BODY_BYTES, |floors: wire::NoiseFloors| {
        floors.check()?;
        dated(floors)
    })
    .await?;
    Ok(Json(wire::FloorsKept { kept: store(&app, &machine, &floors).await? }))
}

fn dated(floors: wire::NoiseFloors) -> Result<Vec<(wire::NoiseFloor, OffsetDateTime)>> {
    let dated = |(i, floor): (usize, wire::NoiseFloor)| {
        let at = OffsetDateTime::parse(&floor.measured_at, &Rfc3339).map_err(|_| {
            Error::invalid(format!("floors[{i}].measured_at"), "must be RFC 3339 with an offset")
        })?;
        Ok((floor, at))
    };
    floors.floors.into_iter().enumerate().map(dated).collect()
}

async fn store(
    app: &App,
    machine: &Machine,
    floors: &[(wire::NoiseFloor, OffsetDateTime)],
) -> Result<usize> {
    let mut tx = app.db.begin().await?;
    let mut changed = Vec::new();
    for (floor, at) in floors {
        if db::noise::put_calibrated(&mut tx, machine.id, floor, *at).await? {
            changed.push(floor.workload.clone());
        }
    }
    db::noise::mark_workloads_due(&mut tx, machine.id, &changed, app.clock.now()).await?;
    tx.commit().await?;
    Ok(changed.len())
}
