//! What every handler holds, and the one router.

use std::sync::Arc;

use sqlx::PgPool;

use crate::clock::Clock;
use crate::config::Config;

/// Shared by all handlers and the worker; cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    /// The database.
    pub db: PgPool,
    /// What time it is.
    pub clock: Clock,
    /// Settings.
    pub config: Arc<Config>,
}

/// Every route: the API below `/api/v1`, pages, static files, `/health`.
pub fn router(app: App) -> axum::Router {
    axum::Router::new().merge(crate::api::router()).merge(crate::pages::router()).with_state(app)
}
