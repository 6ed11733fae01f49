//! Who goes first on a CPU that many want: the sampler before the tasks it measures.
//!
//! Among thousands of busy tasks the sampler would wait for its turn at every edge of a window, and
//! a child told to end could not. It asks for the lowest real-time priority, else for the best nice
//! value; what it is given ends with it and is not inherited by its tasks, which keep the nice value
//! that the runner was started with.

use super::fault::{Attempt, check};

/// Nice value of the tasks when they give way to everything else.
const LAST: libc::c_int = 19;

/// Lets the calling thread, and no thread or process made by it, go before others. Returns the nice
/// value the tasks are to have: the caller's, or where the system permits the sampler nothing and
/// the tasks are `crowded`, the last.
pub(crate) fn take(crowded: bool) -> libc::c_int {
    // SAFETY: a plain system call; -1 is a nice value as well, and no failure is possible.
    let callers = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let real_time = schedule(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1);
    let plain = |_| schedule(0, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
    match real_time.or_else(|fault| plain(fault).and_then(|()| nice(-20))) {
        Err(_) if crowded => LAST,
        _ => callers,
    }
}

/// Gives a task its nice value; what is not permitted stays as it is.
pub(crate) fn give_way(value: libc::c_int) {
    let _ = nice(value);
}

fn nice(value: libc::c_int) -> Attempt<()> {
    // SAFETY: a plain system call on the calling thread.
    check("setpriority", unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) }).map(drop)
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
