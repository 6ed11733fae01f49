//! `/metrics`: what the service counts about itself.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::problem::Read;
use super::{Answer, Params};
use crate::app::App;
use crate::app::replica::Standing;
use crate::db;
use crate::metrics::{Now, ReplicaNow};

/// The form Prometheus reads.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counters and levels of this process, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "read_metrics", tag = "service",
    responses(
        (status = 200, description = "OpenMetrics.", body = String,
            content_type = "application/openmetrics-text"),
        Read,
    ),
)]
pub async fn show(State(app): State<App>, params: Params) -> Answer<impl IntoResponse> {
    params.finish()?;
    let backlog = db::health::find_backlog(&app.db).await?;
    let now = app.clock.now();
    let waited = backlog.oldest_due_at.map(|since| (now - since).as_seconds_f64().max(0.0));
    let text = app.metrics.text(Now {
        due_curves: backlog.due_curves,
        oldest_due_s: waited.unwrap_or_default(),
        unsent_mails: backlog.unsent_messages,
        unsent_webhooks: db::webhook::count_waiting(&app.db).await?,
        connections: app.db.size(),
        idle_connections: app.db.num_idle(),
        most_connections: app.config.database_connections,
        replica: app.replica.as_ref().map(|replica| {
            let standing = replica.standing();
            let lag = standing.lag();
            ReplicaNow {
                is_read: matches!(standing, Standing::Following(_)),
                lag_s: lag.map(|lag| lag.seconds),
                lag_bytes: lag.map(|lag| lag.bytes),
            }
        }),
    });
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text))
}
