//! `machine`: identity, topology, environment, and how quiet it is.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;

use super::{print, print_json, tell};
use crate::agent::StateDir;
use crate::exit::Exit;
use crate::machine::{self, Quiet, Topology, cpu_list};
use crate::show::figures::counted;

/// Show this machine: topology, environment, and how quiet it is now
#[derive(clap::Args)]
pub struct Args {
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
    /// Directory whose file system the environment describes
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// What a project tests: for a kernel, its release is the revision and no environment
    #[arg(long, value_enum, default_value_t = Subject::Program)]
    subject: Subject,
    /// Say what to change for measurements that can be trusted
    #[arg(long, conflicts_with = "json")]
    advise: bool,
}

/// [`wire::Subject`] as an argument.
#[derive(Clone, Copy, ValueEnum)]
pub enum Subject {
    /// The running kernel
    Kernel,
    /// A program or library
    Program,
    /// An in-process model
    Model,
}

impl From<Subject> for wire::Subject {
    fn from(subject: Subject) -> wire::Subject {
        match subject {
            Subject::Kernel => wire::Subject::Kernel,
            Subject::Program => wire::Subject::Program,
            Subject::Model => wire::Subject::Model,
        }
    }
}

#[derive(serde::Serialize)]
struct Shown {
    machine: wire::Machine,
    environment: wire::Environment,
    quiet: Quiet,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let state = StateDir::locate()?;
    put_back_left_over(&state)?;
    if args.advise {
        print(&advice())?;
        return Ok(Exit::Done);
    }
    let shown = Shown {
        machine: machine::machine(state.path()?).context("cannot identify this machine")?,
        environment: machine::environment(&args.dir, args.subject.into()),
        quiet: machine::quiet(Duration::from_secs(1)),
    };
    if args.json {
        print_json(&shown)?;
    } else {
        print(&in_words(&shown, &Topology::of_this_machine()))?;
    }
    Ok(Exit::Done)
}

/// Puts back what a killed run left tuned, and says so.
pub fn put_back_left_over(state: &StateDir) -> anyhow::Result<()> {
    let words = machine::tune::put_back_left_over(state.place())?;
    words.iter().for_each(|words| tell(&format!("left by a run that was killed: {words}")));
    Ok(())
}

/// What to change: settings that `run --tune` sets, then what only people can.
fn advice() -> String {
    let mut out = String::new();
    let wishes = machine::wishes(Path::new("/"), None);
    for wish in &wishes {
        let _ = writeln!(out, "{}", wish.advice());
    }
    if !wishes.is_empty() {
        out.push_str("`run --tune` sets these as far as the user may, and puts them back.\n\n");
    }
    let mut by_hand = machine::quiet(Duration::from_secs(1)).remarks;
    by_hand.extend(machine::lasting_remarks());
    for remark in &by_hand {
        let _ = writeln!(out, "{remark}");
    }
    if out.is_empty() {
        out.push_str("nothing to change\n");
    }
    out
}

fn in_words(shown: &Shown, topology: &Topology) -> String {
    let identity = &shown.machine.identity;
    let mut out = format!("{}  {:.16}\n", shown.machine.name, shown.machine.id);
    let _ = writeln!(
        out,
        "  {} {}: {}, {}, {}, {}, {}",
        identity.architecture,
        identity.cpu_model,
        counted(identity.sockets, "socket"),
        counted(identity.cores, "core"),
        counted(identity.threads, "hardware thread"),
        counted(identity.numa_nodes, "NUMA node"),
        identity.memory_class
    );
    for cache in &identity.caches {
        let _ = writeln!(
            out,
            "  level {} {} cache: {} KiB, one for {}",
            cache.level,
            cache.kind,
            cache.size_kib,
            counted(cache.shared_by, "hardware thread")
        );
    }
    let _ = writeln!(out, "  may use CPUs {}", cpu_list(&topology.allowed));
    for change in topology.changes(false) {
        let _ = writeln!(out, "  from {} tasks on: {}", change.tasks, change.what);
    }
    out.push_str("\nenvironment\n");
    for (key, value) in &shown.environment.0 {
        let _ = writeln!(out, "  {key}  {value}");
    }
    out.push('\n');
    out.push_str(&quiet_in_words(&shown.quiet));
    out
}

/// `quiet`, or what disturbs.
fn quiet_in_words(quiet: &Quiet) -> String {
    if quiet.is_quiet() {
        return "quiet: nothing would disturb a measurement now\n".into();
    }
    let mut out = String::from("not quiet:\n");
    for remark in &quiet.remarks {
        let _ = writeln!(out, "  {remark}");
    }
    out
}
