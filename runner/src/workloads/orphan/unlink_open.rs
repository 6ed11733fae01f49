//! Unlinking a file that is open: its inode goes on the orphan list and, when closed, off it and
//! away.

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Ticks, Workload, check,
};
use crate::workloads::paths::{Paths, Place};

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "orphan/unlink-open",
    version: 1,
    description: "create a file, unlink it while it is open, close it",
    operation: "one open(O_CREAT), unlink and close",
    stresses: "orphan list, inode allocation, directory lock",
    parameters: &[Parameter {
        name: "dir",
        default: "own",
        allowed: Allowed::OneOf(&["own", "shared"]),
        about: "a directory for each task, or one for all",
    }],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let shared = setup.values.word("dir") == "shared";
    let place = if shared { Place::SharedDir } else { Place::OwnDir };
    Ok(Box::new(Paths::prepare(setup.tasks, place, turn)?))
}

/// # Safety
/// As [`crate::workloads::paths::PathTurns`].
#[inline(never)]
unsafe fn turn(path: *const libc::c_char, ticks: &Ticks) -> Fault {
    const FLAGS: libc::c_int = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    const MODE: libc::c_uint = 0o600;
    loop {
        // SAFETY: path is valid by contract; the descriptor is this loop's own.
        let gone = unsafe {
            check("open", libc::open(path, FLAGS, MODE)).and_then(|fd| {
                check("unlink", libc::unlink(path))?;
                check("close", libc::close(fd))
            })
        };
        if let Err(fault) = gone {
            return fault;
        }
        ticks.tick();
    }
}
