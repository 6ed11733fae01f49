//! `run`: measure, print, and make reports of it.
//!
//! Whatever could be wrong with the arguments is found before the first point is measured; what
//! was measured is written to disk before anything is sent.

mod args;
mod effort;
mod unixbench;
mod wis;

use std::fmt::Write;

use anyhow::Context;
use wire::{Artefact, Outcome, Point, Report};

use super::format;
use super::upload::Destination;
use super::{print, tell};
use crate::agent::{StateDir, check_writable, write_atomically};
use crate::clock;
use crate::compare::curves::{self, Metrics};
use crate::compare::earlier::Earlier;
use crate::compare::files::{self, Content, Side, SidedReport};
use crate::compare::floors::Floors;
use crate::compare::judge::{self, Judged, Options};
use crate::exit::{Ended, Exit};
use crate::harness::{Manner, PointPlan};
use crate::run::controls::{self, Controls, Stability};
use crate::run::measure::{self, Pairs, Task};
use crate::run::plan::Suite;
use crate::run::precision;
use crate::run::progress::Progress;
use crate::run::reports::Maker;
use crate::run::sides::{SideSpec, Sides};
use crate::show::figures::counted;
use args::Output;
pub use args::{Args, Points, Usual};

/// What a run gave.
#[derive(Default)]
struct Results {
    /// In the forms asked for.
    shown: String,
    /// What else is to be said of it, for people.
    remarks: String,
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
    let sides = args.two_sides()?;
    match &sides {
        Some(_) => format::check(&args.output.format)?,
        None => format::check_one_run(&args.output.format)?,
    }
    let state = StateDir::locate()?;
    let destination = match args.output.upload {
        true => Some(args.service.destination(&state)?),
        false => None,
    };
    // Before the environment is read, and until all is measured.
    let tuned = args.effort.prepare_machine(&state)?;
    let results = match sides {
        None if args.unixbench.unixbench => {
            unixbench::run(args, suite, &state, destination.as_ref())?
        }
        Some(sides) => two_sides(args, &suite, &sides, &state, destination.as_ref())?,
        None => one_side(args, &suite, &state, destination.as_ref())?,
    };
    drop(tuned);
    hand_over(&results, &args.output)?;
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
    let windows = plans.iter().map(|plan| plan.windows).max().unwrap_or(0);
    let until = args.effort.until();
    let task = Task { plans, manner: args.effort.manner(windows, until) };
    let mut progress = progress(args, &task.plans, 1);
    let (measured, stability) = between_controls(args, suite, &mut || {
        measure::one_side(&task, args.points.seed, &mut progress)
    })?;
    progress.finish();
    let (points, failed) = (measured.points.len(), failed(&measured.points));
    let heading = || unixbench::heading(&measured, &suite.dir, state);
    let shown = format::one_run(&args.output.format, &measured.points, &heading)?;
    let mut remarks = String::new();
    for (point, until) in measured.points.iter().filter_map(|point| Some((point, until?))) {
        let known = precision::of_point(point, &until);
        known.into_iter().for_each(|known| add_line(&mut remarks, point, &known));
    }
    say_stability(&mut remarks, stability.as_ref());
    let mut results = Results { shown, remarks, points, failed, ..Results::default() };
    if let Some(mut maker) = maker {
        stability.iter().for_each(|stability| maker.attach(as_artefact(stability)));
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
    let until = args.effort.until();
    let side = |spec: &SideSpec| -> anyhow::Result<Task> {
        let mut plans = suite.points_with(&spec.parameters)?;
        let windows = plans.iter().map(|plan| plan.windows).max().unwrap_or(0);
        let dir = spec.dir.iter();
        dir.for_each(|dir| plans.iter_mut().for_each(|plan| plan.dir.clone_from(dir)));
        let manner = args.effort.manner(windows, None);
        Ok(Task { plans, manner: Manner { executable: spec.executable.clone(), ..manner } })
    };
    let (base, head) = (side(&sides.base)?, side(&sides.head)?);
    let mut maker = maker(args, suite, Some(sides), state, destination)?;
    let pairs = Pairs { least: args.sides.pairs, until };
    let mut progress = progress(args, &base.plans, 2 * pairs.least as usize);
    let (paired, stability) = between_controls(args, suite, &mut || {
        measure::two_sides(&base, &head, pairs, args.points.seed, &mut progress)
    })?;
    progress.finish();
    stability.iter().for_each(|stability| maker.attach(as_artefact(stability)));
    let mut remarks = String::new();
    if let (Some(until), Some((first, _))) = (until, paired.runs.first()) {
        for (point, paired) in first.points.iter().zip(&paired.points) {
            add_line(&mut remarks, point, &paired.in_words(&until));
        }
    }
    let mut lines = Vec::new();
    for (base_run, head_run) in paired.runs {
        let of_side = [(Side::Base, &sides.base, base_run), (Side::Head, &sides.head, head_run)];
        for (side, spec, run) in of_side {
            let report = maker.report(Some(side), run, None)?;
            lines.push(SidedReport { side, given: spec.given(), report });
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
    let metrics = if args.sides.all { Metrics::All } else { Metrics::Usual };
    let options = Options {
        across_environments: sides.differ_in_surroundings(),
        floors: Floors::load(state.place(), clock::now())?,
        earlier: Earlier::new(&columns, Vec::new()),
        ..Options::default()
    };
    let paired = curves::pair(&columns, &metrics);
    let judged: Vec<Judged> =
        paired.curves.into_iter().map(|curve| judge::judge(curve, &options)).collect();
    let shown = format::sides(&args.output.format, &columns, &judged, &paired.unpaired)?;
    say_stability(&mut remarks, stability.as_ref());
    Ok(Results { shown, remarks, json, reports, points, failed })
}

/// Measures with the controls before and after, unless they are not wanted.
fn between_controls<T>(
    args: &Args,
    suite: &Suite,
    body: &mut dyn FnMut() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Option<Stability>)> {
    let controls = || Controls::measure(suite.window, &suite.dir);
    let before = (!args.effort.no_controls).then(controls);
    let result = body()?;
    Ok((result, before.map(|before| controls::compare(&before, &controls()))))
}

fn say_stability(shown: &mut String, stability: Option<&Stability>) {
    stability.iter().for_each(|stability| {
        let _ = writeln!(shown, "\n{}", stability.words);
    });
}

fn as_artefact(stability: &Stability) -> Artefact {
    Artefact {
        name: "controls.txt".into(),
        media_type: "text/plain".into(),
        content: stability.words.clone() + "\n",
    }
}

/// `  sys/getppid 2 tasks: mean known to ±0.80 % after 12 windows`.
fn add_line(shown: &mut String, point: &Point, words: &str) {
    let tasks = counted(point.tasks, "task");
    let _ = writeln!(shown, "  {} {tasks}: {words}", point.workload);
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
    progress_of(plans, times, args.output.quiet)
}

/// Progress over these points, each measured so often.
pub fn progress_of(plans: &[PointPlan], times: usize, quiet: bool) -> Progress {
    let windows: u64 = plans.iter().map(|p| u64::from(p.warmup_windows + p.windows)).sum();
    Progress::new(plans.len() * times, windows * times as u64, quiet)
}

fn failed(points: &[Point]) -> usize {
    points.iter().filter(|point| matches!(point.outcome, Outcome::Failed(_))).count()
}

fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value).context("cannot write the report as JSON")? + "\n")
}

/// Prints the results and writes the file of `--json`; where that is standard output, people read
/// theirs on standard error, and where the results are for programs, what else is to be said.
fn hand_over(results: &Results, output: &Output) -> anyhow::Result<()> {
    let Results { shown, remarks, .. } = results;
    match output.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => {
            print(&results.json)?;
            tell((shown.clone() + remarks).trim_end());
            return Ok(());
        }
        Some(path) => write_atomically(path, results.json.as_bytes(), 0o644)?,
        None => {}
    }
    match output.format.iter().any(|format| format.is_for_programs()) && !remarks.is_empty() {
        true => {
            tell(remarks.trim());
            print(shown)
        }
        false => print(&(shown.clone() + remarks)),
    }
}
