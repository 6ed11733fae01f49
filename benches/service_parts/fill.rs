//! Fills the service over HTTP, in stretches: what is sent is made before the clock runs.

use std::time::Duration;

use anyhow::Result;
use sqlx::PgPool;

use crate::support::copy::copy;
use crate::support::load::Uploader;
use crate::support::{Database, Server, median, upload};
use crate::{MACHINES, SHAPE};

const CONNECTIONS: usize = 4;

/// Revisions of one stretch.
const STRETCH: usize = 10;

/// A service with results of many machines.
pub struct Lab<'a> {
    pub database: &'a Database,
    pub pool: PgPool,
    pub server: Server,
    pub machines: Vec<Uploader>,
    /// Revisions stored, each measured on every machine.
    pub revisions: usize,
}

impl Lab<'_> {
    /// Uploads revisions until so many samples are stored, and waits until all is judged. Samples a
    /// second over HTTP, the middle of all stretches, and by `COPY` of the last stretch.
    pub async fn fill_to(&mut self, samples: f64) -> Result<(f64, f64)> {
        let wanted = (samples / (MACHINES * SHAPE.samples()) as f64).ceil() as usize;
        let (mut rates, mut stored) = (Vec::new(), 0.0);
        let mut since = String::from("false");
        while self.revisions < wanted {
            let upto = (self.revisions + STRETCH).min(wanted);
            let mut requests = Vec::new();
            for position in self.revisions + 1..=upto {
                for machine in &self.machines {
                    requests.push(machine.request(SHAPE, position)?);
                }
            }
            let newest: Option<time::OffsetDateTime> =
                sqlx::query_scalar("select max(received_at) from run")
                    .fetch_one(&self.pool)
                    .await?;
            since = newest.map_or("true".into(), |at| {
                format!("received_at > to_timestamp({})", at.unix_timestamp_nanos() as f64 / 1e9)
            });
            stored = (requests.len() * SHAPE.samples()) as f64;
            rates.push(stored / upload(&self.server, CONNECTIONS, &requests)?);
            self.revisions = upto;
        }
        if rates.is_empty() {
            return Ok((f64::NAN, f64::NAN));
        }
        self.judged().await?;
        sqlx::raw_sql("vacuum analyze").execute(&self.pool).await?;
        let by_copy = stored / copy(&self.pool, &since).await?;
        Ok((median(rates), by_copy))
    }

    /// Waits until no curve is due.
    pub async fn judged(&self) -> Result<()> {
        loop {
            let due: i64 =
                sqlx::query_scalar("select count(*) from due").fetch_one(&self.pool).await?;
            if due == 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
