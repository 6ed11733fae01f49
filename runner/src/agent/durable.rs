//! Files that are either wholly there after a crash or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes `bytes` to `path` with `mode`: temporary file beside it, fsync, rename, fsync of the
/// folder. Readers see the old content or the new one, never a part.
///
/// # Errors
/// When the folder cannot be written; the temporary file is removed then.
pub fn write_atomically(path: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let temporary = temporary_for(path);
    let written = write_new(&temporary, bytes, mode)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Finds out before the work whether [`write_atomically`] could put a file at `path`.
///
/// # Errors
/// When `path` is a folder, or its folder takes no file.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(!path.is_dir(), "{} is a folder, not a file", path.display());
    tempfile::tempfile_in(folder_of(path))
        .with_context(|| format!("cannot write {}", path.display()))
        .map(drop)
}

/// Moves a file within one file system and makes the move durable in both folders.
pub fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to)
        .and_then(|()| sync_folder(to))
        .and_then(|()| sync_folder(from))
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

/// Removes a file durably; one that is gone already is no error.
pub fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => sync_folder(path),
    }
    .with_context(|| format!("cannot remove {}", path.display()))
}

/// Whether a file name is one that [`write_atomically`] leaves behind when it is killed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

fn temporary_for(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
