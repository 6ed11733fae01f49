//! Who goes first on a CPU that many want: the sampler before the tasks it measures.
//!
//! Among thousands of busy tasks the sampler would wait for its turn at every edge of a window, and
//! a child told to end could not. It asks for the lowest real-time priority, else for the best nice
//! value; what it is given ends with it and is not inherited by its tasks.

use super::fault::{Attempt, check};

/// How the sampler gets its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precedence {
    /// It has a priority above the tasks'.
    Sampler,
    /// The system permits it none: where tasks outnumber the CPUs, they step back instead.
    None,
}

/// Lets the calling thread, and no thread or process made by it, go before others.
pub(crate) fn take() -> Precedence {
    let real_time = schedule(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1);
    let plain = |_| schedule(0, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
    match real_time.or_else(|fault| plain(fault).and_then(|()| best_nice())) {
        Ok(()) => Precedence::Sampler,
        Err(_) => Precedence::None,
    }
}

fn best_nice() -> Attempt<()> {
    // SAFETY: a plain system call on the calling thread.
    check("setpriority", unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) }).map(drop)
}

/// Makes a task give way to everything else; any user may, and it costs a lone task nothing.
pub(crate) fn step_back() {
    // SAFETY: a plain system call on the calling thread; a refusal changes nothing.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
}

/// Leaves a thread of this process only the CPU time that nobody else wants.
pub(crate) fn leave_idle_time(thread: libc::pid_t) {
    let _ = schedule(thread, libc::SCHED_IDLE, 0);
}

/// The system call itself: some C libraries offer the function and refuse it.
fn schedule(thread: libc::pid_t, policy: libc::c_int, priority: libc::c_int) -> Attempt<()> {
    // SAFETY: all-zero is a valid sched_param, and it lives for the call.
    let done = unsafe {
        let mut parameter: libc::sched_param = std::mem::zeroed();
        parameter.sched_priority = priority;
        libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const parameter)
    };
    check("sched_setscheduler", done as i32).map(drop)
}
