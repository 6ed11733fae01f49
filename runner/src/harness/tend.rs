//! Work beside the tasks: a thread of the sampler calls [`Prepared::tend`] at every period.
//!
//! [`Prepared::tend`]: super::Prepared::tend

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::fault::{Attempt, Fault};
use super::futex;
use super::spawn::Stage;

/// The thread, running.
pub(crate) struct Tending {
    thread: JoinHandle<()>,
}

impl Tending {
    /// Starts it where the workload is to be tended. Task processes must be forked already.
    ///
    /// # Errors
    /// The errno of the thread's creation.
    pub fn start(stage: &'static Stage) -> Attempt<Option<Tending>> {
        let Some(period) = stage.prepared.tended_every() else { return Ok(None) };
        let body = move || {
            while stage.control.stop.load(Ordering::Acquire) == 0 {
                futex::wait(&stage.control.stop, 0, Some(period));
                stage.prepared.tend();
            }
        };
        let thread = std::thread::Builder::new().spawn(body).map_err(|e| Fault::io("clone", &e))?;
        Ok(Some(Tending { thread }))
    }

    /// Waits for its last call. The tasks have been asked to stop before.
    pub fn end(self) {
        // A panic in it shows in what it left undone, which the workload verifies.
        let _ = self.thread.join();
    }
}
