//! Allocating a file piece by piece and giving it all back: the block allocator under its most
//! common load. One count a piece; the truncation between two files is not counted.

use std::fs::File;
use std::os::fd::AsRawFd;

use wire::{Direction, Unit};

use super::files::own_file;
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Workload,
    check,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "fallocate/append-truncate",
    version: 1,
    description: "fallocate an own file piece by piece, truncate, again",
    operation: "one fallocate of a piece",
    stresses: "block allocator, extent tree, journal; on tmpfs page allocation",
    parameters: &[
        Parameter {
            name: "chunk",
            default: "8192",
            allowed: Allowed::Whole(512, 1 << 30),
            about: "bytes of one fallocate",
        },
        Parameter {
            name: "file",
            default: "1048576",
            allowed: Allowed::Whole(512, 1 << 40),
            about: "bytes at which the file is truncated to 0",
        },
    ],
    metrics: &[SideMetric {
        name: "extents_per_file",
        unit: Unit::Count,
        direction: Direction::Lower,
        value: |window| window.ratio(EXTENTS, FILES),
    }],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
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
        let file = own_file(task)?;
        let look_every = if extents(file.as_raw_fd()).is_some() { LOOK_EVERY } else { u64::MAX };
        Ok(Box::new(Allocating { file, chunk: self.chunk, size: self.size, look_every }))
    }
}

struct Allocating {
    file: File,
    chunk: libc::off_t,
    size: libc::off_t,
    look_every: u64,
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

/// The header of `struct fiemap`, `linux/fiemap.h`; no extents follow, so only their number is
/// answered.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;

/// Number of extents of the file; none where the file system does not say.
fn extents(fd: libc::c_int) -> Option<u64> {
    let mut map = Fiemap { length: u64::MAX, ..Fiemap::default() };
    // SAFETY: map has the layout the kernel expects and room for no extent, as it says.
    let answer = unsafe { libc::ioctl(fd, FS_IOC_FIEMAP as _, &raw mut map) };
    (answer == 0).then_some(u64::from(map.mapped_extents))
}
