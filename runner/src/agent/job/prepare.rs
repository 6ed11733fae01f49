//! The machine's own command that installs or boots a revision. The service never sends one; it is
//! given the revision in its environment and says by its exit what became of it.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::Context;
use wire::{Assignment, Revision, Subject};

use super::leftovers::MARK;

/// The exit of a prepare command that has asked for a boot: call me again when the machine is up.
pub const BOOTS: i32 = 75;

/// How often a revision is tried to be prepared, over boots.
pub const MOST_TRIES: u32 = 5;

/// What a prepare command's exit means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The revision is in place.
    InPlace,
    /// The machine is about to boot into it.
    Boots,
    /// It cannot be had.
    No(String),
}

/// Starts the command. `given` is the file into which it may write what runs of the revision need.
///
/// # Errors
/// When it cannot be started.
pub fn start(
    program: &Path,
    job: &Assignment,
    (revision, tries): (&Revision, u32),
    given: &Path,
    log: &File,
) -> anyhow::Result<Child> {
    let subject = match job.project.subject {
        Subject::Kernel => "kernel",
        Subject::Program => "program",
        Subject::Model => "model",
    };
    let position = revision.position.map_or(String::new(), |position| position.to_string());
    let both = || Ok::<_, std::io::Error>((log.try_clone()?, log.try_clone()?));
    let (out, errors) = both().context("cannot share the log")?;
    Command::new(program)
        .env(MARK, &job.lease)
        .env("SCALEWATCH_JOB", job.id.to_string())
        .env("SCALEWATCH_PROJECT", &job.project.name)
        .env("SCALEWATCH_SUBJECT", subject)
        .env("SCALEWATCH_COMMIT", &revision.commit)
        .env("SCALEWATCH_BRANCH", &revision.branch)
        .env("SCALEWATCH_POSITION", position)
        .env("SCALEWATCH_COMMITTED_AT", revision.committed_at.as_deref().unwrap_or_default())
        .env("SCALEWATCH_PARENTS", revision.parents.join(" "))
        .env("SCALEWATCH_TRY", tries.to_string())
        .env("SCALEWATCH_GIVEN", given)
        .env_remove("SCALEWATCH_TOKEN")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(errors)
        .spawn()
        .with_context(|| format!("cannot start the prepare command {}", program.display()))
}

/// What an exit means.
pub fn said(status: ExitStatus) -> Said {
    match status.code() {
        Some(0) => Said::InPlace,
        Some(BOOTS) => Said::Boots,
        _ => Said::No(format!("the prepare command ended with {status}")),
    }
}
