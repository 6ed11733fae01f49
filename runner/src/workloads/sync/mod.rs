//! Locks in user memory and the system call beneath them. What tasks share here they share as
//! threads only: a process has its own copy, so its locks are never contended.

mod futex;
mod mutex;
mod sem;

pub(super) use futex::WORKLOAD as FUTEX;
pub(super) use mutex::WORKLOAD as MUTEX;
pub(super) use sem::WORKLOAD as SEM;
