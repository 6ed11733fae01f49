//! Reports on disk until the service holds them: one file a run, named by its UUID.
//!
//! A report enters whole (temporary file, fsync, rename, fsync of the folder) and leaves when the
//! service has it, or for `refused/` with the reason beside it. One lock serialises writers, so
//! that what a killed writer left can be told from what a live one is writing; another serialises
//! uploaders.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::durable;
use super::state::make_folder;
use super::{Refusal, write_atomically};

/// The spool of one state folder.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    refused: PathBuf,
}

/// A report that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// UUID of the run.
    pub run: String,
    /// The file.
    pub path: PathBuf,
}

impl Spool {
    /// Opens a spool, making its folders where they are missing.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn open(folder: &Path, refused: &Path) -> anyhow::Result<Spool> {
        make_folder(folder)?;
        make_folder(refused)?;
        Ok(Spool { folder: folder.into(), refused: refused.into() })
    }

    /// Keeps a report durably; it is on disk when this returns. The same report twice is one.
    ///
    /// # Errors
    /// When the report breaks a limit, when another report of the same run waits already, or when
    /// the folder cannot be written. Nothing is kept then.
    pub fn put(&self, report: &wire::Report) -> anyhow::Result<Entry> {
        report.check().context("the report is not valid")?;
        let bytes = serde_json::to_vec(report).context("cannot write the report as JSON")?;
        ensure!(
            bytes.len() <= wire::limits::BODY_BYTES,
            "the report of run {} has {} bytes, the limit is {}: measure fewer points at a time",
            report.run,
            bytes.len(),
            wire::limits::BODY_BYTES
        );
        let entry = self.entry(&report.run);
        let _writing = self.lock_writers()?;
        match fs::read(&entry.path) {
            Ok(there) => ensure!(
                there == bytes,
                "another report of run {} waits in {} already",
                report.run,
                self.folder.display()
            ),
            Err(_) => write_atomically(&entry.path, &bytes, 0o600)?,
        }
        Ok(entry)
    }

    /// The reports that wait, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> anyhow::Result<Vec<Entry>> {
        let mut found = Vec::new();
        for file in self.files()? {
            let Ok(file) = file else { continue };
            let name = file.file_name();
            let Some(run) = name.to_str().and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            // An entry that another uploader has removed meanwhile is simply gone.
            if let Ok(written) = file.metadata().and_then(|meta| meta.modified()) {
                found.push((written, self.entry(run)));
            }
        }
        found.sort_by(|(a_at, a), (b_at, b)| a_at.cmp(b_at).then_with(|| a.run.cmp(&b.run)));
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Forgets a report that the service holds.
    ///
    /// # Errors
    /// When the file cannot be removed; the report is then sent again, which changes nothing.
    pub fn remove(&self, entry: &Entry) -> anyhow::Result<()> {
        durable::remove(&entry.path)
    }

    /// Sets a report aside with the reason beside it. Returns where it lies now.
    ///
    /// # Errors
    /// When `refused/` cannot be written; the report stays in the spool then.
    pub fn refuse(&self, entry: &Entry, refusal: &Refusal) -> anyhow::Result<PathBuf> {
        let mut reason = serde_json::to_vec_pretty(refusal).context("cannot write the reason")?;
        reason.push(b'\n');
        write_atomically(&self.refused.join(format!("{}.reason", entry.run)), &reason, 0o600)?;
        let aside = self.refused.join(format!("{}.json", entry.run));
        durable::rename(&entry.path, &aside)?;
        Ok(aside)
    }

    /// The uploaders' lock, if no other uploader holds it. It ends with the file or the process.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn try_lock(&self) -> anyhow::Result<Option<File>> {
        let file = self.lock_file(".upload.lock")?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error).context("cannot lock the spool"),
        }
    }

    /// Removes what killed writers left behind.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn sweep(&self) -> anyhow::Result<()> {
        let _writing = self.lock_writers()?;
        for file in self.files()?.flatten() {
            if file.file_name().to_str().is_some_and(durable::is_temporary) {
                durable::remove(&file.path())?;
            }
        }
        Ok(())
    }

    fn entry(&self, run: &str) -> Entry {
        Entry { run: run.to_owned(), path: self.folder.join(format!("{run}.json")) }
    }

    fn files(&self) -> anyhow::Result<fs::ReadDir> {
        fs::read_dir(&self.folder)
            .with_context(|| format!("cannot read the spool {}", self.folder.display()))
    }

    fn lock_writers(&self) -> anyhow::Result<File> {
        let file = self.lock_file(".write.lock")?;
        file.lock().context("cannot lock the spool")?;
        Ok(file)
    }

    fn lock_file(&self, name: &str) -> anyhow::Result<File> {
        let path = self.folder.join(name);
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))
    }
}
