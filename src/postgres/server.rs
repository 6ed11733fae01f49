//! One server process: started, waited for until it is ready, stopped.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::Cluster;
use super::leftover::{self, ServerLock};

/// How often a starting server is looked at.
const POLL: Duration = Duration::from_millis(20);
/// Crash recovery replays at most `max_wal_size`, which takes seconds.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// How long processes of a killed server may keep its shared memory.
const FREED_WITHIN: Duration = Duration::from_secs(20);
/// A log larger than this is set aside at the next start.
const LOG_BYTES: u64 = 1 << 20;
/// Settings of the private server: small, because one service is its only client.
const SETTINGS: [&str; 10] = [
    "listen_addresses=",
    "port=5432",
    "unix_socket_permissions=0700",
    "max_connections=40",
    "shared_buffers=64MB",
    "max_wal_size=512MB",
    "jit=off",
    "logging_collector=off",
    "log_destination=stderr",
    "cluster_name=scalewatch",
];

/// Starts the cluster's server and waits until it takes connections. A server that still runs is
/// stopped first.
pub(super) fn start(cluster: &Cluster) -> Result<Child> {
    if let Some(process) = leftover::running_server(cluster) {
        tracing::info!(
            process,
            "stopping the private Postgres that an earlier service left running"
        );
        stop(cluster, process)?;
    }
    leftover::remove_misleading_locks(cluster)?;
    set_large_log_aside(&cluster.log)?;
    let began = Instant::now();
    loop {
        let written = fs::metadata(&cluster.log).map_or(0, |log| log.len());
        let mut child = spawn(cluster)?;
        match wait_until_ready(cluster, &mut child)? {
            Ready::Yes => return Ok(child),
            Ready::Exited => {
                let said = log_since(&cluster.log, written);
                let still_held = said.contains("still in use");
                ensure!(
                    still_held && began.elapsed() < FREED_WITHIN,
                    "Postgres ended while starting; its log {} ends with:\n{}",
                    cluster.log.display(),
                    last_lines(&said, 8)
                );
                sleep(POLL);
            }
        }
    }
}

/// Stops the server with this process id: fast, then immediately, then by force.
pub(super) fn stop(cluster: &Cluster, process: u32) -> Result<()> {
    let fast = pg_ctl(cluster, &["stop", "--mode", "fast", "--wait", "--timeout", "30"]);
    let Err(reason) = fast else { return Ok(()) };
    let gone = || leftover::running_server(cluster) != Some(process);
    if gone() {
        return Ok(());
    }
    tracing::warn!("the private Postgres does not stop: {reason:#}; stopping it at once");
    let at_once = pg_ctl(cluster, &["stop", "--mode", "immediate", "--wait", "--timeout", "10"]);
    if at_once.is_err() && !gone() {
        pg_ctl(cluster, &["kill", "KILL", &process.to_string()])?;
    }
    Ok(())
}

fn pg_ctl(cluster: &Cluster, arguments: &[&str]) -> Result<()> {
    let mut command = cluster.account.command(&cluster.binaries.program("pg_ctl"), &cluster.socket);
    // `pg_ctl kill` takes no data directory.
    if arguments.first() != Some(&"kill") {
        command.arg("--pgdata").arg(&cluster.files);
    }
    let done = command.args(arguments).stdin(Stdio::null()).output().context("running pg_ctl")?;
    ensure!(
        done.status.success(),
        "pg_ctl {} failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&done.stderr).trim()
    );
    Ok(())
}

fn spawn(cluster: &Cluster) -> Result<Child> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(&cluster.log)
        .with_context(|| format!("opening {}", cluster.log.display()))?;
    let socket = cluster.socket.to_string_lossy().replace('"', "\"\"");
    let program = cluster.binaries.program("postgres");
    let mut command = cluster.account.command(&program, &cluster.socket);
    command.arg("-D").arg(&cluster.files);
    command.arg("-c").arg(format!("unix_socket_directories=\"{socket}\""));
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().context("sharing the log")?)
        .stderr(log)
        // Ctrl-C on a terminal reaches the service alone, which stops the server when it is done.
        .process_group(0)
        .spawn()
        .with_context(|| format!("running {}", program.display()))
}

enum Ready {
    Yes,
    Exited,
}

fn wait_until_ready(cluster: &Cluster, child: &mut Child) -> Result<Ready> {
    let began = Instant::now();
    let name = cluster.files.join("postmaster.pid");
    while began.elapsed() < READY_WITHIN {
        if child.try_wait().context("waiting for Postgres")?.is_some() {
            return Ok(Ready::Exited);
        }
        if ServerLock::read(&name).is_some_and(|lock| lock.ready && lock.process == child.id()) {
            return Ok(Ready::Yes);
        }
        sleep(POLL);
    }
    stop(cluster, child.id())?;
    child.wait().context("waiting for Postgres")?;
    bail!(
        "Postgres was not ready within {} s; its log is {}",
        READY_WITHIN.as_secs(),
        cluster.log.display()
    )
}

fn set_large_log_aside(log: &Path) -> Result<()> {
    match fs::metadata(log) {
        Ok(found) if found.len() > LOG_BYTES => fs::rename(log, log.with_extension("old"))
            .with_context(|| format!("setting {} aside", log.display())),
        _ => Ok(()),
    }
}

fn log_since(log: &Path, start: u64) -> String {
    let content = fs::read(log).unwrap_or_default();
    let start = usize::try_from(start).unwrap_or(0).min(content.len());
    String::from_utf8_lossy(&content[start..]).into_owned()
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
