//! AIM's `creat-clo` by time: creates over one existing name, which truncates an empty file each
//! time; on ext4 that is two visits to the orphan list a turn.

use std::ffi::CString;

use wire::{Direction, Unit};

use crate::harness::{
    Attempt, Fault, Mode, Prepared, Setup, SideMetric, Tally, Task, Ticks, Workload, check,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "aim/creat-close",
    version: 1,
    description: "creat and close one name 1000 times, then unlink it",
    operation: "one creat(0777) and close",
    stresses: "truncation on open: orphan list, journal handles, inode lock",
    parameters: &[],
    metrics: &[SideMetric {
        name: "jobs_per_min",
        unit: Unit::JobsPerMinute,
        direction: Direction::Higher,
        value: jobs_per_min,
    }],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Names)),
};

/// Creats of one AIM job.
const CREATS_PER_JOB: u32 = 1000;

fn jobs_per_min(window: &Tally) -> Option<f64> {
    let minutes = window.dt_ns as f64 / 60e9;
    Some(window.word(0) as f64 / f64::from(CREATS_PER_JOB) / minutes)
}

struct Names;

impl Prepared for Names {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let name = CString::new(format!("tmpb.{task}")).expect("the name has no NUL byte");
        Ok(Box::new(Creating { name }))
    }
}

struct Creating {
    name: CString,
}

impl Task for Creating {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: the name lives as long as the task.
        Err(unsafe { turn(self.name.as_ptr(), ticks) })
    }
}

/// # Safety
/// `name` is a NUL-terminated string that outlives the call.
#[inline(never)]
unsafe fn turn(name: *const libc::c_char, ticks: &Ticks) -> Fault {
    loop {
        for _ in 0..CREATS_PER_JOB {
            // SAFETY: name is valid by contract; the descriptor is this loop's own.
            let closed = unsafe {
                check("creat", libc::creat(name, 0o777))
                    .and_then(|fd| check("close", libc::close(fd)))
            };
            if let Err(fault) = closed {
                return fault;
            }
            ticks.tick();
        }
        // SAFETY: name is valid by contract.
        if unsafe { libc::unlink(name) } < 0 {
            return Fault::errno("unlink");
        }
    }
}
