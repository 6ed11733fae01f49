//! Jobs: asked for, handed to agents, taken back from dead ones, and made of suspects that are
//! measured again before they are told.
//!
//! Nothing is kept in memory: every hand-over is one statement or transaction, so any number of
//! service processes work on one queue.

pub mod confirm;
pub mod hand_out;
pub mod submit;

use time::Duration;

use crate::app::App;
use crate::db;
use crate::error::Result;
use crate::model::JobId;
use crate::model::job::JobState;

/// How long an agent may be silent before its job is taken back.
pub const LEASE: Duration = Duration::minutes(2);

/// How often an agent is to be heard of, seconds.
pub const HEARTBEAT_S: u32 = 15;

/// Settles one job whose agent is lost, or whose time is over: where it stands then. None when there
/// is none.
///
/// # Errors
/// When the database does not answer.
pub async fn settle_next(app: &App) -> Result<Option<(JobId, JobState)>> {
    Ok(db::job::live::settle_next_expired(&app.db, app.clock.now()).await?)
}
