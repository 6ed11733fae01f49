//! Every way a command ends, in one place: the exit codes are part of the interface.

use std::process::ExitCode;

/// How a command ended. The numbers are documented in `--help` and never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; for a gate: no regression.
    Done = 0,
    /// A regression.
    Regression = 1,
    /// Wrong usage or unusable input; nothing was measured or sent.
    Usage = 2,
    /// Not enough data, no baseline, nothing comparable, or a job that is not done in time.
    NotEnoughData = 3,
    /// The service refused: the token or a report.
    Refused = 4,
    /// The service could not be reached; what was to be sent is kept.
    Unreachable = 5,
    /// A measurement failed.
    MeasurementFailed = 6,
}

/// The table of `--help`.
pub const HELP: &str = "\
Exit codes:
  0  done; for a gate: no regression
  1  a regression (gate, compare --gate)
  2  wrong usage or unusable input
  3  not enough data, no baseline, nothing comparable, or not done in time (gate, compare --gate)
  4  the service refused the token or a report
  5  the service could not be reached; reports are kept
  6  a measurement failed, or a job of a gate";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An error that ends the program with a code of its own.
#[derive(Debug)]
pub struct Ended {
    exit: Exit,
    words: String,
}

impl Ended {
    /// The error that ends with `exit`.
    pub fn with(exit: Exit, words: impl Into<String>) -> anyhow::Error {
        Ended { exit, words: words.into() }.into()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Ended {}

/// The code of an error: its own, else [`Exit::Usage`].
pub fn of(error: &anyhow::Error) -> Exit {
    error.downcast_ref::<Ended>().map_or(Exit::Usage, |ended| ended.exit)
}
