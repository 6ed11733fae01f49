//! Sending a signal to oneself, handling it and returning from the handler.

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check};

pub(super) const WORKLOAD: Workload = Workload {
    id: "signal/raise",
    version: 1,
    description: "raise a signal and handle it",
    operation: "one raise(SIGUSR1), handled by a function that does nothing",
    stresses: "signal lock (one for all threads of a process), signal frame, sigreturn",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

struct Handled;

extern "C" fn do_nothing(_signal: libc::c_int) {}

fn prepare(_: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    // SAFETY: all-zero is a valid sigaction; the handler may run at any moment, as it does nothing.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut())
    };
    check("sigaction", installed)?;
    Ok(Box::new(Handled))
}

impl Prepared for Handled {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Handled))
    }
}

impl Task for Handled {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(ticks))
    }
}

#[inline(never)]
fn turn(ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: the signal is handled.
        if unsafe { libc::raise(libc::SIGUSR1) } != 0 {
            return Fault::errno("raise");
        }
        ticks.tick();
    }
}
