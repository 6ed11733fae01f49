//! Truncating an own file byte by byte: fixed work, as it is published in seconds. Each call puts
//! the inode on the orphan list and takes it off.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use wire::{Direction, Unit};

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Workload,
    check,
};
use crate::workloads::aim::ELAPSED;

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "orphan/truncate-bytes",
    version: 1,
    description: "truncate an own file byte by byte to nothing, a fixed size for each task",
    operation: "one ftruncate by one byte",
    stresses: "orphan list, journal handles",
    parameters: &[Parameter {
        name: "size",
        default: "4096",
        allowed: Allowed::Whole(1, 1 << 30),
        about: "bytes of the file at first",
    }],
    metrics: &[
        ELAPSED,
        SideMetric {
            name: "truncates_per_s",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |load| Some(load.word(0) as f64 / (load.dt_ns as f64 / 1e9)),
        },
    ],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup: &Setup<'_>| Ok(Box::new(OwnFiles { size: setup.values.whole("size")? })),
};

struct OwnFiles {
    size: u64,
}

impl Prepared for OwnFiles {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        // The name stays: an unlinked file is on the orphan list all the time.
        let file = File::create_new(format!("file{task}")).map_err(|e| Fault::io("open", &e))?;
        Ok(Box::new(Truncating { file, size: self.size }))
    }

    fn fixed_work(&self) -> bool {
        true
    }
}

struct Truncating {
    file: File,
    size: u64,
}

impl Task for Truncating {
    fn make_ready(&mut self) -> Attempt<()> {
        let zeros = vec![0; self.size.min(1 << 20) as usize];
        let mut left = self.size;
        std::io::Seek::rewind(&mut self.file).map_err(|e| Fault::io("lseek", &e))?;
        while left > 0 {
            let piece = left.min(zeros.len() as u64) as usize;
            self.file.write_all(&zeros[..piece]).map_err(|e| Fault::io("write", &e))?;
            left -= piece as u64;
        }
        self.file.sync_all().map_err(|e| Fault::io("fsync", &e))
    }

    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        truncate(self.file.as_raw_fd(), self.size, ticks)
    }
}

#[inline(never)]
fn truncate(fd: libc::c_int, size: u64, ticks: &Ticks) -> Attempt<()> {
    for left in (0..size as libc::off_t).rev() {
        // SAFETY: the descriptor is open; the call touches no memory of ours.
        check("ftruncate", unsafe { libc::ftruncate(fd, left) })?;
        ticks.tick();
    }
    Ok(())
}
