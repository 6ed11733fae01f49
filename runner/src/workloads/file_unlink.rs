//! Making, closing and removing a file: the directory's lock, inode allocation, journal. The layout
//! says whether tasks share the directory.

use std::ffi::CString;
use std::fs;

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, check,
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

struct Names {
    paths: Vec<CString>,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let own_dir = setup.values.word("layout") == "own-dir";
    let mut paths = Vec::with_capacity(setup.tasks as usize);
    for task in 0..setup.tasks {
        let dir = if own_dir { format!("dir{task}") } else { "dir".to_owned() };
        fs::create_dir_all(&dir).map_err(|e| Fault::io("mkdir", &e))?;
        let name = format!("{dir}/file{task}");
        paths.push(CString::new(name).expect("the path has no NUL byte"));
    }
    Ok(Box::new(Names { paths }))
}

impl Prepared for Names {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Unlinking { path: self.paths[task as usize].clone() }))
    }
}

struct Unlinking {
    path: CString,
}

impl Task for Unlinking {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: the path lives as long as the task.
        Err(unsafe { turn(self.path.as_ptr(), ticks) })
    }
}

/// # Safety
/// `path` is a NUL-terminated string that outlives the call.
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
