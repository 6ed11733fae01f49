//! `scalewatch-runner`. Its first argument may be the hidden one of a point's child process, which
//! must be served before any thread exists.

use std::process::ExitCode;

use scalewatch_runner::{cli, harness};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|argument| argument == harness::CHILD_ARGUMENT) {
        harness::child_main();
    }
    cli::main()
}
