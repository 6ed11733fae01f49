//! `scalewatch-runner`. Its first argument may be a hidden one: that of a point's child process,
//! which must be served before any thread exists, that of a program that replaces itself, or that of
//! the guardian of a tuned machine.

use std::process::ExitCode;

use scalewatch_runner::machine::tune;
use scalewatch_runner::{cli, harness};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == harness::CHILD_ARGUMENT => harness::child_main(),
        Some(argument) if argument == harness::AGAIN_ARGUMENT => harness::again_main(arguments),
        Some(argument) if argument == tune::GUARDIAN_ARGUMENT => {
            let state = arguments.next().unwrap_or_default();
            tune::guard(state.as_ref()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        _ => cli::main(),
    }
}
