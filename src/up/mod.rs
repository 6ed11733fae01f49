//! `scalewatch up`: everything on one machine, and the main job done on it for real.
//!
//! Starts the service on a private Postgres, enrols this machine, lets the runner measure a little
//! history of revisions, and says which regression was found and who was told. What was measured
//! before is not measured again; the table of base against head always is.

mod enrol;
mod history;
mod outcome;
mod runner;
mod service;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::config::Config;
use crate::db;
use crate::model::{Machine, Run, Visible};
use history::Revision;
use runner::{Effort, Runner};
use service::Service;

/// More runs than the history has revisions, however often some of it was measured.
const RUNS: i64 = 10_000;
/// Interleaved pairs of base and head.
const PAIRS: u32 = 4;

/// Options of `up`.
#[derive(Debug, Args)]
pub struct Up {
    /// Stop when the main job is done instead of going on serving
    #[arg(long)]
    once: bool,
    /// Serve only: measure nothing
    #[arg(long, conflicts_with = "once")]
    no_measure: bool,
    /// Address to listen on, instead of `SCALEWATCH_LISTEN`
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<std::net::SocketAddr>,
    /// Windows of a point
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    windows: u32,
    /// Milliseconds of a window
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=60_000))]
    window_ms: u32,
}

impl Up {
    /// Runs to the end: the main job's with `--once`, else until told to stop.
    ///
    /// # Errors
    /// What could not be started, measured or stopped.
    pub async fn run(self, mut config: Config) -> Result<()> {
        let mut stop = pin!(crate::cli::stop_signal()?);
        if let Some(listen) = self.listen {
            service::listen_on(&mut config, listen);
        }
        let mut service = Service::start(config).await?;
        say(format!("data       {}", service.data.path().display()));
        say(format!("database   {}", service.database()));
        say(format!("dashboard  {}", service.app.config.public_url));
        say(format!("accounts   {}", accounts_words(service.app.config.local_owner)));
        let done = tokio::select! {
            done = self.main_job(&service) => done.map(|()| true),
            () = &mut stop => Ok(false),
        };
        if matches!(done, Ok(true)) && !self.once {
            service.start_worker();
            say(format!("Serving {} until Ctrl-C.", service.app.config.public_url));
            stop.await;
        }
        let stopped = service.stop().await;
        done.and(stopped)
    }

    async fn main_job(&self, service: &Service) -> Result<()> {
        if self.no_measure {
            return Ok(());
        }
        let runner = Runner::find(service.data.path())?;
        let machine = enrol::enrol(&service.app, &runner, &service.address)
            .await
            .context("enrolling this machine")?;
        say(format!("machine    {} ({})", machine.name, machine.public_id));
        let tasks = history::task_counts(std::thread::available_parallelism()?.get());
        runner.send_spool().await.context("sending what was measured before")?;
        self.measure_history(service, &runner, &machine, &tasks).await?;
        self.compare_now(&runner, &tasks).await?;
        service.worker.run_until_idle().await.context("judging the history")?;
        let regressions = outcome::regressions(&service.app).await?;
        say(format!("\n{}", outcome::words(&regressions, &service.app.config.public_url)));
        Ok(())
    }

    async fn measure_history(
        &self,
        service: &Service,
        runner: &Runner,
        machine: &Machine,
        tasks: &[usize],
    ) -> Result<()> {
        let revisions = history::revisions();
        let measured = measured(service, machine).await?;
        let missing: Vec<&Revision> =
            revisions.iter().filter(|revision| !measured.contains(&revision.commit)).collect();
        let per_revision = self.effort().of_point() * u32::try_from(tasks.len())?;
        say(format!(
            "\nHistory of project {}: {} revisions, {} to be measured",
            history::PROJECT,
            revisions.len(),
            missing.len()
        ));
        for (done, revision) in missing.iter().enumerate() {
            let left = per_revision * u32::try_from(missing.len() - done)?;
            let (nth, subject) = (done + 1, &revision.subject);
            say(format!(
                "  {nth:>2} of {}, {:>3} s left: {subject}",
                missing.len(),
                left.as_secs()
            ));
            runner
                .measure(revision, tasks, self.effort())
                .await
                .with_context(|| format!("measuring revision {}", revision.position))?;
        }
        if let Some((first, last)) = span(&runs(service, machine).await?) {
            say(format!("The history was measured on this machine from {first} to {last} UTC."));
        }
        Ok(())
    }

    async fn compare_now(&self, runner: &Runner, tasks: &[usize]) -> Result<()> {
        for model in &history::MODELS {
            say(format!(
                "\n{}: {} against {}, measured now in {PAIRS} interleaved pairs\n",
                model.workload, model.good, model.bad
            ));
            let table = runner
                .compare(model, tasks, self.effort(), PAIRS)
                .await
                .with_context(|| format!("comparing the variants of {}", model.workload))?;
            say(table.trim_end());
        }
        Ok(())
    }

    fn effort(&self) -> Effort {
        Effort { windows: self.windows, window: Duration::from_millis(u64::from(self.window_ms)) }
    }
}

fn accounts_words(local_owner: bool) -> &'static str {
    match local_owner {
        true => "none needed: only this machine reaches the dashboard",
        false => "others reach this address: `scalewatch admin user add` adds who may decide",
    }
}

/// Commits of the history that this machine has runs of.
async fn measured(service: &Service, machine: &Machine) -> Result<BTreeSet<String>> {
    Ok(runs(service, machine).await?.into_iter().map(|run| run.commit).collect())
}

/// Runs of the history on this machine.
async fn runs(service: &Service, machine: &Machine) -> Result<Vec<Run>> {
    let Some(project) = db::project::find_by_name(&service.app.db, history::PROJECT).await? else {
        return Ok(Vec::new());
    };
    let filter = db::run::Filter {
        machine: Some(machine.id),
        project: Some(project.id),
        ..db::run::Filter::default()
    };
    let runs = db::run::list(&service.app.db, &Visible::ALL, &filter, RUNS).await?;
    let commits: BTreeSet<String> =
        history::revisions().into_iter().map(|revision| revision.commit).collect();
    Ok(runs.into_iter().filter(|run| commits.contains(&run.commit)).collect())
}

/// When the first of these runs began and the last ended.
fn span(runs: &[Run]) -> Option<(String, String)> {
    let first = runs.iter().map(|run| run.started_at).min()?;
    let last = runs.iter().map(|run| run.finished_at).max()?;
    Some((minute(first), minute(last)))
}

fn minute(at: time::OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC);
    format!("{} {:02}:{:02}", at.date(), at.hour(), at.minute())
}

/// A line for the person at the terminal. One who has gone away misses it.
fn say(words: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{words}").and_then(|()| out.flush());
}
