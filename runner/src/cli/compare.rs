//! `compare`: base against head, offline.

use std::path::PathBuf;

use anyhow::ensure;
use clap::ValueEnum;

use super::{print, tell};
use crate::agent::StateDir;
use crate::compare::counters;
use crate::compare::curves::{self, Metrics};
use crate::compare::files::{self, Column};
use crate::compare::floors::Floors;
use crate::compare::judge::{self, Judged, Options};
use crate::compare::{aim, as_lkp, as_mmtests, gate, json, lkp, mmtests, table, unixbench};
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
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Only this metric [default: the first of each workload, and `ops_per_cpu_s` beside it]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    metric: Option<String>,
    /// Every metric
    #[arg(long)]
    all: bool,
    /// End with an exit code that says the outcome: 0 no regression, 1 regression, 3 not enough
    /// data, no baseline or nothing comparable, 6 the head failed where the base ran
    ///
    /// Judged are the first metric of each workload, or those asked for by --metric or --all.
    #[arg(long)]
    gate: bool,
    /// Compare although the environments differ: the environment is what is studied
    #[arg(long)]
    across_environments: bool,
    /// Noise floor in percent: smaller changes are not called, nor those below what `calibrate`
    /// found on this machine
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    noise_floor: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Our verdicts, with LKP's and mmtests' beside them
    Table,
    /// The comparison table of the kernel test robot
    Lkp,
    /// The comparison table of mmtests
    Mmtests,
    /// The report of `UnixBench`, of each run
    Unixbench,
    /// The lines of AIM7, of each run
    Aim,
    /// Everything, for programs
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    ensure!(
        (0.0..=1000.0).contains(&args.noise_floor),
        "--noise-floor: {} is not between 0 and 1000 percent",
        args.noise_floor
    );
    let columns = match args.format {
        Format::Unixbench | Format::Aim if !args.gate => files::read_one_or_more(&args.files)?,
        _ => files::read(&args.files)?,
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
        floors: Floors::load(StateDir::locate()?.place())?,
        policy: stats::two_sides::Policy::default(),
    };
    let judged: Vec<Judged> =
        paired.curves.into_iter().map(|curve| judge::judge(curve, &options)).collect();
    print(&match args.format {
        Format::Table => in_tables(&columns, &judged) + &table::unpaired(&paired.unpaired),
        Format::Lkp => in_lkp(&columns, &judged) + &table::unpaired(&paired.unpaired),
        Format::Mmtests => in_mmtests(&columns, &judged) + &table::unpaired(&paired.unpaired),
        Format::Unixbench | Format::Aim if columns.len() == 1 => each_run(&columns, args.format),
        Format::Unixbench | Format::Aim => {
            in_verdicts(&columns, &judged)
                + &each_run(&columns, args.format)
                + &table::unpaired(&paired.unpaired)
        }
        Format::Json => json::render(&columns, &judged, &paired.unpaired)?,
    })?;
    if !args.gate {
        return Ok(Exit::Done);
    }
    let (exit, words) = gate::gate(&judged, &paired.unpaired, &metrics);
    tell(&words);
    Ok(exit)
}

/// Metrics of both sides with the usual limits, as tables.
pub fn verdicts(
    columns: &[Column],
    metrics: &Metrics,
    across_environments: bool,
    floors: Floors,
) -> String {
    let options = Options {
        across_environments,
        noise_floor: 0.0,
        floors,
        policy: stats::two_sides::Policy::default(),
    };
    let paired = curves::pair(columns, metrics);
    let judged: Vec<Judged> =
        paired.curves.into_iter().map(|curve| judge::judge(curve, &options)).collect();
    in_tables(columns, &judged) + &table::unpaired(&paired.unpaired)
}

fn in_tables(columns: &[Column], judged: &[Judged]) -> String {
    let curves: String = judged.iter().map(|curve| table::render(columns, curve)).collect();
    format!("{}\n{curves}", table::sides(columns))
}

/// The verdicts alone, above formats that have no place for them.
fn in_verdicts(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for curve in judged {
        out.push_str(&table::verdict(columns, curve));
        out.push_str(&table::points(columns, curve));
        out.push('\n');
    }
    out
}

/// Every run by itself, under its column's name where there is more than one run.
fn each_run(columns: &[Column], format: Format) -> String {
    let alone = columns.len() == 1 && columns[0].reports.len() == 1;
    let mut out = String::new();
    for column in columns {
        for report in &column.reports {
            if !alone {
                out.push_str(&format!("{}\n", column.name));
            }
            out.push_str(&match format {
                Format::Aim => aim::render(&report.points),
                _ => unixbench::render(&unixbench::Heading::of(report), &report.points),
            });
        }
    }
    out
}

fn in_lkp(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for of_key in judged.chunk_by(|a, b| a.curve.key == b.curve.key) {
        for curve in of_key {
            out.push_str(&table::verdict(columns, curve));
            out.push_str(&table::points(columns, curve));
        }
        out.push('\n');
        out.push_str(&lkp::render(&as_lkp(columns, &of_key.iter().collect::<Vec<_>>())));
        out.push_str(&counters::render(columns, &of_key[0]));
        out.push('\n');
    }
    out
}

fn in_mmtests(columns: &[Column], judged: &[Judged]) -> String {
    let mut out = String::new();
    for curve in judged {
        out.push_str(&table::verdict(columns, curve));
        out.push_str(&table::points(columns, curve));
        out.push('\n');
        out.push_str(&mmtests::render(&as_mmtests(columns, curve)));
        out.push('\n');
    }
    out
}
