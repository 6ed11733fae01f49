//! The floor of a system call: `getppid`, which no C library caches.

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "sys/getppid",
    version: 1,
    description: "getppid",
    operation: "one getppid()",
    stresses: "entry to and exit from the kernel",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Getppid)),
};

struct Getppid;

impl Prepared for Getppid {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Getppid))
    }
}

impl Task for Getppid {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: getppid has no arguments and cannot fail.
        Err(turn(unsafe { libc::getppid() }, ticks))
    }
}

#[inline(never)]
fn turn(parent: libc::pid_t, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: getppid has no arguments and cannot fail.
        if unsafe { libc::getppid() } != parent {
            return Fault::wrong("getppid", "the parent changed");
        }
        ticks.tick();
    }
}
