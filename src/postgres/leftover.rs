//! What a killed service or a killed server left: a server that still runs, and lock files that
//! name a process that is no server of ours.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

use super::Cluster;

/// Process id of a server that still runs on the cluster.
pub(super) fn running_server(cluster: &Cluster) -> Option<u32> {
    let process = locked_by(&cluster.files.join("postmaster.pid"))?;
    is_server_of(process, &cluster.files).then_some(process)
}

/// Removes lock files whose process id was given to some other process since. Those of dead
/// processes are left for Postgres, which knows what else to check then. Only for a cluster without
/// a running server.
pub(super) fn remove_misleading_locks(cluster: &Cluster) -> Result<()> {
    for name in [cluster.files.join("postmaster.pid"), cluster.socket.join(".s.PGSQL.5432.lock")] {
        let Some(process) = locked_by(&name) else { continue };
        if Path::new("/proc").join(process.to_string()).exists() {
            fs::remove_file(&name).with_context(|| format!("removing stale {}", name.display()))?;
        }
    }
    Ok(())
}

/// Process id on the first line of a Postgres lock file.
pub(super) fn locked_by(name: &Path) -> Option<u32> {
    fs::read_to_string(name).ok()?.lines().next()?.trim().parse().ok()
}

/// A server stands in its data directory. Where we may not see that, its name must do.
fn is_server_of(process: u32, files: &Path) -> bool {
    let proc = Path::new("/proc").join(process.to_string());
    let named = fs::read_to_string(proc.join("comm")).is_ok_and(|name| name.trim() == "postgres");
    named
        && match fs::read_link(proc.join("cwd")) {
            Ok(folder) => folder == files,
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        }
}
