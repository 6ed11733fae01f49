//! `/health/live` and `/health/ready`: whether this process runs, and whether it can do its work, part by
//! part with the reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::problem::Read;
use super::{Answer, Params};
use crate::app::App;
use crate::app::replica::Standing;
use crate::db;
use crate::error::Result;

/// Longest that the database may take for all that is asked here.
const PATIENCE: Duration = Duration::from_secs(3);

/// How a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Condition {
    /// As it should.
    Ok,
    /// Somebody should look after it; requests are answered all the same.
    Degraded,
    /// Requests should go elsewhere.
    Failing,
}

/// One part, with what was found of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Part {
    state: Condition,
    /// Why it is not `ok`, or what there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Seconds since the worker's last step, or that the oldest mail has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_s: Option<f64>,
    /// Where mail goes: `smtp` or `folder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'static str>,
    /// How far the replica is behind, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_s: Option<f64>,
    /// The same in bytes of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_bytes: Option<i64>,
    /// Free share of the data folder's disk, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    free_percent: Option<f64>,
    /// Machines that the partitions still have room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    room_machines: Option<i64>,
}

impl Part {
    fn of(state: Condition, reason: Option<String>) -> Part {
        Part {
            state,
            reason,
            age_s: None,
            transport: None,
            lag_s: None,
            lag_bytes: None,
            free_percent: None,
            room_machines: None,
        }
    }

    fn ok() -> Part {
        Part::of(Condition::Ok, None)
    }

    fn failing(reason: impl Into<String>) -> Part {
        Part::of(Condition::Failing, Some(reason.into()))
    }

    fn degraded(reason: impl Into<String>) -> Part {
        Part::of(Condition::Degraded, Some(reason.into()))
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Readiness {
    /// The worst of the parts.
    state: Condition,
    version: &'static str,
    /// What is not as it should be, in words.
    reasons: Vec<String>,
    /// `database`, `migrations`, `worker`, `mail`, `disk`, `partitions`, and `replica` where there is one.
    parts: BTreeMap<&'static str, Part>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Liveness {
    state: Condition,
    version: &'static str,
}

/// Whether this process answers. Nothing else is asked.
#[utoipa::path(
    get, path = "/health/live", operation_id = "read_liveness", tag = "service",
    responses((status = 200, description = "It does.", body = Liveness), Read),
)]
pub async fn live(params: Params) -> Answer<Response> {
    params.finish()?;
    Ok(Json(Liveness { state: Condition::Ok, version: env!("CARGO_PKG_VERSION") }).into_response())
}

/// Whether this process can do its work, part by part.
#[utoipa::path(
    get, path = "/health/ready", operation_id = "read_readiness", tag = "service",
    params(("strict" = Option<bool>, Query,
        description = "Whether a degraded part is answered 503 as well.")),
    responses(
        (status = 200, description = "It can.", body = Readiness),
        (status = 503, description = "A part is failing; `reasons` says why.", body = Readiness),
        Read,
    ),
)]
pub async fn ready(State(app): State<App>, mut params: Params) -> Answer<Response> {
    let strict: bool = params.take("strict")?.unwrap_or_default();
    params.finish()?;
    let mut parts = BTreeMap::from([("worker", worker(&app)), ("disk", disk(&app))]);
    if let Some(part) = replica(&app) {
        parts.insert("replica", part);
    }
    parts.extend(asked(&app).await);
    let reasons = parts.iter().filter(|(_, part)| part.state != Condition::Ok);
    let reasons =
        reasons.filter_map(|(name, part)| Some(format!("{name}: {}", part.reason.as_ref()?)));
    let worst = |state| parts.values().any(|part| part.state == state);
    let (state, status) = match (worst(Condition::Failing), worst(Condition::Degraded)) {
        (true, _) => (Condition::Failing, StatusCode::SERVICE_UNAVAILABLE),
        (false, true) if strict => (Condition::Degraded, StatusCode::SERVICE_UNAVAILABLE),
        (false, true) => (Condition::Degraded, StatusCode::OK),
        (false, false) => (Condition::Ok, StatusCode::OK),
    };
    let reasons = reasons.collect();
    let readiness = Readiness { state, version: env!("CARGO_PKG_VERSION"), reasons, parts };
    Ok((status, Json(readiness)).into_response())
}

/// The parts that the database is asked about.
async fn asked(app: &App) -> Vec<(&'static str, Part)> {
    match tokio::time::timeout(PATIENCE, of_database(app)).await {
        Ok(Ok(mut parts)) => {
            parts.push(("database", Part::ok()));
            parts
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database does not answer");
            vec![("database", Part::failing("the database does not answer"))]
        }
        Err(_) => vec![("database", Part::failing("the database does not answer in time"))],
    }
}

async fn of_database(app: &App) -> Result<Vec<(&'static str, Part)>> {
    if let Some(problem) = db::schema::problem(&app.db).await? {
        // Tables may be missing.
        return Ok(vec![("migrations", Part::failing(problem))]);
    }
    Ok(vec![
        ("migrations", Part::ok()),
        ("mail", mail(app).await?),
        ("partitions", partitions(app).await?),
    ])
}

fn worker(app: &App) -> Part {
    let Some(age) = app.pulse.age_s(app.clock.now()) else {
        return Part::of(Condition::Ok, Some("no worker runs in this process".into()));
    };
    let limit = app.config.ready.worker_s;
    let part = match age <= limit.into() {
        true => Part::ok(),
        false => Part::failing(format!("the last step was {age} s ago, more than {limit} s")),
    };
    Part { age_s: Some(age as f64), ..part }
}

async fn mail(app: &App) -> Result<Part> {
    let oldest = db::health::find_oldest_unsent(&app.db).await?;
    let age = oldest.map(|at| (app.clock.now() - at).as_seconds_f64().max(0.0));
    let limit = app.config.ready.mail_s;
    let part = match age {
        Some(age) if age > limit.into() => {
            Part::degraded(format!("a mail has waited for {age:.0} s, more than {limit} s"))
        }
        _ => Part::ok(),
    };
    let transport = if app.config.mail.smtp_url.is_some() { "smtp" } else { "folder" };
    Ok(Part { age_s: age, transport: Some(transport), ..part })
}

async fn partitions(app: &App) -> Result<Part> {
    let room = db::health::count_room(&app.db).await?;
    let part = match room {
        ..=0 => Part::degraded("there is room for no further machine; a registration makes some"),
        _ => Part::ok(),
    };
    Ok(Part { room_machines: Some(room), ..part })
}

fn replica(app: &App) -> Option<Part> {
    let standing = app.replica.as_ref()?.standing();
    let lag = standing.lag();
    let part = match standing {
        Standing::Following(_) => Part::ok(),
        Standing::Behind(lag) => Part::degraded(format!(
            "it is {:.0} s behind, more than {} s; reads go to the primary",
            lag.seconds, app.config.replica_lag_s
        )),
        Standing::Away(why) => Part::degraded(format!("{why}; reads go to the primary")),
    };
    // Infinite where it was never seen in step.
    let lag_s = lag.map(|lag| lag.seconds).filter(|lag| lag.is_finite());
    Some(Part { lag_s, lag_bytes: lag.map(|lag| lag.bytes), ..part })
}

fn disk(app: &App) -> Part {
    let folder = app.config.data.ancestors().find(|folder| folder.exists());
    let Some(free) = folder.and_then(free_percent) else {
        return Part::degraded("the disk of the data folder cannot be looked at");
    };
    let limit = app.config.ready.disk_percent;
    let part = match free >= limit.into() {
        true => Part::ok(),
        false => Part::failing(format!(
            "{free:.1} % of the data folder's disk is free, less than {limit} %"
        )),
    };
    Part { free_percent: Some(free), ..part }
}

fn free_percent(folder: &Path) -> Option<f64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let share = found.f_bavail as f64 / found.f_blocks as f64 * 100.0;
    share.is_finite().then_some(share)
}
