//! Opening and closing a file: path walk, dentry and file references. The layout says what tasks
//! share: a directory of files, nothing (own directories), or one file.

use super::paths::{Paths, Place};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Ticks, Workload, check,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "file/open",
    version: 1,
    description: "open and close a file",
    operation: "one open(O_RDWR) and close",
    stresses: "path walk, dentry reference, file allocation, file table",
    parameters: &[Parameter {
        name: "layout",
        default: "shared-dir",
        allowed: Allowed::OneOf(&["shared-dir", "own-dir", "same-file"]),
        about: "own files in one directory, in own directories, or one file for all tasks",
    }],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let place = match setup.values.word("layout") {
        "own-dir" => Place::OwnDir,
        "same-file" => Place::SameFile,
        _ => Place::SharedDir,
    };
    Ok(Box::new(Paths::prepare(setup.tasks, place, turn)?.make_files()?))
}

/// # Safety
/// As [`super::paths::PathTurns`].
#[inline(never)]
unsafe fn turn(path: *const libc::c_char, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: path is valid by contract; the descriptor is this loop's own.
        let closed = unsafe {
            check("open", libc::open(path, libc::O_RDWR))
                .and_then(|fd| check("close", libc::close(fd)))
        };
        if let Err(fault) = closed {
            return fault;
        }
        ticks.tick();
    }
}
