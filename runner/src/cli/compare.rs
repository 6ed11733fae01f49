//! `compare`: base against head, offline.

use std::path::PathBuf;

use anyhow::ensure;

use super::format::{self, Format};
use super::{print, tell};
use crate::agent::StateDir;
use crate::clock;
use crate::compare::curves::{self, Metrics};
use crate::compare::earlier::Earlier;
use crate::compare::files::{self, Column};
use crate::compare::floors::Floors;
use crate::compare::gate;
use crate::compare::judge::{self, Judged, Options};
use crate::exit::Exit;

/// Compare result files: the first is the base, each other one a head
///
/// A file holds one report, several runs of one revision, or both sides of a `run --base … --head
/// …`. Each curve gets a verdict in words first; the rules of LKP and mmtests stand beside it as
/// they are written. Nothing is compared across machines or units, nor, unless asked for, across
/// environments.
#[derive(clap::Args)]
pub struct Args {
    /// Result files written by `run --json`, the base first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// How to print; several, one below the other
    #[arg(long, value_enum, default_value = "table", value_delimiter = ',')]
    format: Vec<Format>,
    /// Only this metric [default: the first of each workload, and `ops_per_cpu_s` beside it]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    metric: Option<String>,
    /// Every metric
    #[arg(long)]
    all: bool,
    /// End with an exit code that says the outcome: 0 no regression, 1 regression, 3 not enough
    /// data, an unconfirmed regression, no baseline or nothing comparable, 6 the head failed where the base ran
    ///
    /// Judged are the first metric of each workload, or those asked for by --metric or --all.
    #[arg(long)]
    gate: bool,
    /// Compare although the environments differ: the environment is what is studied
    #[arg(long)]
    across_environments: bool,
    /// Result files of earlier builds on the level of the base, one revision a file: 15 builds or
    /// more tell how far builds of one code lie apart, fewer leave changes unconfirmed
    #[arg(long, value_name = "FILE", num_args = 1..)]
    history: Vec<PathBuf>,
    /// Noise floor in percent: smaller changes are not called, nor those below what `calibrate`
    /// found on this machine
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    noise_floor: f64,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    ensure!(
        (0.0..=1000.0).contains(&args.noise_floor),
        "--noise-floor: {} is not between 0 and 1000 percent",
        args.noise_floor
    );
    format::check(&args.format)?;
    let columns = match args.format.iter().all(|format| format.shows_runs()) && !args.gate {
        true => files::read_one_or_more(&args.files)?,
        false => files::read(&args.files)?,
    };
    let metrics = match &args.metric {
        Some(name) => Metrics::Named(name.clone()),
        None if args.all => Metrics::All,
        None => Metrics::Usual,
    };
    let paired = curves::pair(&columns, &metrics);
    if let Some(name) = &args.metric {
        ensure!(!paired.curves.is_empty(), "no curve on both sides has a metric {name:?}");
    }
    let options = Options {
        across_environments: args.across_environments,
        noise_floor: args.noise_floor / 100.0,
        floors: Floors::load(StateDir::locate()?.place(), clock::now())?,
        earlier: earlier(&columns, &args.history)?,
        ..Options::default()
    };
    let judged: Vec<Judged> =
        paired.curves.into_iter().map(|curve| judge::judge(curve, &options)).collect();
    print(&format::sides(&args.format, &columns, &judged, &paired.unpaired)?)?;
    if !args.gate {
        return Ok(Exit::Done);
    }
    let (exit, words) = gate::gate(&judged, &paired.unpaired, &metrics);
    tell(&words);
    Ok(exit)
}

fn earlier(columns: &[Column], files: &[PathBuf]) -> anyhow::Result<Earlier> {
    let earlier = match files {
        [] => Vec::new(),
        files => files::read_one_or_more(files)?,
    };
    Ok(Earlier::new(columns, earlier))
}
