//! A POSIX semaphore of the task's own, taken and given back: two atomics, no system call.

use std::cell::UnsafeCell;

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "sync/sem",
    version: 1,
    description: "take and give back a semaphore",
    operation: "one sem_wait and sem_post",
    stresses: "user-space atomics alone",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Semaphore)),
};

struct Semaphore;

impl Prepared for Semaphore {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Semaphore))
    }
}

impl Task for Semaphore {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: all-zero bytes are room for a semaphore, which sem_init then makes one.
        let semaphore = UnsafeCell::new(unsafe { std::mem::zeroed::<libc::sem_t>() });
        // SAFETY: room for one semaphore that does not move.
        check("sem_init", unsafe { libc::sem_init(semaphore.get(), 0, 1) })?;
        // SAFETY: initialised just now; it lives until the loop ends.
        Err(unsafe { turn(semaphore.get(), ticks) })
    }
}

/// # Safety
/// An initialised semaphore that outlives the call.
#[inline(never)]
unsafe fn turn(semaphore: *mut libc::sem_t, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: by contract.
        let taken = unsafe {
            check("sem_wait", libc::sem_wait(semaphore))
                .and_then(|_| check("sem_post", libc::sem_post(semaphore)))
        };
        if let Err(fault) = taken {
            return fault;
        }
        ticks.tick();
    }
}
