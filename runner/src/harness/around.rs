//! What is read around the measured windows: what else the machine did, and what an operation cost.

use std::collections::BTreeMap;
use std::path::Path;

use wire::{Disturbance, Window};

use super::{disturbance, evidence};

/// Readings around one stretch of windows, or around several that lie apart.
pub(crate) struct Around<'a> {
    threads: &'a [libc::pid_t],
    directory: Option<&'a Path>,
    open: Option<Open>,
    disturbances: Vec<Disturbance>,
    counts: Vec<evidence::Counts>,
}

/// A stretch that has begun.
struct Open {
    disturbance: disturbance::Reading,
    evidence: evidence::Reading,
    /// CPU time of the tasks in it.
    tasks_ns: u64,
}

impl<'a> Around<'a> {
    /// Of these tasks; `directory` lies on the file system under test, where the workload has one.
    pub fn new(threads: &'a [libc::pid_t], directory: Option<&'a Path>) -> Around<'a> {
        Around { threads, directory, open: None, disturbances: vec![], counts: vec![] }
    }

    /// Begins a stretch here, unless one has begun. Says whether it did.
    pub fn open(&mut self) -> bool {
        let begins = self.open.is_none();
        if begins {
            self.open = Some(Open {
                disturbance: disturbance::Reading::now(self.threads),
                evidence: evidence::Reading::now(self.threads, self.directory),
                tasks_ns: 0,
            });
        }
        begins
    }

    /// A window of the stretch.
    pub fn add(&mut self, window: &Window) {
        let tasks_ns: u64 = window.cpu_ns.iter().sum();
        self.open.iter_mut().for_each(|open| open.tasks_ns += tasks_ns);
    }

    /// Ends the stretch here.
    pub fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let now = disturbance::Reading::now(self.threads);
        self.disturbances.push(now.since(&open.disturbance, open.tasks_ns));
        let now = evidence::Reading::now(self.threads, self.directory);
        self.counts.push(now.since(&open.evidence));
    }

    /// What else happened in all stretches.
    pub fn disturbance(&self) -> Disturbance {
        Disturbance::of_all(&self.disturbances)
    }

    /// What was counted in them, for each of `ops` operations.
    pub fn counters(&self, ops: u64) -> BTreeMap<String, f64> {
        evidence::told(&self.counts, ops)
    }
}
