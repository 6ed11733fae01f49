//! What the service does now and then without being asked, one of several services at a time:
//! partitions ahead of need, and raw samples that their project does not keep any longer.

use time::{Duration, OffsetDateTime};

use crate::app::App;
use crate::db;
use crate::error::Result;

/// How often it is done.
pub const EVERY: Duration = Duration::hours(1);

/// Runs that are thinned in one transaction.
const AT_ONCE: i64 = 500;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Partitions made.
    pub partitions: i32,
    /// Runs whose windows and samples went.
    pub thinned: i64,
}

/// Does what is due, unless another service does it or did it not long ago.
///
/// # Errors
/// When the database refuses; what was done until then stays done.
pub async fn run_if_due(app: &App) -> Result<Option<Done>> {
    let now = app.clock.now();
    if !db::upkeep::claim(&app.db, "upkeep", now - EVERY, now).await? {
        return Ok(None);
    }
    run(&app.db, now).await.map(Some)
}

/// Does it now.
///
/// # Errors
/// As [`run_if_due`].
pub async fn run(pool: &db::Pool, now: OffsetDateTime) -> Result<Done> {
    let mut done = Done { partitions: db::upkeep::partition_ahead(pool).await?, thinned: 0 };
    loop {
        let mut connection = pool.acquire().await?;
        let thinned = db::upkeep::thin(&mut connection, now, AT_ONCE).await?;
        done.thinned += thinned;
        if thinned < AT_ONCE {
            return Ok(done);
        }
    }
}
