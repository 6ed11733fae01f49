//! Tasks as forked processes or as threads.
//!
//! How it works: (1) the child is single-threaded when it forks, so a forked task may do anything;
//! (2) each task pins itself first, so that what it touches in its set-up is local to it; (3) it
//! passes the gate and runs its loop; (4) nothing in a loop is ever cancelled: processes are killed
//! and reaped, threads end with the child; (5) a task process dies with the child, by the kernel.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::fault::{Attempt, Fault, check};
use super::partner::Partners;
use super::plan::Mode;
use super::shared::{Areas, Control, Ticks};
use super::workload::Prepared;
use super::{futex, precedence, rounds, sys};

/// More threads a CPU than this hold up their process where all are busy.
const CROWD: usize = 8;

thread_local! {
    /// Which task the calling thread is; none where it is the sampler.
    pub(crate) static TASK: Cell<Option<u32>> = const { Cell::new(None) };
}

/// What every task needs; lives as long as the child.
pub(crate) struct Stage {
    pub control: &'static Control,
    pub areas: Areas,
    pub prepared: Box<dyn Prepared>,
    pub partners: Partners,
    pub placement: Vec<Vec<u32>>,
    /// Nice value of the tasks.
    pub nice: libc::c_int,
}

/// The tasks of a point.
pub(crate) enum Tasks {
    /// Process ids, in task order.
    Processes(Vec<libc::pid_t>),
    /// CPU clocks and thread ids, in task order, known once all are ready.
    Threads(&'static [Mutex<Option<(libc::clockid_t, libc::pid_t)>>]),
}

/// Starts `count` tasks.
///
/// # Errors
/// The errno of fork or of the thread's creation; tasks already started are ended.
pub(crate) fn spawn(stage: &'static Stage, mode: Mode, count: u32) -> Attempt<Tasks> {
    match mode {
        Mode::Process => {
            let mut pids = Vec::with_capacity(count as usize);
            for task in 0..count {
                match fork_task(stage, task) {
                    Ok(pid) => pids.push(pid),
                    Err(fault) => {
                        Tasks::Processes(pids).end();
                        return Err(fault);
                    }
                }
            }
            Ok(Tasks::Processes(pids))
        }
        Mode::Thread => {
            let seats: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
            let seats = &*seats.leak();
            for (task, seat) in (0..count).zip(seats) {
                let body = move || {
                    let clock = sys::own_thread_clock().ok();
                    *seat.lock().expect("nothing panics while it holds a seat") =
                        // SAFETY: gettid has no arguments and cannot fail.
                        clock.map(|clock| (clock, unsafe { libc::gettid() }));
                    act(stage, task);
                    park();
                };
                std::thread::Builder::new().spawn(body).map_err(|e| Fault::io("clone", &e))?;
            }
            Ok(Tasks::Threads(seats))
        }
    }
}

fn fork_task(stage: &'static Stage, task: u32) -> Attempt<libc::pid_t> {
    // SAFETY: the child has one thread, so the copy may use all of its memory.
    let sampler = unsafe { libc::getpid() };
    // SAFETY: as above.
    let pid = check("fork", unsafe { libc::fork() })?;
    if pid == 0 {
        // SAFETY: prctl with constants; getppid cannot fail.
        let orphaned = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::getppid() != sampler
        };
        if !orphaned {
            act(stage, task);
            park();
        }
        // SAFETY: ends this task only, without the sampler's buffers.
        unsafe { libc::_exit(1) }
    }
    Ok(pid)
}

/// The life of one task: pin, set up, pass the gate, run. A fault or a panic is reported.
fn act(stage: &'static Stage, task: u32) {
    TASK.set(Some(task));
    let live = || -> Attempt<()> {
        precedence::give_way(stage.nice);
        if let Some(cpus) = stage.placement.get(task as usize) {
            sys::pin(cpus)?;
        }
        let mut running = stage.prepared.start(task)?;
        if stage.prepared.fixed_work() {
            return rounds::work(stage, task, &mut *running);
        }
        stage.control.pass_gate(&stage.areas, task, 1);
        running.run(&Ticks::new(stage.areas.of(task), stage.control))
    };
    let lived = std::panic::catch_unwind(AssertUnwindSafe(live)).unwrap_or_else(|panic| {
        let words = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
        Err(Fault::wrong("panic", words.unwrap_or_else(|| "the task panicked".into())))
    });
    match lived {
        Ok(()) => {
            stage.control.stopped.fetch_add(1, Ordering::AcqRel);
            futex::wake(&stage.control.stopped, 1);
        }
        Err(fault) => stage.control.report(task, &fault),
    }
}

/// Sleeps until the task is ended from outside; its clocks stay readable.
pub(crate) fn park() -> ! {
    loop {
        // SAFETY: waits for a signal, nothing else.
        unsafe { libc::pause() };
    }
}

impl Tasks {
    /// Number of tasks.
    pub fn count(&self) -> u32 {
        match self {
            Tasks::Processes(pids) => pids.len() as u32,
            Tasks::Threads(seats) => seats.len() as u32,
        }
    }

    /// The processes that the tasks are or run in.
    pub fn processes(&self) -> Vec<libc::pid_t> {
        match self {
            Tasks::Processes(pids) => pids.clone(),
            // SAFETY: getpid cannot fail.
            Tasks::Threads(_) => vec![unsafe { libc::getpid() }],
        }
    }

    /// CPU clock and thread id of each task.
    ///
    /// # Errors
    /// A task without a clock.
    pub fn clocks(&self) -> Attempt<Vec<(libc::clockid_t, libc::pid_t)>> {
        match self {
            Tasks::Processes(pids) => {
                pids.iter().map(|&pid| Ok((sys::process_clock(pid)?, pid))).collect()
            }
            Tasks::Threads(seats) => seats
                .iter()
                .map(|seat| *seat.lock().expect("nothing panics while it holds a seat"))
                .map(|seat| seat.ok_or(Fault::wrong("clock", "a task has no CPU clock")))
                .collect(),
        }
    }

    /// Whether all tasks live and none raised the alarm.
    ///
    /// # Errors
    /// What the first failed task reported, or how a task died.
    pub fn check(&self, control: &Control) -> Attempt<()> {
        if let Tasks::Processes(pids) = self {
            let mut status = 0;
            // SAFETY: status is valid for the call.
            let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            if let Some(task) = pids.iter().position(|&p| p == pid) {
                let how = format!("its process ended, wait status {status:#06x}");
                control.report(task as u32, &Fault::wrong("task", how));
            }
        }
        match control.alarm.load(Ordering::Acquire) {
            0 => Ok(()),
            _ => Err(Fault::wrong("task", "a task raised the alarm")),
        }
    }

    /// Ends all task processes and reaps them. Threads end with the child; until then a crowd of
    /// them is left the CPU time that nobody else wants, so that what was measured reaches the
    /// parent. A few are not: on a busy machine they would wait seconds for the turn to end in.
    pub fn end(&self) {
        let pids = match self {
            Tasks::Processes(pids) => pids,
            Tasks::Threads(seats) => {
                let cpus = sys::allowed_cpus().map_or(1, |cpus| cpus.len());
                if seats.len() > CROWD * cpus {
                    let threads = seats.iter().filter_map(|seat| *seat.lock().ok()?);
                    threads.for_each(|(_, thread)| precedence::leave_idle_time(thread));
                }
                return;
            }
        };
        for &pid in pids {
            // SAFETY: a child of ours that has not been reaped, or no process any more.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        pids.iter().copied().for_each(sys::reap);
    }
}
