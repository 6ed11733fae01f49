//! Taking and giving back a POSIX lock on one byte of a file. Its owner is the process: on one file
//! processes wait for each other, threads do not.

use std::os::fd::RawFd;

use super::files::{OWN_OR_SAME, on_own_or_same};
use crate::harness::{Fault, Mode, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "lock/posix",
    version: 1,
    description: "lock and unlock one byte of a file for writing",
    operation: "one fcntl(F_SETLKW), two a turn: lock, unlock",
    stresses: "lock list of the inode, allocation of locks; on one file, waiting and waking",
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
    // SAFETY: all-zero is a valid flock.
    let mut byte: libc::flock = unsafe { std::mem::zeroed() };
    byte.l_whence = libc::SEEK_SET as libc::c_short;
    byte.l_len = 1;
    loop {
        for kind in [libc::F_WRLCK, libc::F_UNLCK] {
            byte.l_type = kind as libc::c_short;
            // SAFETY: byte is valid for the call.
            if unsafe { libc::fcntl(fd, libc::F_SETLKW, &raw const byte) } != 0 {
                return Fault::errno("fcntl");
            }
        }
        ticks.tick_by(2);
    }
}
