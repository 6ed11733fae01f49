//! The command line: each sub-command is one file that reads its arguments, calls the library and
//! prints. Errors come up here with their context and end the program with their own exit code.

mod agent;
mod calibrate;
mod check;
mod compare;
mod flame;
mod format;
mod gate;
mod list;
mod machine;
mod register;
mod run;
mod upload;
mod values;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

use crate::exit;

/// Measures system-call scaling and block-allocator workloads on this machine, compares what was
/// measured, and uploads every sample to a scalewatch service.
#[derive(Parser)]
#[command(name = "scalewatch-runner", version, propagate_version = true, after_help = exit::HELP)]
#[command(max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Check(check::Args),
    Machine(machine::Args),
    Calibrate(Box<calibrate::Args>),
    Run(Box<run::Args>),
    Compare(compare::Args),
    Flame(flame::Args),
    Register(register::Args),
    Upload(upload::Args),
    Agent(agent::Args),
    Gate(Box<gate::Args>),
}

/// Runs the command that the arguments name. The one place that prints an error.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Machine(args) => machine::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Flame(args) => flame::run(&args),
        Command::Register(args) => register::run(&args),
        Command::Upload(args) => upload::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::Gate(args) => gate::run(&args),
    };
    let exit = done.unwrap_or_else(|error| {
        tell(&format!("scalewatch-runner: {error:#}"));
        exit::of(&error)
    });
    exit.into()
}

/// Prints results. A reader that has gone away is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
    .context("cannot write to standard output")
}

/// Says something to the person at the terminal, on standard error.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a value as JSON.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value).context("cannot write JSON")? + "\n"))
}
