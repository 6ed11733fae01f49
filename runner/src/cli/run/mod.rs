//! `run`: measure, print, and make reports of it.
//!
//! Whatever could be wrong with the arguments is found before the first point is measured; what
//! was measured is written to disk before anything is sent.

mod args;
mod unixbench;
mod wis;

use std::path::Path;

use anyhow::Context;
use wire::{Outcome, Point, Report};

use super::compare::verdicts;
use super::upload::Destination;
use super::{print, tell};
use crate::agent::{StateDir, check_writable, write_atomically};
use crate::compare::files::{self, Content, Side, SidedReport};
use crate::exit::{Ended, Exit};
use crate::harness::PointPlan;
use crate::run::measure;
use crate::run::plan::Suite;
use crate::run::progress::Progress;
use crate::run::reports::{Maker, Sides};
use crate::run::table;
pub use args::Args;

/// What a run gave.
struct Results {
    /// For people.
    shown: String,
    /// For the file of `--json`: one JSON value a line.
    json: String,
    /// For the spool.
    reports: Vec<Report>,
    points: usize,
    failed: usize,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let suite = args.suite()?;
    if args.output.wis_compat {
        return wis::lines(&suite);
    }
    if let Some(path) = args.output.wis_csv.as_deref() {
        return wis::csv(&suite, path, args.output.quiet);
    }
    if let Some(path) = args.output.json.as_deref().filter(|path| path.as_os_str() != "-") {
        check_writable(path)?;
    }
    let state = StateDir::locate()?;
    let destination = match args.output.upload {
        true => Some(args.service.destination(&state)?),
        false => None,
    };
    let results = match args.two_sides()? {
        None if args.unixbench.unixbench => {
            unixbench::run(args, suite, &state, destination.as_ref())?
        }
        Some(sides) => two_sides(args, &suite, &sides, &state, destination.as_ref())?,
        None => one_side(args, &suite, &state, destination.as_ref())?,
    };
    hand_over(&results, args.output.json.as_deref())?;
    let sent = match destination {
        Some(destination) => {
            let spool = state.spool()?;
            for report in &results.reports {
                spool.put(report)?;
            }
            destination.send(&spool)?
        }
        None => Exit::Done,
    };
    if results.failed > 0 {
        let words = format!("{} of {} points failed", results.failed, results.points);
        return Err(Ended::with(Exit::MeasurementFailed, words));
    }
    Ok(sent)
}

fn one_side(
    args: &Args,
    suite: &Suite,
    state: &StateDir,
    destination: Option<&Destination>,
) -> anyhow::Result<Results> {
    let plans = suite.points()?;
    let maker = match keeps_reports(args) {
        true => Some(maker(args, suite, None, state, destination)?),
        false => None,
    };
    let mut progress = progress(args, &plans, 1);
    let measured = measure::one_side(&plans, args.points.seed, &mut progress)?;
    progress.finish();
    let (points, failed) = (measured.points.len(), failed(&measured.points));
    let shown = table::render(&measured.points);
    let mut results = Results { shown, json: String::new(), reports: Vec::new(), points, failed };
    if let Some(maker) = maker {
        let report = maker.report(None, measured, args.code.run_id)?;
        results.json = json_line(&report)?;
        results.reports.push(report);
    }
    Ok(results)
}

fn two_sides(
    args: &Args,
    suite: &Suite,
    sides: &Sides,
    state: &StateDir,
    destination: Option<&Destination>,
) -> anyhow::Result<Results> {
    let (base, head) = sides;
    let plans = (suite.points_with(base)?, suite.points_with(head)?);
    let maker = maker(args, suite, Some(sides), state, destination)?;
    let pairs = args.sides.pairs;
    let mut progress = progress(args, &plans.0, 2 * pairs as usize);
    let runs = measure::two_sides(&plans.0, &plans.1, pairs, args.points.seed, &mut progress)?;
    progress.finish();
    let mut lines = Vec::new();
    for (base_run, head_run) in runs {
        for (side, given, run) in [(Side::Base, base, base_run), (Side::Head, head, head_run)] {
            let report = maker.report(Some(side), run, None)?;
            lines.push(SidedReport { side, given: given.clone(), report });
        }
    }
    let points = lines.iter().map(|line| line.report.points.len()).sum();
    let failed = lines.iter().map(|line| failed(&line.report.points)).sum();
    let json = lines.iter().map(json_line).collect::<anyhow::Result<String>>()?;
    let reports = match keeps_reports(args) {
        true => lines.iter().map(|line| line.report.clone()).collect(),
        false => Vec::new(),
    };
    let columns = files::columns(vec![("run".into(), Content::Sided(lines))])?;
    Ok(Results { shown: verdicts(&columns), json, reports, points, failed })
}

fn maker(
    args: &Args,
    suite: &Suite,
    sides: Option<&Sides>,
    state: &StateDir,
    destination: Option<&Destination>,
) -> anyhow::Result<Maker> {
    let maker = Maker::new(args.code(), suite, sides, state, keeps_reports(args))?;
    if let Some(destination) = destination {
        destination.takes_reports_of(maker.machine())?;
    }
    Ok(maker)
}

fn keeps_reports(args: &Args) -> bool {
    args.output.json.is_some() || args.output.upload
}

fn progress(args: &Args, plans: &[PointPlan], times: usize) -> Progress {
    let windows: u64 = plans.iter().map(|p| u64::from(p.warmup_windows + p.windows)).sum();
    Progress::new(plans.len() * times, windows * times as u64, args.output.quiet)
}

fn failed(points: &[Point]) -> usize {
    points.iter().filter(|point| matches!(point.outcome, Outcome::Failed(_))).count()
}

fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value).context("cannot write the report as JSON")? + "\n")
}

/// Prints the results and writes the file of `--json`; where that is standard output, people read
/// theirs on standard error.
fn hand_over(results: &Results, json: Option<&Path>) -> anyhow::Result<()> {
    match json {
        Some(path) if path.as_os_str() == "-" => {
            print(&results.json)?;
            tell(results.shown.trim_end());
            Ok(())
        }
        Some(path) => {
            write_atomically(path, results.json.as_bytes(), 0o644)?;
            print(&results.shown)
        }
        None => print(&results.shown),
    }
}
