//! All SQL. Functions are named by what they do (`find_*` → `Option`, `list_*` → `Vec`, `insert*`,
//! `mark_*`), take a pool or a connection, and return nouns of [`crate::model`].

pub mod audit;
pub mod branch;
pub mod curve;
pub mod due;
pub mod environment;
pub mod health;
pub mod heat;
pub mod history;
pub mod history_rows;
pub mod identity;
pub mod incident;
pub mod incident_step;
pub mod job;
pub mod machine;
pub mod merge;
pub mod noise;
pub mod outbox;
mod pack;
pub mod pages_failed;
pub mod pages_machine;
pub mod person;
pub mod point;
pub mod project;
pub mod quality;
pub mod rate;
pub mod replica;
pub mod revision;
pub mod role;
pub mod run;
pub mod scaling;
pub mod schema;
pub mod search;
pub mod series;
pub mod session;
pub mod severity;
pub mod sides;
pub mod step;
pub mod store;
pub mod token;
mod types;
pub mod upkeep;
pub mod webhook;

use std::str::FromStr as _;
use std::time::Duration;

use anyhow::Context as _;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

/// Connections to Postgres; each function takes one when it needs it.
pub type Pool = sqlx::PgPool;

/// How a query fails.
pub type Failure = sqlx::Error;

/// One connection, inside a transaction where a caller has begun one.
pub type Connection = sqlx::PgConnection;

/// Opens a pool of at most `most` connections and checks that the database answers.
///
/// # Errors
/// An address that cannot be read, or a database that does not answer within 10 s.
pub async fn connect(url: &str, most: u32) -> anyhow::Result<Pool> {
    let options = options(url).context("DATABASE_URL cannot be read")?;
    let place = format!("{}:{}", options.get_host(), options.get_port());
    pool(most, Duration::from_secs(10))
        .connect_with(options)
        .await
        .with_context(|| format!("the database at {place} does not answer"))
}

/// A pool for a database that may be away, now and later: who waits longer than 2 s for a connection is
/// told so.
///
/// # Errors
/// An address that cannot be read.
pub fn connect_later(url: &str, most: u32) -> anyhow::Result<Pool> {
    check_address(url)?;
    Ok(pool(most, Duration::from_secs(2)).connect_lazy_with(options(url)?))
}

/// Reads an address without connecting to it.
///
/// # Errors
/// What is wrong with it, without repeating it: it may hold a password.
pub fn check_address(url: &str) -> anyhow::Result<()> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    anyhow::ensure!(
        matches!(scheme, Some("postgres" | "postgresql")),
        "is not an address such as postgres://user@host/database"
    );
    options(url).map(drop)
}

fn options(url: &str) -> anyhow::Result<PgConnectOptions> {
    Ok(PgConnectOptions::from_str(url)?.application_name("scalewatch"))
}

fn pool(most: u32, patience: Duration) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(most)
        .acquire_timeout(patience)
        .idle_timeout(Duration::from_secs(60))
}
