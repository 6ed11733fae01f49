//! `admin backup` and `admin restore`: the whole database into one file, and back into an empty one.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::stop_signal;
use crate::config::Config;
use crate::db;
use crate::postgres::{Archive, Copiers, DataFolder, Dump, Embedded, libpq};

/// Occupants of a database that are named when it is not empty.
const NAMED: usize = 5;

#[derive(Debug, Args)]
pub struct Backup {
    /// The file to write, e.g. /backup/scalewatch.dump
    file: PathBuf,
    /// Take the place of a file of that name, once the new one is whole
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// A file that `backup` wrote
    file: PathBuf,
}

impl Backup {
    /// Writes the database of the settings, else the private one of the data folder.
    pub async fn run(self, config: &Config) -> Result<()> {
        let cluster = config.data.join("postgres/cluster");
        // A service that runs keeps it; without any there is nothing to back up.
        if config.database_url.is_none() && !cluster.exists() {
            config.database_url()?;
        }
        on_database(config, async |url| self.write(url).await).await
    }

    async fn write(&self, url: &str) -> Result<()> {
        let pool = db::connect(url, 2).await?;
        let copiers =
            Copiers::choose(&Copiers::installed(), db::schema::server_major(&pool).await?)?;
        let occupants = db::schema::list_occupants(&pool).await?;
        pool.close().await;
        ensure!(
            occupants.iter().any(|name| name == "_sqlx_migrations"),
            "the database at {} has no schema of scalewatch; there is nothing to back up",
            libpq::masked(url)
        );
        let dump = Dump::begin(&self.file, self.replace)?;
        dump.write(url, &copiers).await.context("nothing was written")?;
        let archive = dump.keep(&copiers).await?;
        let size = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        println!("wrote {}: {size} bytes, {}", self.file.display(), migration(&archive));
        Ok(())
    }
}

impl Restore {
    /// Fills the database of the settings, else a private one in the data folder, made where there is
    /// none.
    pub async fn run(self, config: &Config) -> Result<()> {
        on_database(config, async |url| self.fill(url).await).await
    }

    async fn fill(&self, url: &str) -> Result<()> {
        let pool = db::connect(url, 2).await?;
        let server = db::schema::server_major(&pool).await?;
        let copiers = Copiers::choose(&Copiers::installed(), server)?;
        let archive = Archive::open(&self.file, &copiers).await?;
        let pending = db::schema::fits(&archive.migrations)
            .with_context(|| format!("{} is refused", self.file.display()))?;
        ensure!(
            archive.server <= server,
            "{} comes from PostgreSQL {}, and the server is PostgreSQL {server}: restore it on that \
             version or a newer one",
            self.file.display(),
            archive.server
        );
        refuse_occupied(url, &db::schema::list_occupants(&pool).await?)?;
        archive.restore(url, &copiers).await.context("the database is empty as before")?;
        db::schema::analyse(&pool).await.context("counting what was restored")?;
        pool.close().await;
        println!("restored {}, {}", self.file.display(), migration(&archive));
        if pending {
            println!(
                "it is of an older version: run `scalewatch migrate`, or serve with --migrate"
            );
        }
        Ok(())
    }
}

fn migration(archive: &Archive) -> String {
    let newest = archive.migrations.iter().map(|one| one.version).max().unwrap_or_default();
    format!("schema of migration {newest}, from PostgreSQL {}", archive.server)
}

fn refuse_occupied(url: &str, occupants: &[String]) -> Result<()> {
    if occupants.is_empty() {
        return Ok(());
    }
    let named = occupants.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = occupants.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    bail!(
        "the database at {} is not empty: it holds {named}{more}; nothing was changed. Restore goes into \
         an empty one: make it with createdb and name it in DATABASE_URL",
        libpq::masked(url)
    )
}

/// Does it on the database of the settings; where none is named, on the private one, whose server runs
/// for that long. Ends early, with what was begun undone, when told to stop.
async fn on_database(config: &Config, work: impl AsyncFnOnce(&str) -> Result<()>) -> Result<()> {
    let stop = stop_signal()?;
    let work = async |url: &str| {
        tokio::select! {
            done = work(url) => done,
            () = stop => bail!("stopped; nothing was left behind"),
        }
    };
    if let Some(url) = &config.database_url {
        return work(url).await;
    }
    let data = DataFolder::hold(&config.data)?;
    let (data, postgres) = tokio::task::spawn_blocking(move || {
        Embedded::start(&data).map(|postgres| (data, postgres))
    })
    .await
    .context("starting the private Postgres panicked")
    .flatten()?;
    let done = work(postgres.address()).await;
    let stopped = tokio::task::spawn_blocking(|| postgres.stop())
        .await
        .context("stopping the private Postgres panicked")
        .flatten();
    drop(data);
    done.and(stopped)
}
