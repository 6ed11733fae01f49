//! Results of other tools → reports, which ingest stores like those of the runner.
//!
//! A [`Format`] reads a [`Source`] (a file, or a folder of files) into [`FoundRun`]s: what the tool
//! tells and nothing more. [`Meaning`] gives each metric the unit and the direction that its format
//! does not tell, [`Revisions`] says which code it was, and [`Setting`] makes the report. All of it is
//! pure but for reading the files: the same files give the same reports, so that importing twice
//! stores nothing twice. Limits are in [`limits`]; every error names a file and a place in it.

mod format;
mod formats;
mod found;
mod inputs;
mod json;
mod meaning;
mod problem;
mod report;
mod revision;
mod source;
mod text;

pub use format::{Ask, Format};
pub use formats::mapping::Mapping;
pub use found::{FoundMetric, FoundPoint, FoundRun, Outcome, Tasks, Told};
pub use inputs::{Input, inputs};
pub use meaning::{Meaning, Pattern};
pub use problem::{Problem, Result};
pub use report::{Setting, machine_of};
pub use revision::{Given, Revisions};
pub use source::Source;

/// Limits of what is read, beside those of a report ([`wire::limits`]).
pub mod limits {
    /// Most bytes of one JSON document after decompression. Lines are read one at a time, and a file
    /// of them may be of any size.
    pub const JSON_BYTES: usize = 64 << 20;
    /// Most bytes of one line.
    pub const LINE_BYTES: usize = 1 << 20;
    /// Most values of one run, over all its points.
    pub const VALUES: usize = 4_000_000;
    /// Most files of a folder, and how deep they may lie.
    pub const FILES: usize = 1_000_000;
    /// Deepest folder below the one that was given.
    pub const DEPTH: usize = 32;
    /// Most revisions of a file of revisions.
    pub const REVISIONS: usize = 5_000_000;
}
