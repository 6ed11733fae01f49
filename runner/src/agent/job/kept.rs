//! The job at hand, on disk: after a crash or a boot the agent goes on from here.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use wire::{Assignment, Revision};

use crate::agent::state::make_folder;
use crate::agent::{StateDir, write_atomically};

const FOLDER: &str = "job";
const FILE: &str = "job.json";

/// A job and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// As the service gave it.
    pub job: Assignment,
    /// UUIDs of the runs of the turns that are over; their reports were put into the spool.
    pub runs: Vec<String>,
    /// UUID of the run of the turn at hand.
    pub run: String,
    /// How often the turn's revision was tried to be prepared, over boots.
    pub prepare_tries: u32,
    /// Why it cannot be done; only the service has to be told yet.
    pub failed: Option<String>,
}

impl Kept {
    /// A job that nothing was done for yet.
    pub fn new(job: Assignment) -> Kept {
        let run = uuid::Uuid::new_v4().to_string();
        Kept { job, runs: Vec::new(), run, prepare_tries: 0, failed: None }
    }

    /// The job on disk, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn load(state: &StateDir) -> anyhow::Result<Option<Kept>> {
        let path = folder(state).join(FILE);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let read = serde_json::from_slice(&text);
        let advice = "remove its folder; the service gives the job to an agent again";
        read.with_context(|| format!("{} is damaged: {advice}", path.display())).map(Some)
    }

    /// Keeps it durably.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn store(&self, state: &StateDir) -> anyhow::Result<()> {
        make_folder(&folder(state))?;
        let bytes = serde_json::to_vec_pretty(self).context("cannot write JSON")?;
        write_atomically(&folder(state).join(FILE), &bytes, 0o600)
    }

    /// Forgets the job: its file first, so that nothing half-removed is gone on with.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn forget(state: &StateDir) -> anyhow::Result<()> {
        crate::agent::remove(&folder(state).join(FILE))?;
        let folder = folder(state);
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))
    }

    /// The turn at hand: its revision's index and the revision; none when all are over.
    pub fn turn(&self) -> Option<(usize, &Revision)> {
        let index = usize::try_from(*self.job.turns.get(self.runs.len())?).ok()?;
        Some((index, self.job.revisions.get(index)?))
    }

    /// The turn's run is in the spool: the next turn begins.
    pub fn turn_is_over(&mut self) {
        self.runs.push(std::mem::replace(&mut self.run, uuid::Uuid::new_v4().to_string()));
        self.prepare_tries = 0;
    }

    /// Where `run` writes the report of the turn at hand: whole or not at all.
    pub fn report(&self, state: &StateDir) -> PathBuf {
        folder(state).join(format!("{}.report", self.run))
    }

    /// What the prepare command gives.
    pub fn given(state: &StateDir) -> PathBuf {
        folder(state).join("given")
    }

    /// What prepare command and `run` say.
    pub fn log(state: &StateDir) -> PathBuf {
        folder(state).join("log")
    }
}

fn folder(state: &StateDir) -> PathBuf {
    state.place().join(FOLDER)
}

/// The lock of the one agent of a state folder; it ends with the file or the process.
///
/// # Errors
/// When another agent holds it.
pub fn lock(state: &StateDir) -> anyhow::Result<File> {
    let path = state.path()?.join("agent.lock");
    let open = File::options().create(true).truncate(false).write(true).open(&path);
    let file = open.with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            bail!("another agent works with the state folder {}", state.place().display())
        }
        Err(std::fs::TryLockError::Error(error)) => Err(error).context("cannot lock the folder"),
    }
}
