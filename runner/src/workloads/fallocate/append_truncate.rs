//! Allocating a file piece by piece and giving it all back: the block allocator under its most
//! common load. One count a piece; the truncation between two files is not counted.

use std::fs::File;
use std::os::fd::AsRawFd;

use wire::{Direction, Unit};

use super::extents::extents;
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Workload,
    check,
};
use crate::workloads::files::own_file;

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "fallocate/append-truncate",
    version: 1,
    description: "fallocate an own file piece by piece, truncate, again",
    operation: "one fallocate of a piece",
    stresses: "block allocator, extent tree, journal; on tmpfs page allocation",
    parameters: &[CHUNK, FILE],
    metrics: &[EXTENTS_PER_FILE],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

pub(super) const CHUNK: Parameter = Parameter {
    name: "chunk",
    default: "8192",
    allowed: Allowed::Whole(512, 1 << 30),
    about: "bytes of one fallocate",
};

pub(super) const FILE: Parameter = Parameter {
    name: "file",
    default: "1048576",
    allowed: Allowed::Whole(512, 1 << 40),
    about: "bytes at which the file is truncated to 0",
};

pub(super) const EXTENTS_PER_FILE: SideMetric = SideMetric {
    name: "extents_per_file",
    unit: Unit::Count,
    direction: Direction::Lower,
    value: |window| window.ratio(EXTENTS, FILES),
};

/// Counter words: extents found, files looked at.
const EXTENTS: usize = 1;
const FILES: usize = 2;
/// Every so many full files one is looked at; the first one always.
const LOOK_EVERY: u64 = 64;

struct OwnFiles {
    chunk: libc::off_t,
    size: libc::off_t,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let (chunk, size) = (setup.values.whole("chunk")?, setup.values.whole("file")?);
    Ok(Box::new(OwnFiles { chunk: chunk as libc::off_t, size: size as libc::off_t }))
}

impl Prepared for OwnFiles {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Allocating::new(own_file(task)?, self.chunk, self.size)))
    }
}

/// A task that fills and empties its file for ever.
pub(super) struct Allocating {
    file: File,
    chunk: libc::off_t,
    size: libc::off_t,
    look_every: u64,
}

impl Allocating {
    /// With an empty file, `chunk` bytes an fallocate, `size` bytes a full file.
    pub fn new(file: File, chunk: libc::off_t, size: libc::off_t) -> Allocating {
        let look_every = if extents(file.as_raw_fd()).is_some() { LOOK_EVERY } else { u64::MAX };
        Allocating { file, chunk, size, look_every }
    }
}

impl Task for Allocating {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        for round in 0.. {
            fill(self.file.as_raw_fd(), self.chunk, self.size, ticks)?;
            if round % self.look_every == 0
                && let Some(extents) = extents(self.file.as_raw_fd())
            {
                ticks.add(EXTENTS, extents);
                ticks.add(FILES, 1);
            }
            // SAFETY: the descriptor is open.
            check("ftruncate", unsafe { libc::ftruncate(self.file.as_raw_fd(), 0) })?;
        }
        Ok(())
    }
}

#[inline(never)]
fn fill(fd: libc::c_int, chunk: libc::off_t, size: libc::off_t, ticks: &Ticks) -> Attempt<()> {
    let mut place = 0;
    while place < size {
        // SAFETY: the descriptor is open; the call touches no memory of ours.
        if unsafe { libc::fallocate(fd, 0, place, chunk) } < 0 {
            return Err(Fault::errno("fallocate"));
        }
        ticks.tick();
        place += chunk;
    }
    Ok(())
}
