//! What a caller asks for: one point, everything that decides it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Most tasks of a point on any machine.
pub const MAX_TASKS: u32 = 4096;

/// Process or thread tasks, as in will-it-scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One forked process a task.
    Process,
    /// One thread a task, all in one process.
    Thread,
}

impl Mode {
    /// What most workloads run in.
    pub const BOTH: &'static [Mode] = &[Mode::Process, Mode::Thread];

    /// The value of the parameter `mode`.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Process => "process",
            Mode::Thread => "thread",
        }
    }
}

/// Where tasks run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// One task a physical core, package-major; its mask is all hardware threads of the core.
    Core,
    /// One task a physical core as [`Placement::Core`], packages, NUMA nodes and last-level caches
    /// in turn.
    Spread,
    /// One task a hardware thread, siblings adjacent.
    Pu,
    /// Wherever the scheduler likes.
    None,
    /// Task *i* on CPU `list[i % len]`.
    List(Vec<u32>),
}

impl fmt::Display for Placement {
    /// The value of the parameter `placement`: `core`, `spread`, `pu`, `none` or `list:0,2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Core => f.write_str("core"),
            Placement::Spread => f.write_str("spread"),
            Placement::Pu => f.write_str("pu"),
            Placement::None => f.write_str("none"),
            Placement::List(cpus) => {
                let words: Vec<String> = cpus.iter().map(u32::to_string).collect();
                write!(f, "list:{}", words.join(","))
            }
        }
    }
}

/// Everything that decides one point.
#[derive(Debug, Clone)]
pub struct PointPlan {
    /// Workload id, e.g. `file/open`.
    pub workload: String,
    /// Parameters given; the workload's defaults fill the rest. Without `mode` and `placement`.
    pub parameters: BTreeMap<String, String>,
    /// Process or thread.
    pub mode: Mode,
    /// Number of tasks, 1 to [`MAX_TASKS`].
    pub tasks: u32,
    /// Where they run.
    pub placement: Placement,
    /// Windows thrown away first.
    pub warmup_windows: u32,
    /// Windows measured.
    pub windows: u32,
    /// Length of a window, 1 ms to 1 h.
    pub window: Duration,
    /// Directory on the file system under test; a fresh folder is made in it and removed.
    pub dir: PathBuf,
}

impl PointPlan {
    /// Checks the numbers of the plan.
    ///
    /// # Errors
    /// Names the field, its value and the limit.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            (1..=MAX_TASKS).contains(&self.tasks),
            "tasks: {} is not in 1..={MAX_TASKS}",
            self.tasks
        );
        let most = wire::limits::WINDOWS as u32;
        anyhow::ensure!(
            (1..=most).contains(&self.windows) && self.warmup_windows <= most,
            "windows: {} (and {} to warm up) is not in 1..={most}",
            self.windows,
            self.warmup_windows
        );
        anyhow::ensure!(
            (Duration::from_millis(1)..=Duration::from_secs(3600)).contains(&self.window),
            "window: {:?} is not between 1 ms and 1 h",
            self.window
        );
        Ok(())
    }
}
