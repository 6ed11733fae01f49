//! What `import` is told.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::import::Format;
use crate::model::revision::parse_subject;

#[derive(Debug, clap::Args)]
pub struct Import {
    /// What the files are
    #[arg(value_enum, value_name = "FORMAT")]
    pub(super) format: Format,
    /// Files or folders; each file is a run, unless its format holds several
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub(super) paths: Vec<PathBuf>,
    /// Read and check everything, and say what would be stored
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) whose: Whose,
    #[command(flatten)]
    pub(super) code: Code,
    #[command(flatten)]
    pub(super) what: What,
    #[command(flatten)]
    pub(super) table: TableOptions,
}

/// Where it ran, and whose code.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Machine and project")]
pub(super) struct Whose {
    /// Id or name of a registered machine
    #[arg(long, required_unless_present = "machine_file", conflicts_with = "machine_file")]
    pub(super) machine: Option<String>,
    /// A machine as `scalewatch-runner machine --json` prints it, or `{"name", "identity"}`;
    /// registered when it is not
    #[arg(long, value_name = "FILE")]
    pub(super) machine_file: Option<PathBuf>,
    /// Name of the project
    #[arg(long)]
    pub(super) project: String,
    /// What a new project tests: kernel, program or model
    #[arg(long, value_parser = subject)]
    pub(super) subject: Option<wire::Subject>,
    /// When it was measured, RFC 3339, where the files do not say; else the committer time
    #[arg(long, value_name = "TIME", value_parser = time_of)]
    pub(super) measured_at: Option<OffsetDateTime>,
    /// A fact of the environment, e.g. kernel.release=6.9.0
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) environment: Vec<(String, String)>,
}

/// Which code ran.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Revision")]
pub(super) struct Code {
    /// Commit of everything that is imported; with --revisions, any name in there
    #[arg(long, conflicts_with = "by_revision")]
    pub(super) commit: Option<String>,
    /// Each file, or each entry of a folder, is named for its revision
    #[arg(long)]
    pub(super) by_revision: bool,
    /// The branch's history, oldest first, as
    /// `git log --first-parent --reverse --format='%H%x09%cI%x09%D%x09%s'` prints it
    #[arg(long, value_name = "FILE")]
    pub(super) revisions: Option<PathBuf>,
    /// Branch; main when left out
    #[arg(long)]
    pub(super) branch: Option<String>,
    /// Position of the commit in the branch's first-parent order
    #[arg(long, requires = "commit")]
    pub(super) position: Option<i64>,
    /// Committer time, RFC 3339
    #[arg(long, value_name = "TIME", requires = "commit", value_parser = checked_time)]
    pub(super) committed_at: Option<String>,
    /// First line of the commit message
    #[arg(long, value_name = "TEXT", requires = "commit")]
    pub(super) message: Option<String>,
}

/// What the results are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Workloads and metrics")]
pub(super) struct What {
    /// Name of the workload, in place of the file's
    #[arg(long, value_name = "NAME")]
    pub(super) workload: Option<String>,
    /// Tasks where the files do not tell
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(wire::limits::TASKS)))]
    pub(super) tasks: u32,
    /// The parameter that is the number of tasks
    #[arg(long, value_name = "PARAMETER")]
    pub(super) tasks_from: Option<String>,
    /// Unit of a metric that the format does not tell; NAME may end in *
    #[arg(long = "unit", value_name = "NAME=UNIT")]
    pub(super) units: Vec<String>,
    /// Which way of it is better, where the format does not tell: higher or lower
    #[arg(long = "direction", value_name = "NAME=WAY")]
    pub(super) directions: Vec<String>,
    /// Leave a metric out; NAME may end in *
    #[arg(long = "skip", value_name = "NAME")]
    pub(super) skipped: Vec<String>,
}

/// What only some formats have.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Single formats")]
pub(super) struct TableOptions {
    /// csv, ndjson: what a column is, e.g. workload=test or metric.ops=rate
    #[arg(long = "map", value_name = "FIELD=COLUMN")]
    pub(super) maps: Vec<String>,
    /// csv: what stands between columns
    #[arg(long, default_value = ",", value_parser = delimiter)]
    pub(super) delimiter: u8,
    /// phoronix: the one system to import
    #[arg(long, value_name = "SYSTEM")]
    pub(super) column: Option<String>,
    /// criterion: the measurement to import; new when left out
    #[arg(long, value_name = "NAME")]
    pub(super) baseline: Option<String>,
}

fn subject(word: &str) -> Result<wire::Subject> {
    parse_subject(word).context("is none of kernel, program, model")
}

fn time_of(text: &str) -> Result<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).context("is not a time like 2026-03-01T12:00:00Z")
}

fn checked_time(text: &str) -> Result<String> {
    time_of(text).map(|_| text.to_owned())
}

fn pair(text: &str) -> Result<(String, String)> {
    let (key, value) = text.split_once('=').context("is not KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [one] if one.is_ascii() && !matches!(one, b'"' | b'\r' | b'\n') => Ok(*one),
        _ if text == "\\t" => Ok(b'\t'),
        _ => bail!("is not one character"),
    }
}
