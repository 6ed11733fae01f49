//! Keeps one server running: a server that dies is started again until the service stops it.

use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::{Cluster, server};

/// Longest pause between two attempts to start a server that does not start.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A server and the thread that waits for it.
#[derive(Debug)]
pub(super) struct Supervisor {
    cluster: Cluster,
    shared: Arc<Shared>,
    /// Dropped to say "stop".
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    process: AtomicU32,
    /// Held while a server is being started; true once no more shall be.
    stopping: Mutex<bool>,
}

impl Supervisor {
    /// Starts the server and the thread that waits for it.
    pub(super) fn start(cluster: Cluster) -> Result<Supervisor> {
        let child = server::start(&cluster)?;
        let shared =
            Arc::new(Shared { process: AtomicU32::new(child.id()), stopping: Mutex::new(false) });
        let (stop, stopped) = channel();
        let thread = {
            let (cluster, shared) = (cluster.clone(), Arc::clone(&shared));
            spawn(move || keep_running(&cluster, &shared, child, &stopped))
        };
        Ok(Supervisor { cluster, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Process id of the server that runs now.
    pub(super) fn process_id(&self) -> u32 {
        self.shared.process.load(Ordering::Acquire)
    }

    /// Stops the server and waits for it.
    pub(super) fn stop(mut self) -> Result<()> {
        self.stop_now()
    }

    fn stop_now(&mut self) -> Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        drop(self.stop.take());
        let stopped = {
            // A start that is under way is finished first.
            let mut stopping = self.shared.stopping.lock().unwrap_or_else(PoisonError::into_inner);
            *stopping = true;
            server::stop(&self.cluster, self.process_id())
        };
        let joined = thread.join();
        remove_run_folder(&self.cluster);
        stopped?;
        ensure!(joined.is_ok(), "the thread that waits for the private Postgres panicked");
        Ok(())
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Err(error) = self.stop_now() {
            tracing::error!("stopping the private Postgres: {error:#}");
        }
    }
}

/// A socket's folder outside the data folder does not outlive the server.
fn remove_run_folder(cluster: &Cluster) {
    if cluster.files.parent() != cluster.socket.parent() {
        // Not empty after a server that was killed; the next start uses it again.
        let _ = std::fs::remove_dir(&cluster.socket);
    }
}

fn keep_running(cluster: &Cluster, shared: &Shared, mut child: Child, stopped: &Receiver<()>) {
    loop {
        let ended = child.wait();
        let mut pause = Duration::from_millis(100);
        child = loop {
            {
                let stopping = shared.stopping.lock().unwrap_or_else(PoisonError::into_inner);
                if *stopping {
                    return;
                }
                tracing::error!(?ended, "the private Postgres died; starting it again");
                match server::start(cluster) {
                    Ok(child) => {
                        shared.process.store(child.id(), Ordering::Release);
                        break child;
                    }
                    Err(error) => tracing::error!("the private Postgres does not start: {error:#}"),
                }
            }
            if stopped.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
    }
}
