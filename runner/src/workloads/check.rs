//! Runs every workload for a moment, at every word of each parameter, in each of its modes, and
//! verifies it: every task counts, its own checks hold, its metrics are sound, its folder is gone
//! afterwards, and all of it within a limit of time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use wire::{Measured, Outcome, Source};

use super::all;
use crate::harness::{self, Allowed, Fault, Manner, Mode, Placement, PointPlan, Workload};

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
    /// How long it took.
    pub took: Duration,
}

/// What [`check`] tells as it goes.
#[derive(Debug)]
pub enum Step<'a> {
    /// This setting is being tried, the nth of so many.
    Begins {
        /// What is tried.
        plan: &'a PointPlan,
        /// From 1.
        nth: usize,
        /// How many there are.
        of: usize,
    },
    /// It is done.
    Ended(&'a Checked),
}

/// Checks every workload whose id contains `part`, with its files in a fresh folder in `dir`. A
/// setting that is not through after `limit` is a problem, and the next one is tried.
///
/// # Errors
/// When there can be no folder in `dir`, or no such workload; everything else is a
/// [`Checked::problem`].
pub fn check(
    dir: &Path,
    part: &str,
    limit: Duration,
    tell: &mut dyn FnMut(&Step<'_>),
) -> anyhow::Result<Vec<Checked>> {
    let folder = tempfile::Builder::new()
        .prefix("scalewatch-check-")
        .tempdir_in(dir)
        .with_context(|| format!("cannot make a folder in {}", dir.display()))?;
    let plans: Vec<(&Workload, PointPlan)> = all()
        .iter()
        .filter(|workload| workload.id.contains(part))
        .flat_map(|workload| plans(workload, folder.path()).map(|plan| (*workload, plan)))
        .collect();
    ensure!(!plans.is_empty(), "no workload's id contains {part:?}: see `list`");
    let mut all_checked = vec![];
    for (i, (workload, plan)) in plans.iter().enumerate() {
        tell(&Step::Begins { plan, nth: i + 1, of: plans.len() });
        let checked = one(workload, plan, limit)?;
        tell(&Step::Ended(&checked));
        all_checked.push(checked);
    }
    Ok(all_checked)
}

/// Sizes that make a check short, by the beginning of an id: little is set up, little to be undone.
/// What is freed counts most: a file system may discard each extent on its device, one by one, and
/// no signal ends that.
const SMALL: [(&str, &str, &str); 9] = [
    ("aim/", "jobs", "2"),
    ("aim/", "pool_kib", "0"),
    ("fallocate/falloc-fill", "files", "4"),
    ("fallocate/falloc-fill", "total", "65536"),
    ("fallocate/", "file", "131072"),
    ("fs/copy", "blocks", "64"),
    ("mm/", "mib", "4"),
    ("model/stream-goal", "groups", "64"),
    ("orphan/truncate-bytes", "size", "256"),
];

/// Most combinations of words that are all tried.
const COMBINATIONS: usize = 12;

/// Every combination of the parameters' words where they are few; else the defaults and each other
/// word in turn. Sizes are small.
fn settings(workload: &Workload) -> Vec<BTreeMap<String, String>> {
    let words = workload.parameters.iter().filter_map(|parameter| match parameter.allowed {
        Allowed::OneOf(words) => Some((parameter, words)),
        _ => None,
    });
    let combinations: usize = words.clone().map(|(_, words)| words.len()).product();
    let mut settings = vec![BTreeMap::new()];
    for (parameter, words) in words {
        let others = words.iter().filter(|word| **word != parameter.default);
        let begun =
            if combinations <= COMBINATIONS { settings.clone() } else { settings[..1].into() };
        settings.extend(others.flat_map(|word| {
            begun.iter().cloned().map(|mut setting: BTreeMap<String, String>| {
                setting.insert(parameter.name.into(), (*word).into());
                setting
            })
        }));
    }
    for (_, name, value) in SMALL.iter().filter(|(id, ..)| workload.id.starts_with(id)) {
        if workload.parameters.iter().any(|parameter| parameter.name == *name) {
            let set =
                |setting: &mut BTreeMap<_, _>| setting.insert((*name).into(), (*value).into());
            settings.iter_mut().for_each(|setting| drop(set(setting)));
        }
    }
    settings
}

fn plans(workload: &Workload, dir: &Path) -> impl Iterator<Item = PointPlan> {
    let shapes = [(Mode::Process, 1), (Mode::Process, 2), (Mode::Thread, 2)];
    let shapes = shapes.into_iter().filter(|shape| workload.modes.contains(&shape.0));
    let shapes: Vec<(Mode, u32)> = shapes.collect();
    settings(workload).into_iter().flat_map(move |parameters| {
        let plan = |&(mode, tasks): &(Mode, u32)| PointPlan {
            workload: workload.id.into(),
            parameters: parameters.clone(),
            mode,
            tasks,
            placement: Placement::Core,
            warmup_windows: 1,
            windows: 2,
            window: WINDOWS[0],
            dir: dir.into(),
        };
        shapes.iter().map(plan).collect::<Vec<_>>()
    })
}

/// Lengths of a window to try until every task counts something: a busy disk may hold a call for
/// seconds.
const WINDOWS: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(400), Duration::from_secs(8)];

fn one(workload: &Workload, plan: &PointPlan, limit: Duration) -> anyhow::Result<Checked> {
    let began = Instant::now();
    let there_before = names_in(&plan.dir)?;
    let (mut problem, mut unavailable, mut parameters) = (None, None, BTreeMap::new());
    for window in WINDOWS {
        let mut heard = 0;
        let plan = PointPlan { window, ..plan.clone() };
        let manner =
            Manner { limit: Some(limit.saturating_sub(began.elapsed())), ..Manner::default() };
        let point = harness::measure_as(&plan, &manner, &mut |_, _| heard += 1)?;
        parameters = point.parameters;
        let mut is_idle = false;
        problem = match &point.outcome {
            Outcome::Failed(failure) if failure.call == Fault::UNAVAILABLE => {
                unavailable = Some(failure.detail.clone());
                None
            }
            Outcome::Failed(failure) if began.elapsed() >= limit => {
                Some(format!("{}: not through after {limit:?} in all", failure.call))
            }
            Outcome::Failed(failure) => Some(format!("{}: {}", failure.call, failure.detail)),
            Outcome::Measured(measured) if has_idle_task(measured) => {
                is_idle = true;
                Some(format!("a task counted nothing, or received no CPU time, in {window:?}"))
            }
            Outcome::Measured(measured) => verify(measured, &plan, heard),
            Outcome::Imported(_) => Some("it brought values and no windows".into()),
        };
        if !is_idle {
            break;
        }
    }
    let left: Vec<_> = names_in(&plan.dir)?.difference(&there_before).cloned().collect();
    let problem =
        problem.or_else(|| (!left.is_empty()).then(|| format!("it left {left:?} behind")));
    let (workload, tasks, took) = (workload.id, plan.tasks, began.elapsed());
    Ok(Checked { workload, parameters, tasks, problem, unavailable, took })
}

fn names_in(dir: &Path) -> anyhow::Result<BTreeSet<OsString>> {
    let names = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name()));
    names.collect()
}

/// Whether some task counted nothing or received no CPU time in all windows together.
fn has_idle_task(measured: &Measured) -> bool {
    let idle = |part: fn(&wire::Window) -> &Vec<u64>| {
        let tasks = measured.windows.first().map_or(0, |window| part(window).len());
        (0..tasks).any(|task| measured.windows.iter().all(|window| part(window)[task] == 0))
    };
    idle(|window| &window.ops) || idle(|window| &window.cpu_ns)
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
