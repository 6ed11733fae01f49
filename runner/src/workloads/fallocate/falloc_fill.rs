//! Many files grown side by side, a chunk each in turn, as a set of downloads or logs does: where
//! the allocator puts the chunks decides in how many pieces each file ends.
//!
//! Every task has its share of the files. When all of them are full they are looked at and emptied.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

use wire::{Direction, Unit};

use super::extents::extents;
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Tally, Task, Ticks,
    Workload, check, need_space,
};

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "fallocate/falloc-fill",
    version: 1,
    description: "grow many files side by side, a chunk each in turn",
    operation: "one fallocate of `chunk` bytes at the end of a file",
    stresses: "block allocator: goal, preallocation, group locks, fragmentation of files",
    parameters: &[
        Parameter {
            name: "files",
            default: "64",
            allowed: Allowed::Whole(1, 65_536),
            about: "files of all tasks together; every task has one at least",
        },
        Parameter {
            name: "chunk",
            default: "4096",
            allowed: Allowed::Whole(512, 1 << 30),
            about: "bytes of one fallocate",
        },
        Parameter {
            name: "total",
            default: "4194304",
            allowed: Allowed::Whole(512, 1 << 40),
            about: "bytes at which a file is full",
        },
    ],
    metrics: &[
        SideMetric {
            name: "mib_per_s",
            unit: Unit::MebibytesPerSecond,
            direction: Direction::Higher,
            value: |window| window.per_second(BYTES).map(|bytes| bytes / f64::from(1 << 20)),
        },
        SideMetric {
            name: "extents_per_file",
            unit: Unit::Count,
            direction: Direction::Lower,
            value: |window| window.ratio(EXTENTS, FILES),
        },
        SideMetric {
            name: "mean_extent_kib",
            unit: Unit::Kibibytes,
            direction: Direction::Higher,
            value: mean_extent_kib,
        },
    ],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// Counter words: bytes allocated; bytes, extents and number of the full files looked at.
const BYTES: usize = 1;
const FULL_BYTES: usize = 2;
const EXTENTS: usize = 3;
const FILES: usize = 4;

fn mean_extent_kib(window: &Tally) -> Option<f64> {
    window.ratio(FULL_BYTES, EXTENTS).map(|bytes| bytes / 1024.0)
}

struct Filling {
    tasks: u32,
    files: u32,
    chunk: libc::off_t,
    total: libc::off_t,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let values = setup.values;
    let files = (values.whole("files")? as u32).max(setup.tasks);
    let (chunk, total) = (values.whole("chunk")?, values.whole("total")?);
    let each = u64::from(files.div_ceil(setup.tasks));
    need_space(setup.tasks, each.saturating_mul(total.next_multiple_of(chunk)))?;
    let (chunk, total) = (chunk as libc::off_t, total as libc::off_t);
    Ok(Box::new(Filling { tasks: setup.tasks, files, chunk, total }))
}

impl Prepared for Filling {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let numbers = (task..self.files).step_by(self.tasks as usize);
        let files = numbers.map(nameless).collect::<Attempt<_>>()?;
        Ok(Box::new(Growing { files, chunk: self.chunk, total: self.total }))
    }
}

fn nameless(number: u32) -> Attempt<File> {
    let path = format!("file{number}");
    let file = File::create_new(&path).map_err(|e| Fault::io("open", &e))?;
    fs::remove_file(&path).map_err(|e| Fault::io("unlink", &e))?;
    Ok(file)
}

struct Growing {
    files: Vec<File>,
    chunk: libc::off_t,
    total: libc::off_t,
}

impl Task for Growing {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            fill(&self.files, self.chunk, self.total, ticks)?;
            for file in &self.files {
                if let Some(extents) = extents(file.as_raw_fd()) {
                    ticks.add(EXTENTS, extents);
                    ticks.add(FULL_BYTES, (self.total as u64).next_multiple_of(self.chunk as u64));
                    ticks.add(FILES, 1);
                }
            }
            for file in &self.files {
                // SAFETY: the descriptor is open.
                check("ftruncate", unsafe { libc::ftruncate(file.as_raw_fd(), 0) })?;
            }
        }
    }
}

#[inline(never)]
fn fill(files: &[File], chunk: libc::off_t, total: libc::off_t, ticks: &Ticks) -> Attempt<()> {
    let mut place = 0;
    while place < total {
        for file in files {
            // SAFETY: the descriptor is open; the call touches no memory of ours.
            if unsafe { libc::fallocate(file.as_raw_fd(), 0, place, chunk) } < 0 {
                return Err(Fault::errno("fallocate"));
            }
            ticks.add(BYTES, chunk as u64);
            ticks.tick();
        }
        place += chunk;
    }
    Ok(())
}
