//! Setting a file's offset: the lock of the offset and, in threads, the file's reference count.

use std::os::fd::RawFd;

use super::files::{OWN_OR_SAME, on_own_or_same};
use crate::harness::{Fault, Mode, Ticks, Workload};

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
    prepare: |setup| on_own_or_same(setup, 4096, turn),
};

#[inline(never)]
fn turn(fd: RawFd, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: touches no memory of ours.
        if unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } != 0 {
            return Fault::errno("lseek");
        }
        ticks.tick();
    }
}
