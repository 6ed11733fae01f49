//! Making, closing and removing a file: the directory's lock, inode allocation, journal. The layout
//! says whether tasks share the directory.

use super::paths::{Paths, Place};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Ticks, Workload, check,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "file/unlink",
    version: 1,
    description: "create, close and unlink a file",
    operation: "one open(O_RDWR|O_CREAT), close and unlink",
    stresses: "directory lock, inode allocation, orphan list, journal",
    parameters: &[Parameter {
        name: "layout",
        default: "shared-dir",
        allowed: Allowed::OneOf(&["shared-dir", "own-dir"]),
        about: "own names in one directory, or in own directories",
    }],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let own_dir = setup.values.word("layout") == "own-dir";
    let place = if own_dir { Place::OwnDir } else { Place::SharedDir };
    Ok(Box::new(Paths::prepare(setup.tasks, place, turn)?))
}

/// # Safety
/// As [`super::paths::PathTurns`].
#[inline(never)]
unsafe fn turn(path: *const libc::c_char, ticks: &Ticks) -> Fault {
    const MODE: libc::c_uint = 0o600;
    loop {
        // SAFETY: path is valid by contract; the descriptor is this loop's own.
        let gone = unsafe {
            check("open", libc::open(path, libc::O_RDWR | libc::O_CREAT, MODE))
                .and_then(|fd| check("close", libc::close(fd)))
                .and_then(|_| check("unlink", libc::unlink(path)))
        };
        if let Err(fault) = gone {
            return fault;
        }
        ticks.tick();
    }
}
