//! `calibrate`: this machine's noise floors, by comparing what is the same.

use super::machine::put_back_left_over;
use super::run::{Points, Usual, progress_of};
use super::{print, tell};
use crate::agent::StateDir;
use crate::clock;
use crate::compare::floors::{Floor, Floors};
use crate::exit::{Ended, Exit};
use crate::harness::Manner;
use crate::machine;
use crate::run::calibrate::floors;
use crate::run::measure::{self, Pairs, Task};

/// Measure how much two sides that are the same seem to differ, and keep it as the noise floor
///
/// `run --base … --head …` and `compare` call no change smaller than the floor of this machine,
/// workload and metric. Calibrate again after a change of kernel or hardware.
#[derive(clap::Args)]
pub struct Args {
    /// Ids as `list` shows them
    #[arg(value_name = "WORKLOAD", required = true)]
    workloads: Vec<String>,
    #[command(flatten)]
    points: Points,
    /// Pairs measured; 3 at least
    #[arg(long, default_value_t = 10, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=1000))]
    pairs: u32,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let suite = args.points.suite(&args.workloads, &Usual::ALONE)?;
    let state = StateDir::locate()?;
    put_back_left_over(&state)?;
    let mut known = Floors::load(state.path()?, clock::now())?;
    let machine = machine::machine(state.path()?)?;
    let task = Task { plans: suite.points()?, manner: Manner::default() };
    let pairs = Pairs { least: args.pairs, until: None };
    let mut progress = progress_of(&task.plans, 2 * args.pairs as usize, args.quiet);
    let paired = measure::two_sides(&task, &task, pairs, args.points.seed, &mut progress)?;
    progress.finish();
    let found = floors(&paired);
    if found.is_empty() {
        return Err(Ended::with(Exit::MeasurementFailed, "no point was measured in three pairs"));
    }
    for ((workload, metric), relative) in found {
        print(&format!("{workload}  {metric}  ±{:.2} %\n", relative * 100.0))?;
        known.put(Floor {
            machine: machine.id.clone(),
            workload,
            metric,
            relative,
            pairs: args.pairs,
            measured_at: clock::now(),
        });
    }
    known.store(state.path()?)?;
    tell(&format!("kept in {}", state.place().display()));
    Ok(Exit::Done)
}
