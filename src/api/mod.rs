//! See the crate's map.

use axum::Router;

use crate::app::App;

/// Routes.
pub fn router() -> Router<App> {
    Router::new()
}
