//! Duplicating and closing a descriptor: the file table's lock in threads, the file's reference
//! count in both modes.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::files::own_file;
use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check};

pub(super) const WORKLOAD: Workload = Workload {
    id: "file/dup",
    version: 1,
    description: "dup and close a descriptor of an own file",
    operation: "one dup and close",
    stresses: "file table lock (threads), file reference count",
    parameters: &[],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(OwnFiles)),
};

struct OwnFiles;

impl Prepared for OwnFiles {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Duplicating { file: own_file(task)? }))
    }
}

struct Duplicating {
    file: File,
}

impl Task for Duplicating {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.file.as_raw_fd(), ticks))
    }
}

#[inline(never)]
fn turn(fd: libc::c_int, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: the duplicate is this loop's own; fd stays open.
        let closed = unsafe {
            check("dup", libc::dup(fd)).and_then(|copy| check("close", libc::close(copy)))
        };
        if let Err(fault) = closed {
            return fault;
        }
        ticks.tick();
    }
}
