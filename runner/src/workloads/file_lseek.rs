//! Setting a file's offset: the lock of the offset and, in threads, the file's reference count.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::files::{OWN_OR_SAME, OwnOrSame};
use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "file/lseek",
    version: 1,
    description: "set the offset of a file to 0",
    operation: "one lseek(0, SEEK_SET)",
    stresses: "file reference (threads), lock of the offset",
    parameters: &[OWN_OR_SAME],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup: &Setup<'_>| Ok(Box::new(Files(OwnOrSame::prepare(setup, 4096)?))),
};

struct Files(OwnOrSame);

impl Prepared for Files {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Seeking { file: self.0.open(task)? }))
    }
}

struct Seeking {
    file: File,
}

impl Task for Seeking {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.file.as_raw_fd(), ticks))
    }
}

#[inline(never)]
fn turn(fd: libc::c_int, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: touches no memory of ours.
        if unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } != 0 {
            return Fault::errno("lseek");
        }
        ticks.tick();
    }
}
