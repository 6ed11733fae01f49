//! `check`: run every workload briefly and verify it.

use std::path::PathBuf;

use super::{print, tell};
use crate::compare::curves::parameters_in_words;
use crate::exit::{Ended, Exit};
use crate::workloads::{self, Checked};

/// Run every workload for a moment, in all its variants and both modes, and verify it
///
/// Checks that it counts, that its own checks hold, that its metrics are sound and that it leaves
/// nothing behind. Says nothing about speed.
#[derive(clap::Args)]
pub struct Args {
    /// Directory for the files; a fresh folder is made in it and removed
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Say only what is wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let all = workloads::check(&args.dir, &mut |checked| {
        if checked.problem.is_some() || !args.quiet {
            tell(&in_words(checked));
        }
    })?;
    let wrong = all.iter().filter(|checked| checked.problem.is_some()).count();
    if wrong > 0 {
        let words = format!("{wrong} of {} settings do not work here", all.len());
        return Err(Ended::with(Exit::MeasurementFailed, words));
    }
    let missing = all.iter().filter(|checked| checked.unavailable.is_some()).count();
    let works = all.len() - missing;
    let mut words = format!("all {works} settings of {} workloads work", workloads::all().len());
    if missing > 0 {
        words += &format!("; {missing} more cannot be had here");
    }
    print(&(words + "\n"))?;
    Ok(Exit::Done)
}

fn in_words(checked: &Checked) -> String {
    let verdict = match (&checked.problem, &checked.unavailable) {
        (Some(problem), _) => problem,
        (None, Some(why)) => &format!("cannot be had here ({why})"),
        (None, None) => "works",
    };
    format!(
        "{} {} tasks={}: {verdict}",
        checked.workload,
        parameters_in_words(&checked.parameters),
        checked.tasks
    )
}
