//! `agent`: do what the service asks of this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::upload::Address;
use super::{tell, values};
use crate::agent::StateDir;
use crate::agent::job::{Agent, Settings, Stopped, own_executable};
use crate::exit::{Ended, Exit};

/// Do the jobs that the service has for this machine, one at a time, for ever
///
/// For each revision of a job the prepare command of its project is called; it installs or boots
/// the revision and ends with 0 when it is in place, or with 75 after it has asked for a boot: the
/// agent goes on, and calls it again, when it is started next. Then the job's plan is measured and
/// the report uploaded. The state of a job is on disk: an agent that is killed or whose machine
/// boots goes on where it was. The service never sends a command.
#[derive(clap::Args)]
pub struct Args {
    /// Program that installs or boots a revision of a project; jobs of other projects are not taken
    ///
    /// It is called without arguments and finds in its environment `SCALEWATCH_PROJECT`, `_SUBJECT`,
    /// `_COMMIT`, `_BRANCH`, `_POSITION`, `_COMMITTED_AT`, `_PARENTS`, `_JOB`, `_TRY` (from 1 on), and
    /// in `SCALEWATCH_GIVEN` a file to write what runs of the revision need, a line each: `env
    /// NAME=VALUE`, `parameter NAME=VALUE` (it plays the code under test), `runner PROGRAM`, `dir PATH`.
    #[arg(long, value_name = "PROJECT=PROGRAM", value_parser = values::pair, required = true)]
    prepare: Vec<(String, String)>,
    /// A label by which jobs find this machine
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// Directory on the file system under test, where the prepare command gives none
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// Longest time that a prepare command may take
    #[arg(long, value_name = "TIME", default_value = "2h", value_parser = values::duration)]
    prepare_limit: Duration,
    /// Longest time that a boot may take: as long the service waits for this machine
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = values::duration)]
    boot_limit: Duration,
    /// End after one job
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    service: Address,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let most = Duration::from_secs(wire::job_limits::AWAY_S.into());
    ensure!(args.boot_limit <= most, "--boot-limit: must be at most {} s", most.as_secs());
    let mut prepare = BTreeMap::new();
    for (project, program) in &args.prepare {
        let path = std::path::absolute(program).context("cannot tell the current directory")?;
        ensure!(path.is_file(), "--prepare: {} is no file", path.display());
        let twice = prepare.insert(project.clone(), path).is_some();
        ensure!(!twice, "--prepare: {project} is given twice");
    }
    let state = StateDir::locate()?;
    let (client, machine) = args.service.client(&state)?;
    let settings = Settings {
        prepare,
        labels: args.label.clone(),
        dir: args.dir.clone(),
        prepare_limit: args.prepare_limit,
        boot_limit: args.boot_limit,
        runner: own_executable()?,
    };
    tell(&format!("waits for jobs of {}", client.server()));
    match Agent::new(settings, &client, machine, state, tell)?.work(args.once)? {
        Stopped::Once(None) => Ok(Exit::Done),
        Stopped::Once(Some(why)) => Err(Ended::with(Exit::MeasurementFailed, why)),
        Stopped::Unauthorised(refusal) => {
            let words = format!("{} does not take this token: {refusal}", client.server());
            Err(Ended::with(Exit::Refused, words))
        }
    }
}
