//! Unlinking a file that is open: its inode goes on the orphan list and, when closed, off it and
//! away.

use std::ffi::CString;
use std::fs;

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, check,
};

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

struct Paths(Vec<CString>);

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let shared = setup.values.word("dir") == "shared";
    let mut paths = Vec::with_capacity(setup.tasks as usize);
    for task in 0..setup.tasks {
        let dir = if shared { "dir".to_owned() } else { format!("dir{task}") };
        fs::create_dir_all(&dir).map_err(|e| Fault::io("mkdir", &e))?;
        let path = CString::new(format!("{dir}/file{task}")).expect("the path has no NUL byte");
        paths.push(path);
    }
    Ok(Box::new(Paths(paths)))
}

impl Prepared for Paths {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Unlinking { path: self.0[task as usize].clone() }))
    }
}

struct Unlinking {
    path: CString,
}

impl Task for Unlinking {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            // SAFETY: the path lives as long as the task.
            unsafe { turn(self.path.as_ptr())? };
            ticks.tick();
        }
    }
}

/// # Safety
/// `path` is a NUL-terminated string that outlives the call.
#[inline(always)]
unsafe fn turn(path: *const libc::c_char) -> Attempt<()> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    // SAFETY: path is valid by contract.
    let fd = check("open", unsafe { libc::open(path, flags, 0o600) })?;
    // SAFETY: path is valid by contract.
    check("unlink", unsafe { libc::unlink(path) })?;
    // SAFETY: the descriptor is this loop's own.
    check("close", unsafe { libc::close(fd) }).map(drop)
}
