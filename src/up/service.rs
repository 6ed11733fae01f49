//! Everything that runs while `up` does: data folder, database, server, worker; started in this
//! order and stopped in the other.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::{self, App};
use crate::clock::Clock;
use crate::config::Config;
use crate::db;
use crate::postgres::{DataFolder, Embedded};
use crate::worker::Worker;

/// A running service.
#[derive(Debug)]
pub struct Service {
    /// What the handlers hold.
    pub app: App,
    /// Address this machine reaches it at.
    pub address: String,
    /// The held data folder.
    pub data: DataFolder,
    /// Judges and tells; not running by itself before [`Service::start_worker`].
    pub worker: Worker,
    postgres: Option<Embedded>,
    stop: watch::Sender<bool>,
    serving: JoinHandle<Result<()>>,
    working: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts all but the worker. Folder and address are taken first, so that one in use is said
    /// before anything is made.
    ///
    /// # Errors
    /// What could not be started; what was started before is stopped.
    pub async fn start(mut config: Config) -> Result<Service> {
        ensure!(config.tls.is_none(), "TLS goes with `serve`; unset its certificate for `up`");
        let data = DataFolder::hold(&config.data)?;
        config.data = data.path().to_owned();
        let listener = app::listen(config.listen).await?;
        let bound = listener.local_addr().context("asking for the port that was bound")?;
        listen_on(&mut config, bound);
        let (data, postgres) = match config.database_url {
            Some(_) => (data, None),
            None => {
                let (data, postgres) = start_postgres(data).await?;
                config.database_url = Some(postgres.address().to_owned());
                (data, Some(postgres))
            }
        };
        let db = db::connect(config.database_url()?, config.database_connections).await?;
        db::schema::migrate(&db).await?;
        let app = App::new(db, Clock::system(), Arc::new(config)).with_replica()?;
        let worker = Worker::new(app.clone())?;
        let (stop, _) = watch::channel(false);
        let serving =
            tokio::spawn(app::answer(app.clone(), listener, app::told_to_stop(stop.subscribe())));
        Ok(Service {
            app,
            address: reachable_at(bound),
            data,
            worker,
            postgres,
            stop,
            serving,
            working: None,
        })
    }

    /// Where the data are, in words.
    pub fn database(&self) -> String {
        match &self.postgres {
            Some(_) => format!("a private Postgres in {}", self.data.postgres().display()),
            None => "the Postgres of DATABASE_URL".to_owned(),
        }
    }

    /// Lets the worker go on with whatever comes in.
    pub fn start_worker(&mut self) {
        let (worker, stop) = (self.worker.clone(), self.stop.subscribe());
        self.working = Some(tokio::spawn(async move {
            worker.run(app::told_to_stop(stop)).await;
        }));
    }

    /// Stops everything, each part after those that need it.
    ///
    /// # Errors
    /// The first part that did not stop cleanly; the others are stopped all the same.
    pub async fn stop(self) -> Result<()> {
        // Nobody listens any more where both tasks have failed, which they say themselves.
        let _ = self.stop.send(true);
        let served = self.serving.await.context("the server's task panicked").flatten();
        let worked = match self.working {
            Some(working) => working.await.context("the worker's task panicked"),
            None => Ok(()),
        };
        self.app.db.close().await;
        let stopped = match self.postgres {
            Some(postgres) => tokio::task::spawn_blocking(|| postgres.stop())
                .await
                .context("stopping the private Postgres panicked")
                .flatten(),
            None => Ok(()),
        };
        drop(self.data);
        served.and(worked).and(stopped)
    }
}

/// Sets the address to listen on, and links with it where they are derived from it. On loopback
/// whoever sits at this machine needs no account.
pub fn listen_on(config: &mut Config, listen: SocketAddr) {
    if config.public_url == format!("http://{}", config.listen) {
        config.public_url = format!("http://{listen}");
    }
    config.listen = listen;
    config.local_owner = listen.ip().is_loopback();
}

/// Where this machine itself reaches a server that listens on `bound`.
fn reachable_at(mut bound: SocketAddr) -> String {
    if bound.ip().is_unspecified() {
        bound.set_ip(match bound {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{bound}")
}

async fn start_postgres(data: DataFolder) -> Result<(DataFolder, Embedded)> {
    tokio::task::spawn_blocking(move || Embedded::start(&data).map(|postgres| (data, postgres)))
        .await
        .context("starting the private Postgres panicked")
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_reached_on_loopback() {
        let at = |address: &str| reachable_at(address.parse().unwrap());
        assert_eq!(at("0.0.0.0:8420"), "http://127.0.0.1:8420");
        assert_eq!(at("[::]:8420"), "http://[::1]:8420");
        assert_eq!(at("192.0.2.7:80"), "http://192.0.2.7:80");
    }

    #[test]
    fn links_follow_the_address_unless_they_were_set() {
        let mut config = Config::for_testing(std::path::Path::new("/data"));
        let other: SocketAddr = "127.0.0.1:9000".parse().unwrap();
        listen_on(&mut config, other);
        assert_eq!(config.public_url, "http://scalewatch.test");
        config.public_url = format!("http://{other}");
        listen_on(&mut config, "127.0.0.1:9001".parse().unwrap());
        assert_eq!(config.public_url, "http://127.0.0.1:9001");
    }

    #[test]
    fn nobody_needs_an_account_on_loopback_and_everybody_elsewhere() {
        let mut config = Config::for_testing(std::path::Path::new("/data"));
        for (address, owner) in [
            ("127.0.0.1:0", true),
            ("[::1]:8420", true),
            ("0.0.0.0:8420", false),
            ("[::]:8420", false),
            ("192.0.2.7:80", false),
        ] {
            listen_on(&mut config, address.parse().unwrap());
            assert_eq!(config.local_owner, owner, "{address}");
        }
    }
}
