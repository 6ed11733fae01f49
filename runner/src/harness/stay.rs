//! Whether tasks still may run where they were placed: a CPU that goes offline, a cpuset that
//! shrinks and a `taskset` from outside all move them, and what they do elsewhere is another point.

use super::fault::{Attempt, Fault};
use super::sys;
use crate::machine::cpu_list;

/// Where each thread may run.
pub(crate) struct Places(Vec<(libc::pid_t, Vec<u32>)>);

impl Places {
    /// Where the threads may run now; of one that is gone nothing is known.
    pub fn of(threads: &[libc::pid_t]) -> Places {
        let place = |&thread: &libc::pid_t| Some((thread, sys::allowed_cpus_of(thread).ok()?));
        Places(threads.iter().filter_map(place).collect())
    }

    /// Whether they still may run there and nowhere else.
    ///
    /// # Errors
    /// The first task that was moved, from where and where to.
    pub fn check(&self) -> Attempt<()> {
        for (task, (thread, then)) in self.0.iter().enumerate() {
            let Ok(now) = sys::allowed_cpus_of(*thread) else { continue };
            if now != *then {
                let (then, now) = (cpu_list(then), cpu_list(&now));
                let detail = format!("task {task} was moved from CPUs {then} to {now}");
                return Err(Fault::wrong("placement", detail));
            }
        }
        Ok(())
    }
}
