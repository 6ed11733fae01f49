//! Names that workloads make for their tasks; paths are relative to the point's own folder.

use std::ffi::CString;
use std::fs::{self, File};

use crate::harness::{Attempt, Fault, Prepared, Task, Ticks};

/// What tasks that work by name share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// Nothing: a directory each.
    OwnDir,
    /// The directory of their names.
    SharedDir,
    /// The name.
    SameFile,
}

/// A loop on a path.
///
/// # Safety
/// The path is a NUL-terminated string that outlives the call.
pub(super) type PathTurns = unsafe fn(*const libc::c_char, &Ticks) -> Fault;

/// A path for each task and what is done with it. The directories are there, the files are not.
pub(super) struct Paths {
    paths: Vec<CString>,
    turns: PathTurns,
}

impl Paths {
    /// Makes the directories.
    pub fn prepare(tasks: u32, place: Place, turns: PathTurns) -> Attempt<Paths> {
        let path = |task: u32| -> Attempt<CString> {
            let (dir, file) = match place {
                Place::OwnDir => (format!("dir{task}"), "file".to_owned()),
                Place::SharedDir => ("dir".to_owned(), format!("file{task}")),
                Place::SameFile => ("dir".to_owned(), "file".to_owned()),
            };
            fs::create_dir_all(&dir).map_err(|e| Fault::io("mkdir", &e))?;
            Ok(CString::new(format!("{dir}/{file}")).expect("the path has no NUL byte"))
        };
        Ok(Paths { paths: (0..tasks).map(path).collect::<Attempt<_>>()?, turns })
    }

    /// Makes an empty file at every path.
    pub fn make_files(self) -> Attempt<Paths> {
        for path in &self.paths {
            let path = path.to_str().expect("it was made of text");
            File::create(path).map_err(|e| Fault::io("creat", &e))?;
        }
        Ok(self)
    }
}

impl Prepared for Paths {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(AtPath { path: self.paths[task as usize].clone(), turns: self.turns }))
    }
}

struct AtPath {
    path: CString,
    turns: PathTurns,
}

impl Task for AtPath {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: the path lives as long as the task.
        Err(unsafe { (self.turns)(self.path.as_ptr(), ticks) })
    }
}
