//! Sets what makes a machine quiet, and puts it back whatever happens.
//!
//! How it works: (1) the old values go into a journal in the state folder, durably; (2) a guardian,
//! a process of its own, waits for the end of this one, be it by return, signal or `kill -9`, and
//! puts them back; (3) a journal whose guardian died too is put back at the next start, unless the
//! machine was booted anew meanwhile. A value that someone else has changed since is left alone.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::text;
use super::wishes::{Wish, current, wishes};
use crate::agent::{remove, write_atomically};

/// First argument that makes the runner's executable a guardian; the second is the state folder.
pub const GUARDIAN_ARGUMENT: &str = "__put-back";

const JOURNAL: &str = "tuned.json";
const LOCK: &str = "tuned.lock";

/// What was changed, and what was there before.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    /// Which boot it belongs to.
    boot: Option<String>,
    settings: Vec<Kept>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    path: PathBuf,
    before: String,
    set: String,
}

/// A machine that is tuned until this is dropped.
#[derive(Debug)]
pub struct Tuned {
    guardian: Child,
    /// Held by the guardian as well: as long as either lives, nobody else tunes or puts back.
    _lock: File,
    /// What was set, and what could not be, a sentence each.
    pub remarks: Vec<String>,
}

impl Tuned {
    /// Sets what `root` (usually `/`) offers; `huge_pages` is the policy of transparent huge pages
    /// where one is wanted. `runner` is the executable of the guardian.
    ///
    /// # Errors
    /// When another run has tuned this machine, or when what was there cannot be kept safely.
    pub fn set(
        root: &Path,
        state: &Path,
        huge_pages: Option<&str>,
        runner: &Path,
    ) -> anyhow::Result<Tuned> {
        let Some(lock) = lock(state)? else {
            bail!("another run has tuned this machine: wait for its end")
        };
        put_back(state)?;
        let wishes = wishes(root, huge_pages);
        let kept = |wish: &Wish| Kept {
            path: wish.path.clone(),
            before: wish.now.clone(),
            set: wish.wanted.clone(),
        };
        let boot = text(&root.join("proc/sys/kernel/random/boot_id"));
        let journal = Journal { boot, settings: wishes.iter().map(kept).collect() };
        let bytes = serde_json::to_vec_pretty(&journal).context("cannot write JSON")?;
        write_atomically(&state.join(JOURNAL), &bytes, 0o600)?;
        // The guardian inherits the lock as its standard output.
        let inherited = lock.try_clone().context("cannot hand the lock on")?;
        let guardian = Command::new(runner)
            .arg(GUARDIAN_ARGUMENT)
            .arg(state)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(inherited)
            .spawn()
            .context("cannot start what puts the settings back")?;
        let remarks = wishes.iter().map(Wish::grant).collect();
        Ok(Tuned { guardian, _lock: lock, remarks })
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

/// The guardian: waits for the end of the runner that started it, then puts back.
///
/// # Errors
/// When the journal is damaged.
pub fn guard(state: &Path) -> anyhow::Result<()> {
    let mut nothing = Vec::new();
    std::io::stdin().read_to_end(&mut nothing).context("cannot wait for the runner")?;
    put_back(state).map(drop)
}

/// Puts back what a runner left that was killed together with its guardian. Answers a sentence for
/// each setting.
///
/// # Errors
/// When the journal is damaged.
pub fn put_back_left_over(state: &Path) -> anyhow::Result<Vec<String>> {
    if !state.join(JOURNAL).exists() {
        return Ok(vec![]);
    }
    match lock(state)? {
        Some(_lock) => put_back(state),
        None => Ok(vec![]),
    }
}

/// The lock of whoever tunes; none while another process has it.
fn lock(state: &Path) -> anyhow::Result<Option<File>> {
    let path = state.join(LOCK);
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Under the lock: puts back what the journal says and removes it.
fn put_back(state: &Path) -> anyhow::Result<Vec<String>> {
    let path = state.join(JOURNAL);
    let Some(journal) = text(&path) else { return Ok(vec![]) };
    let journal: Journal = serde_json::from_str(&journal)
        .with_context(|| format!("{} is damaged: put the settings back by hand", path.display()))?;
    let boot = text(Path::new("/proc/sys/kernel/random/boot_id"));
    let same_boot = journal.boot.is_none() || boot.is_none() || journal.boot == boot;
    let ours = |kept: &&Kept| same_boot && current(&kept.path).as_deref() == Some(&kept.set);
    let words = journal.settings.iter().rev().filter(ours).map(Kept::put_back).collect();
    remove(&path)?;
    Ok(words)
}

impl Kept {
    fn put_back(&self) -> String {
        let (path, before) = (self.path.display(), &self.before);
        match fs::write(&self.path, before) {
            Ok(()) => format!("{path} is {before} again"),
            Err(error) => format!("{path} could not be put back to {before}: {error}"),
        }
    }
}
