//! `scalewatch-runner`. Its first argument may be a hidden one: that of a point's child process,
//! which must be served before any thread exists, or that of a program that replaces itself.

use std::process::ExitCode;

use scalewatch_runner::{cli, harness};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == harness::CHILD_ARGUMENT => harness::child_main(),
        Some(argument) if argument == harness::AGAIN_ARGUMENT => harness::again_main(arguments),
        _ => cli::main(),
    }
}
