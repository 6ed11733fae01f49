//! `check`: run every workload briefly and verify it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{print, tell, values};
use crate::compare::curves::parameters_in_words;
use crate::exit::{Ended, Exit};
use crate::show::figures::counted;
use crate::workloads::{self, Checked, Step};

/// Run every workload for a moment, in all its variants and both modes, and verify it
///
/// Checks that every task counts, that the workload's own checks hold, that its metrics are sound
/// and that it leaves nothing behind. Says nothing about speed. Files are small.
#[derive(clap::Args)]
pub struct Args {
    /// Only workloads whose id contains this
    #[arg(default_value = "", hide_default_value = true)]
    workload: String,
    /// Directory for the files; a fresh folder is made in it and removed
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Longest time for one setting of a workload; one that is not through by then has failed
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    limit: Duration,
    /// Say only what is wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let bar = bar(args.quiet);
    let all = workloads::check(&args.dir, &args.workload, args.limit, &mut |step| match step {
        Step::Begins { plan, nth, of } => {
            bar.set_length(*of as u64);
            bar.set_position(*nth as u64);
            let name = name(&plan.workload, &plan.parameters, plan.tasks);
            bar.set_message(format!("{name} {}", plan.mode.word()));
        }
        Step::Ended(checked) if checked.problem.is_some() || !args.quiet => {
            bar.suspend(|| tell(&in_words(checked)));
        }
        Step::Ended(_) => {}
    })?;
    bar.finish_and_clear();
    let wrong = all.iter().filter(|checked| checked.problem.is_some()).count();
    if wrong > 0 {
        let words = format!("{wrong} of {} settings do not work here", all.len());
        return Err(Ended::with(Exit::MeasurementFailed, words));
    }
    let missing = all.iter().filter(|checked| checked.unavailable.is_some()).count();
    let works = all.len() - missing;
    let workloads: BTreeSet<&str> = all.iter().map(|checked| checked.workload).collect();
    let of_workloads = counted(workloads.len() as u32, "workload");
    let mut words = format!("all {works} settings of {of_workloads} work");
    if missing > 0 {
        words += &format!("; {missing} more cannot be had here");
    }
    print(&(words + "\n"))?;
    Ok(Exit::Done)
}

/// On a terminal: how far it is, and what is being tried, so that one sees what takes long.
fn bar(quiet: bool) -> ProgressBar {
    let bar = match quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::no_length(),
    };
    match ProgressStyle::with_template("{pos}/{len} {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn name(workload: &str, parameters: &BTreeMap<String, String>, tasks: u32) -> String {
    format!("{workload} {} tasks={tasks}", parameters_in_words(parameters))
}

fn in_words(checked: &Checked) -> String {
    let verdict = match (&checked.problem, &checked.unavailable) {
        (Some(problem), _) => problem,
        (None, Some(why)) => &format!("cannot be had here ({why})"),
        (None, None) => "works",
    };
    let name = name(checked.workload, &checked.parameters, checked.tasks);
    let seconds = checked.took.as_secs_f64();
    let took = if seconds < 1.0 { String::new() } else { format!(" ({seconds:.1} s)") };
    format!("{name}: {verdict}{took}")
}
