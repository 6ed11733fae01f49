//! The data folder, held by one service at a time.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A data folder that this process holds; released when dropped, also by `kill -9`.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    /// Its `flock` is the hold.
    held: File,
}

impl DataFolder {
    /// Makes the folder where it is missing and holds it.
    ///
    /// # Errors
    /// When another process holds it (named by its process id) or it cannot be made.
    pub fn hold(path: &Path) -> Result<DataFolder> {
        // Others may pass, so that the server's own user reaches its folder below; files that are
        // nobody's business have their own modes.
        DirBuilder::new()
            .recursive(true)
            .mode(0o711)
            .create(path)
            .with_context(|| format!("making the data folder {}", path.display()))?;
        let path = fs::canonicalize(path)
            .with_context(|| format!("looking at the data folder {}", path.display()))?;
        let name = path.join("lock");
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&name)
            .with_context(|| format!("opening {}", name.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}", held_by(&path, &mut file)),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", name.display()));
            }
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .with_context(|| format!("writing {}", name.display()))?;
        Ok(DataFolder { path, held: file })
    }

    /// The folder, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything of the private Postgres; belongs to the server's user.
    pub fn postgres(&self) -> PathBuf {
        self.path.join("postgres")
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // Closing alone would not release it while a child that was forked just now still has a
        // copy. What cannot be released goes with the process.
        let _ = self.held.unlock();
    }
}

fn held_by(path: &Path, file: &mut File) -> String {
    let mut holder = String::new();
    let holder = match file.read_to_string(&mut holder) {
        Ok(_) if !holder.trim().is_empty() => format!("process {}", holder.trim()),
        _ => "another process".to_owned(),
    };
    format!(
        "the data folder {} is in use by {holder}; stop that one, or set SCALEWATCH_DATA to another \
         folder",
        path.display()
    )
}
