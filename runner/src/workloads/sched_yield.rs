//! Giving up the CPU: the run queue's lock and the choice of the next task.

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "sched/yield",
    version: 1,
    description: "sched_yield",
    operation: "one sched_yield()",
    stresses: "run queue lock, choice of the next task",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Yield)),
};

struct Yield;

impl Prepared for Yield {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Yield))
    }
}

impl Task for Yield {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(ticks))
    }
}

#[inline(never)]
fn turn(ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: sched_yield has no arguments.
        if unsafe { libc::sched_yield() } != 0 {
            return Fault::errno("sched_yield");
        }
        ticks.tick();
    }
}
