//! `flame`: flame graph of what `run --profile` recorded, or of the difference of two runs.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use super::print;
use crate::agent::write_atomically;
use crate::exit::Exit;
use crate::profile::{self, sides};

/// Draw the profiles of result files as a flame graph
///
/// One file gives a flame graph; two, the base first, give their difference, and so does the file of
/// a `run --base … --head …`: red took a larger share of the samples in the head, blue a smaller
/// one. Shares are of the tasks' own samples. Several points stand beside each other, each below a
/// frame of its name.
#[derive(clap::Args)]
pub struct Args {
    /// Result files written by `run --profile --json`
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// Where to write the SVG; standard output where it is `-`
    #[arg(short, long, value_name = "SVG", default_value = "-")]
    output: PathBuf,
    /// Only points of this workload
    #[arg(long, value_name = "ID")]
    workload: Option<String>,
    /// Only points with this many tasks
    #[arg(long, value_name = "N")]
    tasks: Option<u32>,
    /// Write the folded stacks of one file instead, for other programs
    #[arg(long, conflicts_with = "output")]
    folded: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut sides = sides::read(&args.files)?;
    for side in &mut sides {
        side.retain(|_, of| {
            args.workload.as_ref().is_none_or(|id| *id == of.workload)
                && args.tasks.is_none_or(|tasks| tasks == of.tasks)
        });
    }
    let text = match &sides[..] {
        [only] if args.folded => sides::merged(only).text(),
        [only] => profile::graph(&sides::merged(only), &sides::title(only))?,
        [base, head] => {
            ensure!(!args.folded, "--folded takes one file of one side");
            let pairs = sides::pairs(base, head);
            ensure!(
                !pairs.is_empty(),
                "no point has a profile on both sides: measure with --profile"
            );
            profile::difference(&pairs, &format!("{}: head against base", sides::title(head)))?
        }
        _ => unreachable!("reading files gives one side or two"),
    };
    match args.output.as_os_str() == "-" {
        true => print(&text)?,
        false => write_atomically(&args.output, text.as_bytes(), 0o644)
            .with_context(|| format!("cannot write {}", args.output.display()))?,
    }
    Ok(Exit::Done)
}
