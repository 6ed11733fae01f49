//! `serve` and `migrate`.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::tls::Certificates;
use crate::app::{self, App, Door};
use crate::clock::Clock;
use crate::config::Config;
use crate::db;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Bring the database to this version's schema first
    #[arg(long)]
    migrate: bool,
    /// Let whoever calls by a loopback name do everything without an account; only for an address
    /// that this machine alone reaches
    #[arg(long)]
    local_owner: bool,
    /// Print the settings in effect, say everything that is wrong with them, and end: with 0 where
    /// nothing is, else with 2
    #[arg(long)]
    pub(super) check_config: bool,
}

impl Serve {
    pub async fn run(self, config: Config) -> Result<()> {
        let certificates = config.tls.as_ref().map(Certificates::load).transpose()?;
        let pool = db::connect(config.database_url()?, config.database_connections).await?;
        if self.migrate {
            db::schema::migrate(&pool).await?;
        }
        if let Some(problem) = db::schema::problem(&pool).await? {
            bail!("{problem}");
        }
        let stop = stop_signal()?;
        // It has certificates read again, and ends nobody who has none.
        let _hangup = signal(SignalKind::hangup()).context("cannot handle SIGHUP")?;
        let listener = app::listen(config.listen).await?;
        let address = listener.local_addr().context("cannot tell the port that was bound")?;
        let mut config = config.bound_to(address);
        self.check_owner(address)?;
        config.local_owner = self.local_owner;
        let scheme = if certificates.is_some() { "https" } else { "http" };
        let config = Arc::new(config);
        let app = App::new(pool.clone(), Clock::system(), config).with_replica()?;
        let mut out = std::io::stdout();
        writeln!(out, "scalewatch listens on {scheme}://{address}").and_then(|()| out.flush()).ok();
        let served = app::serve(app, Door::new(listener, certificates), stop).await;
        // A unit of work that was cut off may hold a connection for good.
        let closed = tokio::time::timeout(std::time::Duration::from_secs(1), pool.close());
        let _ = closed.await;
        served
    }

    /// Refuses to let everybody in who reaches an address that is not this machine's alone.
    pub(super) fn check_owner(&self, address: std::net::SocketAddr) -> Result<()> {
        ensure!(
            !self.local_owner || address.ip().is_loopback(),
            "--local-owner goes with a loopback address alone, and {address} is none; add people \
             with `scalewatch admin user add`"
        );
        Ok(())
    }
}

/// Applies every pending migration of the configured database.
pub async fn migrate(config: &Config) -> Result<()> {
    let pool = db::connect(config.database_url()?, 2).await?;
    let applied = db::schema::migrate(&pool).await?;
    match applied.as_slice() {
        [] => println!("the schema is up to date"),
        some => some.iter().for_each(|migration| println!("applied {migration}")),
    }
    pool.close().await;
    Ok(())
}

/// Completes on SIGINT or SIGTERM.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot handle SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot handle SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
