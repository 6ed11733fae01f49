//! The service's program: reads the command line, runs it, prints what went wrong once.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match scalewatch::cli::run(scalewatch::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("scalewatch: {error:#}");
            ExitCode::FAILURE
        }
    }
}
