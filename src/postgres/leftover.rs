//! What a killed service or a killed server left: a server that still runs, and lock files that
//! name a process that is no server of ours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Cluster;

/// Process id of a server that still runs on the cluster.
pub(super) fn running_server(cluster: &Cluster) -> Option<u32> {
    let process = ServerLock::read(&cluster.files.join("postmaster.pid"))?.process;
    is_server_of(process, &cluster.files).then_some(process)
}

/// Removes lock files whose process id was given to some other process since. Those of dead
/// processes are left for Postgres, which knows what else to check then. Only for a cluster without
/// a running server.
pub(super) fn remove_misleading_locks(cluster: &Cluster) -> Result<()> {
    for name in [cluster.files.join("postmaster.pid"), cluster.socket.join(".s.PGSQL.5432.lock")] {
        let Some(lock) = ServerLock::read(&name) else { continue };
        if Path::new("/proc").join(lock.process.to_string()).exists() {
            fs::remove_file(&name).with_context(|| format!("removing stale {}", name.display()))?;
        }
    }
    Ok(())
}

/// What Postgres writes to a lock file, one fact a line.
pub(super) struct ServerLock {
    /// Of the server; in the first line, the only one that every lock file has.
    pub(super) process: u32,
    /// In the fifth line.
    pub(super) socket_folder: PathBuf,
    /// Whether it takes connections; in the eighth line.
    pub(super) ready: bool,
}

impl ServerLock {
    /// The lock in this file; none where there is no file or no process id in it.
    pub(super) fn read(name: &Path) -> Option<ServerLock> {
        let text = fs::read_to_string(name).ok()?;
        let mut lines = text.lines().map(str::trim);
        Some(ServerLock {
            process: lines.next()?.parse().ok()?,
            socket_folder: lines.nth(3).unwrap_or_default().into(),
            ready: lines.nth(2) == Some("ready"),
        })
    }
}

/// A server stands in its data directory. Where we may not see that, its name must do.
pub(super) fn is_server_of(process: u32, files: &Path) -> bool {
    let proc = Path::new("/proc").join(process.to_string());
    let named = fs::read_to_string(proc.join("comm")).is_ok_and(|name| name.trim() == "postgres");
    named
        && match fs::read_link(proc.join("cwd")) {
            Ok(folder) => folder == files,
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        }
}
