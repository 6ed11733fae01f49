//! What every handler holds, the one router, and serving it until told to stop.

mod door;
mod observe;
mod pulse;
pub mod replica;
mod split;
pub mod tls;

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tower_http::compression::CompressionLayer;

use crate::account::oidc::Provider;
use crate::clock::Clock;
use crate::config::Config;
use crate::ingest::{Gate, Memory};
use crate::metrics::Metrics;
use crate::worker::Worker;
pub use door::Door;
pub use pulse::Pulse;
use replica::Replica;

/// Shared by all handlers and the worker; cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    /// The database; where the replica answers a request, what its handler finds here is the replica.
    pub db: PgPool,
    /// What time it is.
    pub clock: Clock,
    /// Settings.
    pub config: Arc<Config>,
    /// Room for uploads.
    pub gate: Gate,
    /// Curves and series that are stored.
    pub known: Memory,
    /// Rung when curves became due in this process; other processes' the worker finds by looking.
    pub due: Arc<Notify>,
    /// What this process counts.
    pub metrics: Arc<Metrics>,
    /// When the worker of this process was last seen at work.
    pub pulse: Pulse,
    /// The replica that is read from, where there is one.
    pub replica: Option<Replica>,
    primary: PgPool,
    /// Whether `db` is the replica.
    reads_replica: bool,
    /// What the provider of identities published last.
    pub provider: Arc<Provider>,
}

impl App {
    /// With counters that stand at zero.
    pub fn new(db: PgPool, clock: Clock, config: Arc<Config>) -> App {
        let gate = Gate::of(config.database_connections);
        App {
            primary: db.clone(),
            db,
            clock,
            config,
            gate,
            known: Memory::default(),
            due: Arc::default(),
            metrics: Arc::default(),
            provider: Arc::default(),
            pulse: Pulse::default(),
            replica: None,
            reads_replica: false,
        }
    }

    /// With the replica of the settings, where they name one; it may be away.
    ///
    /// # Errors
    /// An address that cannot be read.
    pub fn with_replica(mut self) -> Result<App> {
        if let Some(url) = &self.config.database_replica_url {
            let (most, limit) = (self.config.database_connections, self.config.replica_lag_s);
            self.replica = Some(Replica::new(url, most, limit)?);
        }
        Ok(self)
    }

    /// What knows who may do what, and what reads what it writes, asks the primary.
    pub fn on_primary(&self) -> App {
        App { db: self.primary.clone(), reads_replica: false, ..self.clone() }
    }

    fn reading_from(&self, replica: &Replica) -> App {
        App { db: replica.pool().clone(), reads_replica: true, ..self.clone() }
    }

    fn drain(&self) -> Duration {
        Duration::from_secs(self.config.shutdown_s.into())
    }
}

/// Every route: the API below `/api/v1`, pages, static files, `/health`, `/metrics`. Requests are
/// logged at the level debug.
pub fn router(app: App) -> axum::Router {
    match app.replica.clone() {
        Some(replica) => split::split(app, replica, routes),
        None => routes(app),
    }
}

fn routes(app: App) -> axum::Router {
    axum::Router::new()
        .merge(crate::api::router())
        .merge(crate::pages::router())
        .layer(CompressionLayer::new())
        .layer(axum::middleware::from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// Binds the address the service listens on.
///
/// # Errors
/// Says so plainly when the port is taken or not ours to take.
pub async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "port {} of {} is taken by another program; stop it, or set SCALEWATCH_LISTEN to a \
             free address",
            address.port(),
            address.ip()
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}")),
    })
}

/// Answers requests, and runs a worker beside, until `stop` completes; then lets requests in
/// flight and the worker's unit of work finish, for as long as the settings allow.
///
/// # Errors
/// When the mail settings cannot be used or the listener fails.
pub async fn serve(app: App, door: impl Into<Door>, stop: impl Future<Output = ()>) -> Result<()> {
    let worker = Worker::new(app.clone())?;
    let drain = app.drain();
    let (tell, told) = watch::channel(false);
    let to_worker = told.clone();
    let working = tokio::spawn(async move { worker.run(told_to_stop(to_worker)).await });
    let stop = async {
        stop.await;
        let _ = tell.send(true);
    };
    let answered = async {
        let answered = answer(app, door, stop).await;
        let _ = tell.send(true);
        answered
    };
    let worked = async {
        told_to_stop(told).await;
        if tokio::time::timeout(drain, working).await.is_err() {
            tracing::warn!("the worker's unit of work was cut off");
        }
    };
    tokio::join!(answered, worked).0
}

/// Answers requests, without a worker, until `stop` completes; then lets requests in flight
/// finish, for as long as the settings allow.
///
/// # Errors
/// When the listener fails.
pub async fn answer(app: App, door: impl Into<Door>, stop: impl Future<Output = ()>) -> Result<()> {
    let (tell, told) = watch::channel(false);
    let watching =
        app.replica.clone().map(|replica| tokio::spawn(replica.watch(app.clone(), told.clone())));
    let drain = app.drain();
    let server = tokio::spawn(door.into().serve(router(app), told));
    stop.await;
    tracing::info!("stopping");
    let _ = tell.send(true);
    let ended = tokio::time::timeout(drain, server).await;
    if let Some(watching) = watching {
        let _ = watching.await;
    }
    match ended {
        Ok(ended) => ended.context("the server task died")?.context("the listener failed"),
        Err(_) => {
            tracing::warn!("requests still in flight were cut off");
            Ok(())
        }
    }
}

/// Completes when told, or when there is nobody left to tell.
pub async fn told_to_stop(mut told: watch::Receiver<bool>) {
    let _ = told.wait_for(|stop| *stop).await;
}
