//! What every handler holds, the one router, and serving it until told to stop.

mod observe;

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

use crate::clock::Clock;
use crate::config::Config;
use crate::ingest::Gate;
use crate::metrics::Metrics;
use crate::worker::Worker;

/// How long requests in flight may still take once the service is told to stop.
const DRAIN: Duration = Duration::from_secs(10);

/// Shared by all handlers and the worker; cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    /// The database.
    pub db: PgPool,
    /// What time it is.
    pub clock: Clock,
    /// Settings.
    pub config: Arc<Config>,
    /// Room for uploads.
    pub gate: Gate,
    /// Rung when curves became due in this process; other processes' the worker finds by looking.
    pub due: Arc<Notify>,
    /// What this process counts.
    pub metrics: Arc<Metrics>,
}

impl App {
    /// With counters that stand at zero.
    pub fn new(db: PgPool, clock: Clock, config: Arc<Config>) -> App {
        let gate = Gate::of(config.database_connections);
        App { db, clock, config, gate, due: Arc::default(), metrics: Arc::default() }
    }
}

/// Every route: the API below `/api/v1`, pages, static files, `/health`, `/metrics`. Requests are
/// logged at the level debug.
pub fn router(app: App) -> axum::Router {
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
/// flight and the worker's unit of work finish, each at most 10 s.
///
/// # Errors
/// When the mail settings cannot be used or the listener fails.
pub async fn serve(app: App, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<()> {
    let worker = Worker::new(app.clone())?;
    let (tell, told) = watch::channel(false);
    let working = tokio::spawn(async move { worker.run(told_to_stop(told)).await });
    let stop = async {
        stop.await;
        let _ = tell.send(true);
    };
    let answered = answer(app, listener, stop).await;
    let _ = tell.send(true);
    if tokio::time::timeout(DRAIN, working).await.is_err() {
        tracing::warn!("the worker's unit of work was cut off");
    }
    answered
}

/// Answers requests, without a worker, until `stop` completes; then lets requests in flight
/// finish, at most 10 s.
///
/// # Errors
/// When the listener fails.
pub async fn answer(app: App, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<()> {
    let (tell, told) = watch::channel(false);
    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(
        axum::serve(listener, service).with_graceful_shutdown(told_to_stop(told)).into_future(),
    );
    stop.await;
    tracing::info!("stopping");
    let _ = tell.send(true);
    match tokio::time::timeout(DRAIN, server).await {
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
