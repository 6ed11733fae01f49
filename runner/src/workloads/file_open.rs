//! Opening and closing a file: path walk, dentry and file references. The layout says what tasks
//! share: a directory of files, nothing (own directories), or one file.

use std::ffi::CString;
use std::fs;

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, check,
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

struct Files {
    paths: Vec<CString>,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let layout = setup.values.word("layout");
    let path = |task: u32| match layout {
        "own-dir" => (format!("dir{task}"), "file".to_owned()),
        "same-file" => ("dir".to_owned(), "file".to_owned()),
        _ => ("dir".to_owned(), format!("file{task}")),
    };
    let mut paths = Vec::with_capacity(setup.tasks as usize);
    for (dir, file) in (0..setup.tasks).map(path) {
        fs::create_dir_all(&dir).map_err(|e| Fault::io("mkdir", &e))?;
        let path = format!("{dir}/{file}");
        fs::File::create(&path).map_err(|e| Fault::io("creat", &e))?;
        paths.push(CString::new(path).expect("the path has no NUL byte"));
    }
    Ok(Box::new(Files { paths }))
}

impl Prepared for Files {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Opening { path: self.paths[task as usize].clone() }))
    }
}

struct Opening {
    path: CString,
}

impl Task for Opening {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: the path lives as long as the task.
        Err(unsafe { turn(self.path.as_ptr(), ticks) })
    }
}

/// # Safety
/// `path` is a NUL-terminated string that outlives the call.
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
