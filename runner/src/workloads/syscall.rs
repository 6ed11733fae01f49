//! The loops of `UnixBench`'s system call test. Which descriptor is duplicated decides what is
//! measured: one file that all tasks refer to, as its versions up to 5.1.3 do by using standard
//! input, or a pipe of each task's own, as since 6.0.0.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use wire::{Direction, Unit};

use crate::harness::{
    Attempt, Fault, Lock, Mode, Prepared, Setup, SideMetric, Task, Ticks, Workload, check,
    shared_slice,
};

/// What `UnixBench` calls a rate.
pub(super) const LOOPS_PER_S: SideMetric = SideMetric {
    name: "lps",
    unit: Unit::LoopsPerSecond,
    direction: Direction::Higher,
    value: |window| Some(window.word(0) as f64 / (window.dt_ns as f64 / 1e9)),
};

pub(super) const MIX_SHARED_FD: Workload = Workload {
    id: "syscall/mix-shared-fd",
    version: 1,
    description: "five system calls, among them dup and close of a file shared by all tasks",
    operation: "close(dup(fd)), getpid, getuid and umask: five system calls",
    stresses: "system call entry, reference count and cache line of one struct file",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(SharedFile::new()?)),
};

pub(super) const MIX_PRIVATE_FD: Workload = Workload {
    id: "syscall/mix-private-fd",
    description: "five system calls, among them dup and close of a pipe of the task's own",
    stresses: "system call entry, file table; nothing shared but the kernel's own",
    needs_directory: false,
    prepare: |_: &Setup<'_>| Ok(Box::new(PrivatePipes(mix))),
    ..MIX_SHARED_FD
};

pub(super) const CLOSE: Workload = Workload {
    id: "syscall/close",
    description: "dup and close of a pipe of the task's own",
    operation: "close(dup(fd)): two system calls",
    prepare: |_: &Setup<'_>| Ok(Box::new(PrivatePipes(close))),
    ..MIX_PRIVATE_FD
};

pub(super) const GETPID: Workload = Workload {
    id: "syscall/getpid",
    description: "getpid by its number",
    operation: "one system call",
    stresses: "system call entry",
    prepare: |_: &Setup<'_>| Ok(Box::new(PrivatePipes(getpid))),
    ..MIX_PRIVATE_FD
};

/// A file opened before any task exists.
struct SharedFile {
    file: File,
    lock: &'static Lock,
    arrived: &'static AtomicU64,
}

impl SharedFile {
    fn new() -> Attempt<SharedFile> {
        SharedFile::of(File::create_new("shared").map_err(|e| Fault::io("open", &e))?)
    }

    fn of(file: File) -> Attempt<SharedFile> {
        Ok(SharedFile { file, lock: &shared_slice(1)?[0], arrived: &shared_slice(1)?[0] })
    }

    /// Every task moves the file's offset on by one. Only where all refer to one open file is the
    /// offset then the number of tasks that have been here.
    fn verify_shared(&self) -> Attempt<()> {
        self.lock.acquire(100);
        let arrived = self.arrived.fetch_add(1, Ordering::Relaxed) + 1;
        // SAFETY: the descriptor is open.
        let offset = unsafe { libc::lseek(self.file.as_raw_fd(), 1, libc::SEEK_CUR) };
        self.lock.release();
        match u64::try_from(offset) {
            Err(_) => Err(Fault::errno("lseek")),
            Ok(offset) if offset == arrived => Ok(()),
            Ok(offset) => {
                let detail =
                    format!("the file is not shared: offset {offset} after {arrived} tasks");
                Err(Fault::wrong("lseek", detail))
            }
        }
    }
}

impl Prepared for SharedFile {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        self.verify_shared()?;
        Ok(Box::new(Calling { fd: self.file.as_raw_fd(), _own: None, turn: mix }))
    }
}

/// Each task makes itself a pipe.
struct PrivatePipes(Turn);

impl Prepared for PrivatePipes {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        check("pipe", unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
        // SAFETY: both are new and owned here; the write end is closed again at once.
        let [read, _write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(Box::new(Calling { fd: read.as_raw_fd(), _own: Some(read), turn: self.0 }))
    }
}

type Turn = fn(RawFd, &Ticks) -> Fault;

struct Calling {
    fd: RawFd,
    _own: Option<OwnedFd>,
    turn: Turn,
}

impl Task for Calling {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err((self.turn)(self.fd, ticks))
    }
}

#[inline(always)]
fn dup_and_close(fd: RawFd) -> Attempt<i32> {
    // SAFETY: the duplicate is this loop's own; fd stays open.
    unsafe { check("dup", libc::dup(fd)).and_then(|copy| check("close", libc::close(copy))) }
}

#[inline(never)]
fn mix(fd: RawFd, ticks: &Ticks) -> Fault {
    loop {
        if let Err(fault) = dup_and_close(fd) {
            return fault;
        }
        // SAFETY: no arguments but a mode; none of them fails.
        unsafe {
            libc::syscall(libc::SYS_getpid);
            libc::getuid();
            libc::umask(0o022);
        }
        ticks.tick();
    }
}

#[inline(never)]
fn close(fd: RawFd, ticks: &Ticks) -> Fault {
    loop {
        if let Err(fault) = dup_and_close(fd) {
            return fault;
        }
        ticks.tick();
    }
}

#[inline(never)]
fn getpid(_: RawFd, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: no arguments.
        if unsafe { libc::syscall(libc::SYS_getpid) } <= 0 {
            return Fault::errno("getpid");
        }
        ticks.tick();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_each_task_opened_for_itself_is_not_taken_for_a_shared_one() {
        let open = || tempfile::tempfile().expect("a temporary file");
        let mut shared = SharedFile::of(open()).expect("shared memory");
        for _ in 0..3 {
            shared.verify_shared().expect("it is one open file");
        }
        shared.file = open();
        let fault = shared.verify_shared().expect_err("its offset begins anew");
        assert!(fault.detail.contains("offset 1 after 4 tasks"), "{}", fault.detail);
    }
}
