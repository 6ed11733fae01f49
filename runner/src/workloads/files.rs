//! Files that workloads make for their tasks; paths are relative to the point's own folder.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::harness::{Allowed, Attempt, Fault, Parameter, Prepared, Setup, Task, Ticks};

/// An empty file of one task, open for reading and writing, its name already gone.
pub(super) fn own_file(task: u32) -> Attempt<File> {
    own_file_with(task, 0)
}

/// The same, opened with more flags.
pub(super) fn own_file_with(task: u32, flags: libc::c_int) -> Attempt<File> {
    let path = format!("file{task}");
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true).custom_flags(flags);
    let file = options.open(&path).map_err(|e| not_opened(flags, &e))?;
    fs::remove_file(&path).map_err(|e| Fault::io("unlink", &e))?;
    Ok(file)
}

const SHARED: &str = "shared";

/// Makes the file that all tasks open, `bytes` zeros long.
pub(super) fn make_shared_file(bytes: usize) -> Attempt<()> {
    let file = File::create_new(SHARED).map_err(|e| Fault::io("open", &e))?;
    fill(&file, bytes)
}

/// Opens the shared file: one file, but a reference and an offset of the task's own.
pub(super) fn open_shared_file(writable: bool, flags: libc::c_int) -> Attempt<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(writable).custom_flags(flags);
    options.open(SHARED).map_err(|e| not_opened(flags, &e))
}

fn not_opened(flags: libc::c_int, error: &std::io::Error) -> Fault {
    match error.raw_os_error() {
        Some(libc::EINVAL) if flags & libc::O_DIRECT != 0 => {
            Fault::unavailable("O_DIRECT on this file system", error)
        }
        _ => Fault::io("open", error),
    }
}

/// Memory as unbuffered transfers need it.
#[repr(C, align(4096))]
#[derive(Clone)]
pub(super) struct Page([u8; 4096]);

/// Zeroed pages that hold at least `bytes`.
pub(super) fn pages(bytes: usize) -> Vec<Page> {
    vec![Page([0; 4096]); bytes.div_ceil(4096)]
}

/// Writes `bytes` zeros where the file's offset is.
pub(super) fn fill(mut file: &File, bytes: usize) -> Attempt<()> {
    let zeros = pages(bytes);
    // SAFETY: the pages are that long and live for the call.
    let zeros = unsafe { std::slice::from_raw_parts(zeros.as_ptr().cast::<u8>(), bytes) };
    file.write_all(zeros).map_err(|e| Fault::io("write", &e))
}

/// The parameter of workloads whose tasks work on own files or on one.
pub(super) const OWN_OR_SAME: Parameter = Parameter {
    name: "layout",
    default: "own-file",
    allowed: Allowed::OneOf(&["own-file", "same-file"]),
    about: "an own file for each task, or one file that each opens for itself",
};

/// The file of each task under [`OWN_OR_SAME`], `bytes` zeros long, open for reading and writing.
pub(super) struct OwnOrSame {
    same: bool,
    bytes: usize,
}

impl OwnOrSame {
    /// Makes the shared file where there is one.
    pub fn prepare(setup: &Setup<'_>, bytes: usize) -> Attempt<OwnOrSame> {
        let same = setup.values.word("layout") == "same-file";
        if same {
            make_shared_file(bytes)?;
        }
        Ok(OwnOrSame { same, bytes })
    }

    /// Opens the file of `task`.
    pub fn open(&self, task: u32) -> Attempt<File> {
        if self.same {
            return open_shared_file(true, 0);
        }
        let file = own_file(task)?;
        fill(&file, self.bytes)?;
        Ok(file)
    }
}

/// A loop on an open file; it ends with a fault only.
pub(super) type FileTurns = fn(RawFd, &Ticks) -> Fault;

/// Tasks that do `turns` on files under [`OWN_OR_SAME`], each `bytes` zeros long.
pub(super) fn on_own_or_same(
    setup: &Setup<'_>,
    bytes: usize,
    turns: FileTurns,
) -> Attempt<Box<dyn Prepared>> {
    Ok(Box::new(OnFiles { files: OwnOrSame::prepare(setup, bytes)?, turns }))
}

struct OnFiles {
    files: OwnOrSame,
    turns: FileTurns,
}

impl Prepared for OnFiles {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(OnFile { file: self.files.open(task)?, turns: self.turns }))
    }
}

struct OnFile {
    file: File,
    turns: FileTurns,
}

impl Task for OnFile {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err((self.turns)(self.file.as_raw_fd(), ticks))
    }
}
