//! `run` in will-it-scale's forms: its program's lines, and its script's csv with the title.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, ensure};
use wire::Failure;

use crate::agent::{check_writable, write_atomically};
use crate::exit::{Ended, Exit};
use crate::harness::PointPlan;
use crate::machine::file_system_type;
use crate::run::plan::Suite;
use crate::run::progress::Progress;
use crate::run::{wis, wis_csv};
use crate::workloads::{self, wis as tests};

/// Prints the lines of will-it-scale's program.
pub fn lines(suite: &Suite) -> anyhow::Result<Exit> {
    let plans = suite.points()?;
    let failures = wis::run(&plans, &description, &mut std::io::stdout().lock())?;
    ended(&failures, plans.len())
}

/// Writes the csv of will-it-scale's script into `path` and the description beside it.
pub fn csv(suite: &Suite, path: &Path, quiet: bool) -> anyhow::Result<Exit> {
    let mut processes = suite.points()?;
    ensure!(
        processes.len() == 2 * suite.tasks.len(),
        "--wis-csv takes one workload at one setting of its parameters, in both modes"
    );
    ensure!(
        suite.tasks.first() == Some(&1),
        "tasks: the column \"linear\" follows from the rate of 1 task: begin with 1"
    );
    let title = path.with_extension("title");
    ensure!(title != path, "--wis-csv: {} is where the title goes", path.display());
    check_writable(path)?;
    check_writable(&title)?;
    let threads = processes.split_off(suite.tasks.len());
    let windows: u64 = processes.iter().map(|p| u64::from(p.warmup_windows + p.windows)).sum();
    let points = 2 * suite.tasks.len();
    let words = description(&processes[0]) + "\n";
    write_atomically(&title, words.as_bytes(), 0o644)?;
    let mut file =
        File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let pairs: Vec<(PointPlan, PointPlan)> = processes.into_iter().zip(threads).collect();
    let mut progress = Progress::new(points, 2 * windows, quiet);
    let failures = wis_csv::run(&pairs, &mut file, &mut progress)?;
    progress.finish();
    ended(&failures, points)
}

/// What will-it-scale calls the point; what we call it where it has no such test.
fn description(plan: &PointPlan) -> String {
    let Some(workload) = workloads::find(&plan.workload) else { return String::new() };
    let on_tmpfs = file_system_type(&plan.dir).is_some_and(|kind| kind == "tmpfs");
    let values = workload.resolve(&plan.parameters).unwrap_or_default();
    let test = tests::of_point(workload.id, &values, on_tmpfs);
    test.map_or(workload.description, |test| test.description).to_owned()
}

fn ended(failures: &[Failure], points: usize) -> anyhow::Result<Exit> {
    let words: BTreeSet<String> =
        failures.iter().map(|failure| format!("{}: {}", failure.call, failure.detail)).collect();
    let words = words.into_iter().collect::<Vec<_>>().join("; ");
    match failures.len() {
        0 => Ok(Exit::Done),
        n => Err(Ended::with(
            Exit::MeasurementFailed,
            format!("{n} of {points} points failed: {words}"),
        )),
    }
}
