//! The plan as it goes to the child: checked, complete, with nothing left to decide.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::manner::{Manner, Until};
use super::plan::{Mode, PointPlan};
use super::workload::{Values, Workload};
use crate::machine::Topology;

/// One point for the child.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub workload: String,
    pub values: Values,
    pub mode: Mode,
    pub tasks: u32,
    /// CPUs of each task; empty when tasks are not placed.
    pub placement: Vec<Vec<u32>>,
    pub warmup_windows: u32,
    pub windows: u32,
    pub window_ns: u64,
    /// Whether the child's working directory is its own scratch folder.
    pub in_scratch: bool,
    /// Most disturbed windows that are measured again.
    #[serde(default)]
    pub remeasure: u32,
    /// When there are enough windows; none: at `windows`.
    #[serde(default)]
    pub until: Option<Until>,
    /// Where and how long to record a profile, where one is wanted.
    #[serde(default)]
    pub profile: Option<Recording>,
    /// Process id of the parent; the child ends when it is no longer its parent.
    pub parent: u32,
}

/// A profile to be recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Recording {
    pub length_ns: u64,
    /// A way to the file, which has no name of its own.
    pub file: PathBuf,
}

impl Job {
    /// Checks the plan against the workload and this machine.
    ///
    /// # Errors
    /// Names the field of the plan, its value and what is allowed.
    pub fn new(plan: &PointPlan, manner: &Manner, workload: &Workload) -> anyhow::Result<Job> {
        plan.check()?;
        workload.check_mode(plan.mode)?;
        let topology = Topology::of_this_machine();
        Ok(Job {
            workload: workload.id.into(),
            values: workload.resolve(&plan.parameters)?,
            mode: plan.mode,
            tasks: plan.tasks,
            placement: super::place::cpus_of_tasks(&topology, &plan.placement, plan.tasks)?,
            warmup_windows: plan.warmup_windows,
            windows: plan.windows,
            window_ns: plan.window.as_nanos() as u64,
            in_scratch: workload.needs_directory,
            remeasure: manner.remeasure,
            until: manner.until,
            profile: None,
            parent: std::process::id(),
        })
    }

    /// The scratch folder on the file system under test, for the child.
    pub fn directory(&self) -> Option<&'static Path> {
        self.in_scratch.then(|| Path::new("."))
    }

    /// Length of a window.
    pub fn window(&self) -> Duration {
        Duration::from_nanos(self.window_ns)
    }

    /// The parameters of the point as stored: the workload's, `mode` and `placement`.
    pub fn parameters(&self, plan: &PointPlan) -> BTreeMap<String, String> {
        let mut parameters = self.values.0.clone();
        parameters.insert("mode".into(), self.mode.word().into());
        parameters.insert("placement".into(), plan.placement.to_string());
        parameters
    }
}
