//! Files that workloads make for their tasks; paths are relative to the point's own folder.

use std::fs::{self, File};

use crate::harness::{Attempt, Fault};

/// An empty file of one task, open for reading and writing, its name already gone.
pub(super) fn own_file(task: u32) -> Attempt<File> {
    let path = format!("file{task}");
    let file = File::create_new(&path).map_err(|e| Fault::io("open", &e))?;
    fs::remove_file(&path).map_err(|e| Fault::io("unlink", &e))?;
    Ok(file)
}
