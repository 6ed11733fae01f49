//! `run --unixbench`: its protocol, its progress, its report.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::super::values;
use super::{Args, Results, failed, json_line, keeps_reports, maker};
use crate::agent::StateDir;
use crate::cli::upload::Destination;
use crate::compare::unixbench::{self as report, Heading};
use crate::harness::MAX_TASKS;
use crate::machine::{self, Topology};
use crate::run::measure::Measured;
use crate::run::plan::Suite;
use crate::run::tasks;
use crate::run::unixbench::{self, Protocol};
use crate::workloads::unixbench::{TESTS, Test, find};

/// How `UnixBench` would run.
#[derive(clap::Args)]
pub struct Unixbench {
    /// Run the tests of `UnixBench` by its rules and print its report: passes of a fixed time, the
    /// disks synced before each, the worst third dropped [default tests: all of its index]
    #[arg(long, conflicts_with_all = [
        "tasks", "mode", "parameters", "param_sweep", "windows", "window", "warmup", "placement",
        "base", "base_exec", "base_dir", "until", "wis_compat", "wis_csv", "format",
    ])]
    pub unixbench: bool,
    /// Copies at once, each number a run of its own, written as for --tasks
    #[arg(long, value_name = "COUNTS", default_value = "1,max", requires = "unixbench")]
    copies: String,
    /// Passes of a long test; a short one has a third
    #[arg(short = 'i', long, value_name = "N", default_value_t = 10, requires = "unixbench")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
    /// Length of every pass [default: each test's own, 10 s or 30 s]
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "unixbench")]
    pass_time: Option<Duration>,
    /// Rest before each pass, in which the disks are synced twice
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = values::duration)]
    #[arg(requires = "unixbench")]
    settle: Duration,
}

impl Unixbench {
    fn protocol(&self, suite: &Suite) -> anyhow::Result<Protocol> {
        let tests: Vec<&Test> = match suite.workloads.is_empty() {
            true => TESTS.iter().filter(|test| test.usual).collect(),
            false => {
                suite.workloads.iter().map(|name| test(name)).collect::<anyhow::Result<_>>()?
            }
        };
        let max = Topology::of_this_machine().allowed.len() as u32;
        let protocol = Protocol {
            tests,
            copies: tasks::parse(&self.copies, max.min(MAX_TASKS))?,
            passes: self.passes,
            pass: self.pass_time,
            settle: self.settle,
            dir: suite.dir.clone(),
        };
        for test in &protocol.tests {
            protocol.copies.iter().try_for_each(|&copies| protocol.plan(test, copies).check())?;
        }
        let points = protocol.tests.len() * protocol.copies.len();
        ensure!(points <= wire::limits::POINTS, "{points} points are too many for one run");
        Ok(protocol)
    }
}

fn test(name: &str) -> anyhow::Result<&'static Test> {
    find(name).with_context(|| {
        let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
        format!("no test {name:?}: with --unixbench there are {}", names.join(", "))
    })
}

/// Measures, and prints the report.
pub fn run(
    args: &Args,
    mut suite: Suite,
    state: &StateDir,
    destination: Option<&Destination>,
) -> anyhow::Result<Results> {
    let protocol = args.unixbench.protocol(&suite)?;
    suite.workloads = protocol.tests.iter().map(|test| test.workload.to_owned()).collect();
    let maker = match keeps_reports(args) {
        true => Some(maker(args, &suite, None, state, destination)?),
        false => None,
    };
    let progress_on_stdout = args.output.json.as_deref().is_none_or(|p| p.as_os_str() != "-");
    let mut say = |words: &str| {
        if args.output.quiet {
            return;
        }
        // A reader that went away must not end a measurement.
        let _ = match progress_on_stdout {
            true => write!(std::io::stdout(), "{words}").and_then(|()| std::io::stdout().flush()),
            false => write!(std::io::stderr(), "{words}"),
        };
    };
    let measured = unixbench::run(&protocol, &mut say)?;
    let (points, failed) = (measured.points.len(), failed(&measured.points));
    let shown = match &maker {
        Some(_) => String::new(),
        None => report::render(&heading(&measured, &suite.dir, state)?, &measured.points),
    };
    let mut results = Results { shown, points, failed, ..Results::default() };
    if let Some(maker) = maker {
        let made = maker.report(None, measured, args.code.run_id)?;
        results.shown = report::render(&Heading::of(&made), &made.points);
        results.json = json_line(&made)?;
        results.reports.push(made);
    }
    Ok(results)
}

/// Where and when it was, for a run that is not kept.
pub fn heading(measured: &Measured, dir: &Path, state: &StateDir) -> anyhow::Result<Heading> {
    let machine = machine::machine(state.path()?).context("cannot identify this machine")?;
    let environment = machine::environment(dir, wire::Subject::Program);
    Ok(Heading {
        system: machine.name,
        kernel: environment.0.get("kernel.release").cloned().unwrap_or_default(),
        architecture: machine.identity.architecture,
        cpu_model: machine.identity.cpu_model,
        threads: machine.identity.threads,
        started_at: measured.started_at.clone(),
        finished_at: measured.finished_at.clone(),
    })
}
