//! Runs every workload for a moment, at every word of each parameter, in each of its modes, and
//! verifies it: it counts, its own checks hold, its metrics are sound, its folder is empty afterwards.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use wire::{Measured, Outcome, Source};

use super::all;
use crate::harness::{self, Allowed, Fault, Mode, Placement, PointPlan, Workload};

/// One setting that was tried.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Workload id.
    pub workload: &'static str,
    /// Parameters, `mode` and `placement` included.
    pub parameters: BTreeMap<String, String>,
    /// Number of tasks.
    pub tasks: u32,
    /// What is wrong; none when all is well.
    pub problem: Option<String>,
    /// Why this setting cannot be had here, for want of a privilege or facility; that is no problem.
    pub unavailable: Option<String>,
}

/// Checks every workload, with its files in a fresh folder in `dir`. `on_point` hears of each
/// setting as it is done.
///
/// # Errors
/// When there can be no folder in `dir`; everything else is a [`Checked::problem`].
pub fn check(dir: &Path, on_point: &mut dyn FnMut(&Checked)) -> anyhow::Result<Vec<Checked>> {
    let folder = tempfile::Builder::new()
        .prefix("scalewatch-check-")
        .tempdir_in(dir)
        .with_context(|| format!("cannot make a folder in {}", dir.display()))?;
    let mut all_checked = vec![];
    for workload in all() {
        for parameters in settings(workload) {
            let shapes = [(Mode::Process, 1), (Mode::Process, 2), (Mode::Thread, 2)];
            for (mode, tasks) in shapes.into_iter().filter(|s| workload.modes.contains(&s.0)) {
                let plan = plan(workload, parameters.clone(), mode, tasks, folder.path());
                let checked = one(workload, &plan)?;
                on_point(&checked);
                all_checked.push(checked);
            }
        }
    }
    Ok(all_checked)
}

/// What makes a load of fixed work a short one: few jobs, small files.
const SHORT_LOAD: [(&str, &str); 2] = [("jobs", "2"), ("pool_kib", "0")];

/// The defaults, then each other word of each parameter in turn; a load of fixed work is a short
/// one.
fn settings(workload: &Workload) -> Vec<BTreeMap<String, String>> {
    let mut settings = vec![BTreeMap::new()];
    for parameter in workload.parameters {
        if let Allowed::OneOf(words) = parameter.allowed {
            let others = words.iter().filter(|word| **word != parameter.default);
            settings.extend(
                others.map(|word| BTreeMap::from([(parameter.name.into(), (*word).into())])),
            );
        }
    }
    for (name, value) in SHORT_LOAD {
        if workload.parameters.iter().any(|parameter| parameter.name == name) {
            settings.iter_mut().for_each(|setting| drop(setting.insert(name.into(), value.into())));
        }
    }
    settings
}

fn plan(
    workload: &Workload,
    parameters: BTreeMap<String, String>,
    mode: Mode,
    tasks: u32,
    dir: &Path,
) -> PointPlan {
    PointPlan {
        workload: workload.id.into(),
        parameters,
        mode,
        tasks,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: 2,
        window: WINDOWS[0],
        dir: dir.into(),
    }
}

/// Lengths of a window to try until one counts something: a busy disk may hold a call for seconds.
const WINDOWS: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(400), Duration::from_secs(8)];

fn one(workload: &'static Workload, plan: &PointPlan) -> anyhow::Result<Checked> {
    let (mut problem, mut unavailable, mut parameters) = (None, None, BTreeMap::new());
    for window in WINDOWS {
        let mut heard = 0;
        let plan = PointPlan { window, ..plan.clone() };
        let point = harness::measure(&plan, &mut |_, _| heard += 1)?;
        parameters = point.parameters;
        problem = match &point.outcome {
            Outcome::Failed(failure) if failure.call == Fault::UNAVAILABLE => {
                unavailable = Some(failure.detail.clone());
                None
            }
            Outcome::Failed(failure) => Some(format!("{}: {}", failure.call, failure.detail)),
            Outcome::Measured(measured) if is_idle(measured) => {
                Some(format!("it counted nothing, or received no CPU time, in {window:?}"))
            }
            Outcome::Measured(measured) => verify(measured, &plan, heard),
        };
        if !matches!(&point.outcome, Outcome::Measured(measured) if is_idle(measured)) {
            break;
        }
    }
    let left = std::fs::read_dir(&plan.dir)?.next().is_some();
    let problem = problem.or_else(|| left.then(|| "it left files behind".into()));
    let (workload, tasks) = (workload.id, plan.tasks);
    Ok(Checked { workload, parameters, tasks, problem, unavailable })
}

/// Whether no task counted anything or received any CPU time.
fn is_idle(measured: &Measured) -> bool {
    let sum = |part: fn(&wire::Window) -> &Vec<u64>| -> u64 {
        measured.windows.iter().flat_map(part).sum()
    };
    sum(|w| &w.ops) == 0 || sum(|w| &w.cpu_ns) == 0
}

fn verify(measured: &Measured, plan: &PointPlan, heard: u32) -> Option<String> {
    if measured.windows.len() != plan.windows as usize {
        return Some(format!("{} windows instead of {}", measured.windows.len(), plan.windows));
    }
    if heard != plan.windows + plan.warmup_windows {
        return Some(format!("{heard} windows were told of"));
    }
    let finite = |source: &Source| match source {
        Source::Values(values) => values.iter().all(|v| v.is_finite() && *v >= 0.0),
        _ => true,
    };
    let bad = measured.metrics.iter().find(|m| !finite(&m.source));
    bad.map(|m| format!("{} has a value that is no size", m.name))
}
