//! A task's partner: a second process or thread that the task's loop talks to.
//!
//! How it works: (1) a task starts its partner in its set-up, from where it was placed, so that the
//! partner inherits the CPUs; (2) the partner is a process where tasks are processes, else a thread;
//! (3) its CPU time and its switches count as the task's; (4) its process dies with its task, by
//! the kernel, its thread ends with the child.

use std::sync::atomic::{AtomicI32, Ordering};

use super::fault::{Attempt, Fault, check};
use super::plan::Mode;
use super::shared::{Control, shared_slice};
use super::sys;

/// Starts the partners of a point's tasks and knows them.
#[derive(Clone, Copy)]
pub struct Partners {
    mode: Mode,
    control: &'static Control,
    /// Process or thread id of each task's partner; 0 where there is none.
    ids: &'static [AtomicI32],
}

impl Partners {
    pub(crate) fn new(mode: Mode, tasks: u32, control: &'static Control) -> Attempt<Partners> {
        Ok(Partners { mode, control, ids: shared_slice(tasks as usize)? })
    }

    /// Starts the partner of `task`, called by the task in its set-up, at most once. `body` runs
    /// until the partner is ended from outside; what it answers is the task's fault.
    ///
    /// # Errors
    /// The errno of fork or of the thread's creation.
    pub fn start(self, task: u32, body: impl FnOnce() -> Fault + Send + 'static) -> Attempt<()> {
        match self.mode {
            Mode::Process => self.fork(task, body),
            Mode::Thread => {
                let (told, hear) = std::sync::mpsc::channel();
                let live = move || {
                    // SAFETY: gettid has no arguments and cannot fail.
                    let _ = told.send(unsafe { libc::gettid() });
                    self.control.report(task, &body());
                };
                std::thread::Builder::new().spawn(live).map_err(|e| Fault::io("clone", &e))?;
                let id = hear.recv().map_err(|_| Fault::wrong("clone", "the partner is gone"))?;
                self.ids[task as usize].store(id, Ordering::Release);
                Ok(())
            }
        }
    }

    fn fork(self, task: u32, body: impl FnOnce() -> Fault) -> Attempt<()> {
        // SAFETY: getpid cannot fail.
        let own = unsafe { libc::getpid() };
        // SAFETY: a task process has one thread, so the copy may use all of its memory.
        let pid = check("fork", unsafe { libc::fork() })?;
        if pid == 0 {
            // SAFETY: prctl with constants; getppid cannot fail.
            let orphaned = unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::getppid() != own
            };
            if !orphaned {
                self.control.report(task, &body());
            }
            // SAFETY: ends the partner only.
            unsafe { libc::_exit(1) }
        }
        self.ids[task as usize].store(pid, Ordering::Release);
        Ok(())
    }

    /// CPU clock and thread id of the partner of `task`.
    pub(crate) fn clock(self, task: u32) -> Attempt<Option<(libc::clockid_t, libc::pid_t)>> {
        match (self.ids[task as usize].load(Ordering::Acquire), self.mode) {
            (0, _) => Ok(None),
            (pid, Mode::Process) => Ok(Some((sys::process_clock(pid)?, pid))),
            (tid, Mode::Thread) => Ok(Some((sys::thread_clock(tid), tid))),
        }
    }

    /// Waits for partner processes to be gone. Called after their tasks have been reaped: the kernel
    /// then kills them, and the sampler, which is the reaper of its descendants, is their parent.
    pub(crate) fn reap(self) {
        if self.mode == Mode::Process {
            let ids = self.ids.iter().map(|id| id.load(Ordering::Acquire));
            ids.filter(|id| *id != 0).for_each(sys::reap);
        }
    }
}
