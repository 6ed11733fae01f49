//! A fresh folder for one point on the file system under test.
//!
//! The folder is locked by the measuring parent and, through inheritance, by the child and its
//! tasks; it is removed with its last holder's consent: by the parent, by a child whose parent
//! died, or, after a `kill -9` of both, by the next start that finds it unlocked. A folder without
//! our marker file, of another user, or still locked is never touched.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::fault::{Attempt, Fault};

const PREFIX: &str = ".scalewatch-";
const MARKER: &str = ".scratch-of-scalewatch-runner";

/// The folder; removed when dropped.
pub(crate) struct Scratch {
    path: PathBuf,
    lock: File,
    left: bool,
}

impl Scratch {
    /// Makes a folder in `dir`, after removing the left-overs of dead runners there.
    ///
    /// # Errors
    /// The errno of the first call that failed.
    pub fn new(dir: &Path) -> Attempt<Scratch> {
        remove_leftovers(dir);
        let path = dir.join(format!("{PREFIX}{}", uuid::Uuid::new_v4().simple()));
        DirBuilder::new().mode(0o700).create(&path).map_err(|e| Fault::io("mkdir", &e))?;
        let made = File::open(&path).map_err(|e| Fault::io("open", &e));
        let scratch = match made {
            Ok(lock) => Scratch { path, lock, left: false },
            Err(fault) => {
                let _ = fs::remove_dir(&path);
                return Err(fault);
            }
        };
        // A file system without locks leaves the folder to its parent alone.
        if scratch.lock.try_lock().is_ok() {
            File::create(scratch.path.join(MARKER)).map_err(|e| Fault::io("creat", &e))?;
        }
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The locked descriptor, for the child to inherit.
    pub fn lock(&self) -> RawFd {
        self.lock.as_raw_fd()
    }

    /// Leaves it to the next start: tasks that cannot be ended still work in it.
    pub fn leave(mut self) {
        self.left = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.left {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the folders in `dir` that a runner of this user left and nobody holds any more.
fn remove_leftovers(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let (folder, marker) = (fs::symlink_metadata(path)?, fs::symlink_metadata(path.join(MARKER))?);
    // SAFETY: geteuid cannot fail.
    let user = unsafe { libc::geteuid() };
    let ours = folder.is_dir() && marker.is_file() && folder.uid() == user && marker.uid() == user;
    let lock = File::open(path)?;
    if ours && lock.try_lock().is_ok() {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_folder_goes_at_the_next_start_and_a_held_or_foreign_one_stays() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let abandoned = dir.path().join(format!("{PREFIX}dead"));
        fs::create_dir_all(abandoned.join("deep")).expect("a folder");
        fs::write(abandoned.join(MARKER), "").expect("a marker");
        let unmarked = dir.path().join(format!("{PREFIX}foreign"));
        fs::create_dir(&unmarked).expect("a folder");
        let held = Scratch::new(dir.path()).expect("a scratch folder");
        assert!(!abandoned.exists());
        let second = Scratch::new(dir.path()).expect("a second one");
        assert!(unmarked.exists() && held.path().join(MARKER).exists());
        let paths = [held.path().to_owned(), second.path().to_owned()];
        drop((held, second));
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[test]
    fn a_folder_that_was_left_goes_at_the_next_start() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let scratch = Scratch::new(dir.path()).expect("a scratch folder");
        let path = scratch.path().to_owned();
        scratch.leave();
        assert!(path.exists());
        drop(Scratch::new(dir.path()).expect("another"));
        assert!(!path.exists());
    }

    #[test]
    fn a_missing_directory_is_a_fault_with_its_errno() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let fault = Scratch::new(&dir.path().join("gone")).err().expect("no such directory");
        assert_eq!((fault.call, fault.errno), ("mkdir", Some(libc::ENOENT)));
    }
}
