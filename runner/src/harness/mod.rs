//! One point, measured in a child process: ticks in, windows out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Process or thread tasks, as in will-it-scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One forked process a task.
    Process,
    /// One thread a task, all in one process.
    Thread,
}

/// Where tasks run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// One task a physical core, package-major; its mask is all hardware threads of the core.
    Core,
    /// One task a hardware thread, siblings adjacent.
    Pu,
    /// Wherever the scheduler likes.
    None,
    /// Task *i* on CPU `list[i % len]`.
    List(Vec<u32>),
}

/// Everything that decides one point.
#[derive(Debug, Clone)]
pub struct PointPlan {
    /// Workload id, e.g. `file/open`.
    pub workload: String,
    /// Parameters given; the workload's defaults fill the rest. Without `mode`.
    pub parameters: BTreeMap<String, String>,
    /// Process or thread.
    pub mode: Mode,
    /// Number of tasks.
    pub tasks: u32,
    /// Where they run.
    pub placement: Placement,
    /// Windows thrown away first.
    pub warmup_windows: u32,
    /// Windows measured.
    pub windows: u32,
    /// Length of a window.
    pub window: Duration,
    /// Directory on the file system under test; a fresh folder is made in it and removed.
    pub dir: PathBuf,
}

/// Measures one point in a child process. Failure is data: a task that fails, a child that dies and
/// a time-out all come back as [`wire::Outcome::Failed`] inside the point. `on_window` is called in
/// the parent after each window with (windows done, warm-up included; ops per second of it).
///
/// # Errors
/// Only what makes the plan impossible to start: an unknown workload or parameter.
pub fn measure(
    plan: &PointPlan,
    on_window: &mut dyn FnMut(u32, f64),
) -> anyhow::Result<wire::Point> {
    let _ = (plan, on_window);
    anyhow::bail!("not built yet")
}
