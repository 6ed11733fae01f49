//! AIM's `creat-clo`, by time and as fixed work: creates over one existing name, which truncates
//! an empty file each time; on ext4 that is two visits to the orphan list a turn.

use std::ffi::CString;

use wire::{Direction, Unit};

use super::{Desk, JOBS, JOBS_PARAMETER, LOAD_METRICS};
use crate::harness::{
    Attempt, Fault, Mode, Prepared, Setup, SideMetric, Tally, Task, Ticks, Workload, check,
};

pub(in super::super) const WORKLOAD: Workload = Workload {
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
    prepare: |_: &Setup<'_>| Ok(Box::new(Names { jobs: None })),
};

pub(in super::super) const FIXED: Workload = Workload {
    id: "aim/creat-close-fixed",
    description: "a load of jobs, each 1000 creats and closes of one name and an unlink",
    parameters: &[JOBS_PARAMETER],
    metrics: LOAD_METRICS,
    prepare: |setup: &Setup<'_>| Ok(Box::new(Names { jobs: Some(setup.values.whole("jobs")?) })),
    ..WORKLOAD
};

/// Creats of one AIM job.
const CREATS_PER_JOB: u32 = 1000;

fn jobs_per_min(window: &Tally) -> Option<f64> {
    let minutes = window.dt_ns as f64 / 60e9;
    Some(window.word(0) as f64 / f64::from(CREATS_PER_JOB) / minutes)
}

/// The job as one of a mix.
pub(super) fn for_desk(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let name = name(desk.task);
    // SAFETY: the name lives for the call.
    unsafe { job(name.as_ptr(), ticks) }
}

fn name(task: u32) -> CString {
    CString::new(format!("tmpb.{task}")).expect("the name has no NUL byte")
}

struct Names {
    /// Jobs of each task; endless without.
    jobs: Option<u64>,
}

impl Prepared for Names {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Creating { name: name(task), jobs: self.jobs }))
    }

    fn fixed_work(&self) -> bool {
        self.jobs.is_some()
    }
}

struct Creating {
    name: CString,
    jobs: Option<u64>,
}

impl Task for Creating {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        for _ in 0..self.jobs.unwrap_or(u64::MAX) {
            // SAFETY: the name lives as long as the task.
            unsafe { job(self.name.as_ptr(), ticks)? };
            ticks.add(JOBS, 1);
        }
        Ok(())
    }
}

/// # Safety
/// `name` is a NUL-terminated string that outlives the call.
#[inline(never)]
unsafe fn job(name: *const libc::c_char, ticks: &Ticks) -> Attempt<()> {
    for _ in 0..CREATS_PER_JOB {
        // SAFETY: name is valid by contract.
        let fd = check("creat", unsafe { libc::creat(name, 0o777) })?;
        // SAFETY: the descriptor is this loop's own.
        check("close", unsafe { libc::close(fd) })?;
        ticks.tick();
    }
    // SAFETY: name is valid by contract.
    if unsafe { libc::unlink(name) } < 0 {
        return Err(Fault::errno("unlink"));
    }
    Ok(())
}
