//! `UnixBench`'s pipe throughput: 512 bytes through a pipe whose both ends one task holds.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::syscall::LOOPS_PER_S;
use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check};

pub(super) const WORKLOAD: Workload = Workload {
    id: "ipc/unixbench-pipe",
    version: 2,
    description: "write 512 bytes into an own pipe and read them back",
    operation: "one write and one read of 512 bytes",
    stresses: "pipe buffers, copying",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Pipes)),
};

const BYTES: usize = 512;

/// Aligned to its size: where a copy's two ends lie a few bytes apart in their pages it is slower by
/// a fifth, and an odd place would decide by chance.
#[repr(align(512))]
struct Buffer([u8; BYTES]);

struct Pipes;

impl Prepared for Pipes {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        check("pipe", unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
        // SAFETY: both are new and owned here.
        let [read, write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(Box::new(Piping { read, write, buffer: Buffer([7; BYTES]) }))
    }
}

struct Piping {
    read: OwnedFd,
    write: OwnedFd,
    buffer: Buffer,
}

impl Task for Piping {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.write.as_raw_fd(), self.read.as_raw_fd(), &mut self.buffer.0, ticks))
    }
}

#[inline(never)]
fn turn(write: RawFd, read: RawFd, bytes: &mut [u8; BYTES], ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: bytes is that long and lives for the call.
        if unsafe { libc::write(write, bytes.as_ptr().cast(), BYTES) } != BYTES as isize {
            return Fault::errno("write");
        }
        // SAFETY: as above.
        if unsafe { libc::read(read, bytes.as_mut_ptr().cast(), BYTES) } != BYTES as isize {
            return Fault::errno("read");
        }
        ticks.tick();
    }
}
