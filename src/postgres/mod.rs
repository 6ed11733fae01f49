//! The embedded default: a private Postgres in the data folder, for a service without `DATABASE_URL`.
//!
//! A held [`DataFolder`] goes in, the address of a running server comes out. The server binaries
//! are the system's; the server listens on a socket in a private folder and nowhere else; it runs
//! as an unprivileged user where the service is root. A Postgres that outlived a killed service is
//! stopped and started again, so that settings and supervision are always this service's.

mod account;
mod binaries;
mod cluster;
mod data_folder;
mod dump;
mod leftover;
pub mod libpq;
mod server;
mod supervise;

use anyhow::{Context, Result};

pub use account::Account;
pub use binaries::{Binaries, Copiers, OLDEST_MAJOR};
pub use cluster::{Cluster, running_address};
pub use data_folder::DataFolder;
pub use dump::{Archive, Dump};
use supervise::Supervisor;

/// A running private Postgres; stopped when dropped.
#[derive(Debug)]
pub struct Embedded {
    address: String,
    supervisor: Supervisor,
}

impl Embedded {
    /// Initialises the cluster where there is none and starts its server; blocks until it answers.
    ///
    /// # Errors
    /// No server binaries, another major version's folder, folders that may not be used, or a server that does not start
    /// (with the end of its log).
    pub fn start(data: &DataFolder) -> Result<Embedded> {
        let account = Account::of_server(&data.postgres())?;
        let cluster = Cluster::prepare(data, account)?;
        let address = cluster.address();
        let supervisor = Supervisor::start(cluster).context("starting the private Postgres")?;
        Ok(Embedded { address, supervisor })
    }

    /// The server's address, as `DATABASE_URL` would have it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Process id of the server that runs now.
    pub fn process_id(&self) -> u32 {
        self.supervisor.process_id()
    }

    /// Stops the server cleanly (fast shutdown) and waits for it.
    ///
    /// # Errors
    /// When the server had to be stopped the hard way; its next start recovers.
    pub fn stop(self) -> Result<()> {
        self.supervisor.stop()
    }
}
