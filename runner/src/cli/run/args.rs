//! The arguments of `run`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use clap::ValueEnum;

use super::super::format::Format;
use super::super::machine::Subject;
use super::super::upload::Service;
use super::super::values;
use super::effort::Effort;
use super::unixbench::Unixbench;
use crate::harness::{Mode, Placement};
use crate::machine::Topology;
use crate::run::plan::Suite;
use crate::run::reports::Code;
use crate::run::revision::Given;
use crate::run::sides::{SideSpec, Sides};
use crate::run::tasks;
use crate::workloads::wis;

/// Measure workloads over a sweep of task counts
///
/// Every point runs in a child process; points are taken in random but repeatable order. A report
/// (--json, --upload) needs a revision: which code was measured.
///
/// Two parameter sets of one workload are compared by --base and --head: they take turns at every
/// point, the one that begins changes with each pair, and the verdict is printed at once. The file
/// that --json writes then holds both sides, and `compare` reads it.
#[derive(clap::Args)]
pub struct Args {
    /// Ids as `list` shows them, or will-it-scale's tests as `wis/NAME`
    #[arg(value_name = "WORKLOAD", required_unless_present = "unixbench")]
    workloads: Vec<String>,
    #[command(flatten, next_help_heading = "What to measure")]
    pub points: Points,
    #[command(flatten, next_help_heading = "How well")]
    pub effort: Effort,
    #[command(flatten, next_help_heading = "Two sides")]
    pub sides: SidesArgs,
    #[command(flatten, next_help_heading = "As UnixBench does")]
    pub unixbench: Unixbench,
    #[command(flatten, next_help_heading = "Which code it is")]
    pub code: CodeArgs,
    #[command(flatten, next_help_heading = "What to do with it")]
    pub output: Output,
    #[command(flatten, next_help_heading = "Sending (with --upload)")]
    pub service: Service,
}

#[derive(clap::Args)]
pub struct Points {
    /// Task counts: numbers, `max`, or `A..B` (A, doubled while below B, and B)
    /// [default: 1,2,4 … up to the hardware threads]
    #[arg(long, value_name = "COUNTS")]
    tasks: Option<String>,
    /// One process a task, one thread a task, or both in turn
    #[arg(long, value_enum, default_value_t = ModeArg::Process)]
    mode: ModeArg,
    /// A parameter; see `list` for names, defaults and what is allowed
    #[arg(short, long = "parameter", value_name = "KEY=VALUE", value_parser = values::pair)]
    parameters: Vec<(String, String)>,
    /// A parameter that takes several values, each a curve of its own
    #[arg(long, value_name = "KEY=V1,V2", value_parser = values::sweep)]
    param_sweep: Vec<(String, Vec<String>)>,
    /// Windows measured at each point [default: 10, or 2 a turn where two sides take turns]
    #[arg(long, value_name = "N")]
    windows: Option<u32>,
    /// Length of a window, e.g. 250ms or 1s [default: 1s; where two sides take turns 20ms, as many
    /// times longer as tasks share a CPU]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    window: Option<Duration>,
    /// Windows thrown away first at each point [default: 6, or 1 a turn]
    #[arg(long, value_name = "N")]
    warmup: Option<u32>,
    /// Where tasks run: `core` (one a core), `spread` (the same, packages and caches in turn), `pu`
    /// (one a hardware thread), `none`, or `list:0,2`
    #[arg(long, default_value = "core", value_parser = values::placement)]
    placement: Placement,
    /// Directory on the file system under test; a fresh folder is made in it and removed
    /// [default: the current one; /dev/shm for will-it-scale's test on tmpfs]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Seed of the order of points
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How long a point is measured where the command line does not say.
pub struct Usual {
    windows: u32,
    window: Duration,
    warmup: u32,
    /// See [`Suite::stretch`].
    stretch: bool,
}

impl Usual {
    /// By itself.
    pub const ALONE: Usual =
        Usual { windows: 10, window: Duration::from_secs(1), warmup: 6, stretch: false };
    /// One turn of two sides. Short: what drifts between the turns of a pair is not taken out.
    pub const TURNS: Usual =
        Usual { windows: 2, window: Duration::from_millis(20), warmup: 1, stretch: true };
}

#[derive(clap::Args)]
pub struct SidesArgs {
    /// Parameters of the base
    #[arg(long, value_name = "K=V,…", value_parser = values::pairs, requires = "head")]
    base: Option<BTreeMap<String, String>>,
    /// Parameters of the head
    #[arg(long, value_name = "K=V,…", value_parser = values::pairs, requires = "base")]
    head: Option<BTreeMap<String, String>>,
    /// The runner that measures the base: another build of this program
    #[arg(long, value_name = "PROGRAM", requires = "head_exec")]
    base_exec: Option<PathBuf>,
    /// The runner that measures the head
    #[arg(long, value_name = "PROGRAM", requires = "base_exec")]
    head_exec: Option<PathBuf>,
    /// Directory of the base, e.g. on a file system mounted with other options
    #[arg(long, value_name = "PATH", requires = "head_dir")]
    base_dir: Option<PathBuf>,
    /// Directory of the head
    #[arg(long, value_name = "PATH", requires = "base_dir")]
    head_dir: Option<PathBuf>,
    /// Turns of each side, at least where --until is given
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub pairs: u32,
    /// Judge every metric, not only the first of each workload
    #[arg(long)]
    pub all: bool,
}

#[derive(clap::Args)]
pub struct CodeArgs {
    /// Project [default: linux for a kernel, model for a model]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What the project tests
    #[arg(long, value_enum, default_value_t = Subject::Kernel)]
    subject: Subject,
    /// Repository to read commit, branch, parents, time, subject and position from
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// Commit id; with --repo any name of a revision [default there: what is checked out]
    #[arg(long)]
    commit: Option<String>,
    /// Branch [default: the one checked out in --repo, else main]
    #[arg(long)]
    branch: Option<String>,
    /// Position in the branch's first-parent order
    #[arg(long, value_name = "N")]
    position: Option<i64>,
    /// Committer time, e.g. 2026-02-27T09:13:44+01:00
    #[arg(long, value_name = "TIME")]
    committed_at: Option<String>,
    /// Commit ids of the parents
    #[arg(long, value_name = "HEX,…", value_delimiter = ',')]
    parents: Vec<String>,
    /// First line of the commit message
    #[arg(long, value_name = "SUBJECT")]
    message: Option<String>,
    /// A parameter that plays the code under test: it belongs to the revision and is left out of
    /// the series; without --commit the commit id is made of it
    #[arg(long, value_name = "KEY")]
    subject_param: Option<String>,
    /// UUID of the run [default: made at random]
    #[arg(long, value_name = "UUID", conflicts_with = "base")]
    pub run_id: Option<uuid::Uuid>,
}

#[derive(clap::Args)]
pub struct Output {
    /// How to print; several, one below the other. The tables of LKP and mmtests and JSON compare
    /// two sides
    #[arg(long, value_enum, default_value = "table", value_delimiter = ',', value_name = "FORMAT")]
    pub format: Vec<Format>,
    /// Write the report as JSON into FILE, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print will-it-scale's own lines instead of a table
    #[arg(long, conflicts_with_all = ["json", "upload", "base", "window", "until", "base_exec", "base_dir", "format"])]
    pub wis_compat: bool,
    /// Write the csv of will-it-scale's runtest.py into FILE, row by row, and the title beside it:
    /// one workload, processes and threads, every task count unless --tasks says otherwise
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["json", "upload", "base", "window", "wis_compat", "mode", "format"])]
    pub wis_csv: Option<PathBuf>,
    /// Put the report into the spool and send it to the service this machine is registered with
    #[arg(long)]
    pub upload: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeArg {
    /// One process a task
    Process,
    /// One thread a task
    Thread,
    /// Processes, then threads
    Both,
}

impl Points {
    /// What to measure of these workloads.
    ///
    /// # Errors
    /// Names the argument that is wrong.
    pub fn suite(&self, workloads: &[String], usual: &Usual) -> anyhow::Result<Suite> {
        let max = hardware_threads();
        let mut parameters = BTreeMap::new();
        for (key, value) in &self.parameters {
            let twice = parameters.insert(key.clone(), value.clone()).is_some();
            ensure!(!twice, "parameter {key} is given twice; --param-sweep takes several values");
        }
        Ok(Suite {
            workloads: workloads.to_vec(),
            parameters,
            sweep: self.param_sweep.clone(),
            modes: match self.mode {
                ModeArg::Process => vec![Mode::Process],
                ModeArg::Thread => vec![Mode::Thread],
                ModeArg::Both => vec![Mode::Process, Mode::Thread],
            },
            tasks: match &self.tasks {
                Some(text) => tasks::parse(text, max)?,
                None => tasks::usual(max),
            },
            placement: self.placement.clone(),
            warmup_windows: self.warmup.unwrap_or(usual.warmup),
            windows: self.windows.unwrap_or(usual.windows),
            window: self.window.unwrap_or(usual.window),
            stretch: usual.stretch && self.window.is_none(),
            dir: match &self.dir {
                Some(dir) => dir.clone(),
                None => wis::usual_dir(workloads)?.to_owned(),
            },
        })
    }
}

/// Hardware threads that this process may use.
fn hardware_threads() -> u32 {
    Topology::of_this_machine().allowed.len().max(1) as u32
}

impl Args {
    /// What to measure; the csv of will-it-scale has both modes, and every count of tasks.
    ///
    /// # Errors
    /// Names the argument that is wrong.
    pub fn suite(&self) -> anyhow::Result<Suite> {
        let usual = if self.two_sides()?.is_some() { &Usual::TURNS } else { &Usual::ALONE };
        let mut suite = self.points.suite(&self.workloads, usual)?;
        if self.output.wis_csv.is_some() {
            suite.modes = vec![Mode::Process, Mode::Thread];
            if self.points.tasks.is_none() {
                suite.tasks = (1..=hardware_threads()).collect();
            }
        }
        Ok(suite)
    }

    /// Which code it is, as far as the command line says.
    pub fn code(&self) -> Code {
        let code = &self.code;
        Code {
            given: Given {
                project: code.project.clone(),
                subject: Some(code.subject.into()),
                repo: code.repo.clone(),
                commit: code.commit.clone(),
                branch: code.branch.clone(),
                position: code.position,
                committed_at: code.committed_at.clone(),
                parents: code.parents.clone(),
                message: code.message.clone(),
            },
            subject_param: code.subject_param.clone(),
        }
    }

    /// Base and head, where two sides are asked for.
    ///
    /// # Errors
    /// When they do not set the same things, or set them alike.
    pub fn two_sides(&self) -> anyhow::Result<Option<Sides>> {
        let sides = &self.sides;
        let spec = |parameters: &Option<BTreeMap<_, _>>, executable, dir| SideSpec {
            parameters: parameters.clone().unwrap_or_default(),
            executable: Clone::clone(executable),
            dir: Clone::clone(dir),
        };
        Sides::new(
            spec(&sides.base, &sides.base_exec, &sides.base_dir),
            spec(&sides.head, &sides.head_exec, &sides.head_dir),
        )
    }
}
