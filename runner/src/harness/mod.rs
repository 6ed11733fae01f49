//! One point, measured in a child process: ticks in, windows out.
//!
//! [`measure`] checks the plan, makes a scratch folder and starts the child; the child forks or
//! spawns the tasks, opens the gate, reads counters and CPU clocks at the edges of each window and
//! writes the outcome to its standard output. Whatever happens in it, the caller gets a point.

mod again;
mod around;
pub mod atomic;
mod child;
mod disturbance;
mod evidence;
mod fault;
mod futex;
mod gate;
mod job;
mod manner;
mod memory;
mod message;
mod outbox;
mod pace;
mod parent;
mod partner;
mod place;
mod plan;
mod precedence;
mod rounds;
mod sampler;
mod scratch;
mod shared;
mod spawn;
mod spin;
mod stay;
pub(crate) mod sys;
mod tally;
mod tend;
mod timed;
mod watch;
mod window;
mod workload;

pub use again::{AGAIN_ARGUMENT, again_main, start_over};
pub use child::{CHILD_ARGUMENT, child_main};
pub(crate) use disturbance::{CpuTime, cpu_time};
pub use fault::{Attempt, Fault, check};
pub use futex::Lock;
pub use manner::{Manner, Until, half_width};
pub use memory::{Held, need_memory, need_space};
pub use parent::{
    Recorded, measure, measure_and_profile, measure_as, path_of, set_child_executable,
};
pub use partner::Partners;
pub use place::cpus_of_tasks;
pub use plan::{MAX_TASKS, Mode, Placement, PointPlan};
pub use shared::{Shared, Ticks, shared_slice};
pub use spin::{SpinLock, Work};
pub use sys::{
    allow_open_files, allowed_cpus, kill, monotonic_ns, page_size, possible_cpus, sync_disks,
    thread_cpu_ns,
};
pub use tally::{Histogram, SideMetric, Tally, at_end};
pub use workload::{Allowed, Parameter, Prepared, Setup, Task, Values, Workload};
