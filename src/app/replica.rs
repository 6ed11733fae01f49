//! The streaming replica that pages and the API read from, where there is one, and how far it is behind.
//!
//! The lag is measured by positions: each look notes up to where the primary has written, and finds the
//! last such note that the replica has come up to. Whatever was written before is on the replica.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use time::OffsetDateTime;
use tokio::sync::watch;

use super::App;
use crate::db::{self, Pool};

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Longest a look may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most notes kept of where the primary was while the replica stands.
const NOTES: usize = 10_000;

/// How a replica stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It is read from.
    Following(Lag),
    /// It is further behind than allowed; reads go to the primary.
    Behind(Lag),
    /// It does not answer or is no replica; reads go to the primary.
    Away(String),
}

/// How far behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lag {
    /// What was written longer ago than this is there, seconds.
    pub seconds: f64,
    /// Bytes of the log that it still has to replay.
    pub bytes: i64,
}

impl Standing {
    /// How far behind it is; none where it is away.
    pub fn lag(&self) -> Option<Lag> {
        match self {
            Standing::Following(lag) | Standing::Behind(lag) => Some(*lag),
            Standing::Away(_) => None,
        }
    }
}

/// A replica and what was last seen of it; cheap to clone.
#[derive(Debug, Clone)]
pub struct Replica {
    pool: Pool,
    limit_s: f64,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug)]
struct Seen {
    standing: Standing,
    replayed: i64,
    /// When the primary had written up to where; the first is one that the replica has come up to.
    notes: VecDeque<(OffsetDateTime, i64)>,
}

impl Replica {
    /// The replica of this address, not read from before it was looked at. It may be away.
    ///
    /// # Errors
    /// An address that cannot be read.
    pub fn new(url: &str, most: u32, limit_s: u32) -> Result<Replica> {
        let pool = db::connect_later(url, most).context("DATABASE_REPLICA_URL cannot be read")?;
        let seen = Seen {
            standing: Standing::Away("it was not looked at yet".into()),
            replayed: 0,
            notes: VecDeque::new(),
        };
        Ok(Replica { pool, limit_s: limit_s.into(), seen: Arc::new(Mutex::new(seen)) })
    }

    /// Connections to it.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// How it stood when it was last looked at.
    pub fn standing(&self) -> Standing {
        self.seen().standing.clone()
    }

    /// Whether to read from it what may be so much behind, and has everything up to `position`.
    pub fn shows(&self, position: i64) -> bool {
        let seen = self.seen();
        matches!(seen.standing, Standing::Following(_)) && seen.replayed >= position
    }

    /// Takes it out of use until the next look finds it well.
    pub fn doubt(&self, why: &str) {
        self.stands(Standing::Away(why.into()));
    }

    /// Sees how far it is. A primary that does not answer leaves it as it was.
    pub async fn look(&self, primary: &Pool, now: OffsetDateTime) {
        let looked = async {
            let (written, system) =
                (db::replica::written(primary).await, db::replica::find_system(primary).await);
            let (Ok(written), Ok(system)) = (written, system) else { return None };
            Some((written, system, db::replica::find_progress(&self.pool).await))
        };
        let standing = match tokio::time::timeout(PATIENCE, looked).await {
            Ok(None) => return,
            Err(_) => Standing::Away("it does not answer in time".into()),
            Ok(Some((.., Err(error)))) => Standing::Away(format!("it does not answer: {error}")),
            Ok(Some((_, system, Ok(progress)))) if progress.system != system => {
                Standing::Away("it is a replica of another database".into())
            }
            Ok(Some((written, _, Ok(progress)))) => match progress.replayed {
                None => Standing::Away("it is no replica: it takes writes of its own".into()),
                Some(replayed) => {
                    let lag = self.seen().note(now, written, replayed, progress.last_change_s);
                    match lag.seconds <= self.limit_s {
                        true => Standing::Following(lag),
                        false => Standing::Behind(lag),
                    }
                }
            },
        };
        self.stands(standing);
    }

    /// Looks again and again until told to stop.
    pub async fn watch(self, app: App, told: watch::Receiver<bool>) {
        let looking = async {
            loop {
                self.look(&app.db, app.clock.now()).await;
                tokio::time::sleep(EVERY).await;
            }
        };
        tokio::select! {
            () = looking => {}
            () = super::told_to_stop(told) => {}
        }
        self.pool.close().await;
    }

    fn stands(&self, standing: Standing) {
        let was = std::mem::replace(&mut self.seen().standing, standing.clone());
        if std::mem::discriminant(&was) == std::mem::discriminant(&standing) {
            return;
        }
        match standing {
            Standing::Following(lag) => {
                tracing::info!(lag_s = lag.seconds, "reads go to the replica")
            }
            Standing::Behind(lag) => {
                tracing::warn!(
                    lag_s = lag.seconds,
                    "the replica is behind; reads go to the primary"
                );
            }
            Standing::Away(why) => {
                tracing::warn!(why, "the replica is away; reads go to the primary");
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Notes where both are, and how far apart. `last_change_s` helps where the replica was never seen
    /// in step.
    fn note(
        &mut self,
        now: OffsetDateTime,
        written: i64,
        replayed: i64,
        last_change_s: Option<f64>,
    ) -> Lag {
        self.replayed = replayed;
        match self.notes.back_mut() {
            Some((at, position)) if *position == written => *at = now,
            _ => self.notes.push_back((now, written)),
        }
        while self.notes.get(1).is_some_and(|(_, position)| *position <= replayed) {
            self.notes.pop_front();
        }
        if self.notes.len() > NOTES {
            self.notes.remove(1);
        }
        let bytes = (written - replayed).max(0);
        let reached = self.notes.front().filter(|(_, position)| *position <= replayed);
        let seconds = match reached {
            _ if bytes == 0 => 0.0,
            Some((at, _)) => (now - *at).as_seconds_f64().max(0.0),
            None => last_change_s.unwrap_or(f64::INFINITY).max(0.0),
        };
        Lag { seconds, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn seen() -> Seen {
        let standing = Standing::Away(String::new());
        Seen { standing, replayed: 0, notes: VecDeque::new() }
    }

    #[test]
    fn the_lag_is_the_age_of_the_last_note_that_the_replica_came_up_to() {
        let at = |second: i64| datetime!(2026-03-01 12:00 UTC) + time::Duration::seconds(second);
        let mut seen = seen();
        let lag = |seen: &mut Seen, second, written, replayed| {
            let lag = seen.note(at(second), written, replayed, Some(3600.0));
            (lag.seconds, lag.bytes)
        };
        assert_eq!(lag(&mut seen, 0, 100, 40), (3600.0, 60), "never seen in step");
        assert_eq!(lag(&mut seen, 1, 100, 100), (0.0, 0));
        assert_eq!(lag(&mut seen, 2, 150, 100), (1.0, 50));
        assert_eq!(lag(&mut seen, 5, 200, 100), (4.0, 100), "it stands");
        assert_eq!(lag(&mut seen, 6, 200, 150), (4.0, 50), "it has what was written at 2");
        assert_eq!(lag(&mut seen, 7, 200, 200), (0.0, 0));
        assert_eq!(lag(&mut seen, 60, 200, 200), (0.0, 0), "nothing was written for a while");
        assert_eq!(lag(&mut seen, 61, 300, 200), (1.0, 100));
        assert_eq!(lag(&mut seen, 50, 300, 200), (0.0, 100), "the clock was set back");
    }

    #[test]
    fn a_replica_that_stands_for_days_does_not_fill_the_memory() {
        let mut seen = seen();
        let start = datetime!(2026-03-01 12:00 UTC);
        for second in 0..30_000 {
            seen.note(start + time::Duration::seconds(second), 100 + second, 100, None);
        }
        assert!(seen.notes.len() <= NOTES);
        let lag = seen.note(start + time::Duration::seconds(30_000), 99_999, 100, None);
        assert_eq!(lag.seconds, 30_000.0);
    }
}
