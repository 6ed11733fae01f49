//! The agent: takes jobs of this machine from the service, one at a time, and sees each to its end
//! whatever happens to the service, to this process or to the machine.
//!
//! How it works: (1) a claimed job goes to disk before anything is done for it; (2) for each turn
//! the machine's own prepare command installs or boots the revision, `run` measures it in a process
//! of its own, and the report goes into the spool, each step kept on disk when it is done; (3) a
//! second thread tells the service that the job is alive, and learns whether to stop; (4) the job is
//! over when the service holds its runs and was told so. An agent that starts finds the job on disk
//! and goes on with it.

mod doing;
mod given;
mod heart;
mod kept;
mod leftovers;
mod log;
mod prepare;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use wire::{Assignment, Claim, Claimed, Finish, job_limits};

use super::backoff::Backoff;
use super::{Answer, Client, Later, Patience, Refusal, Spool, StateDir, drain};
use doing::Ended;
use kept::Kept;

/// What this machine is set up to do; none of it comes from the service.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Program that installs or boots a revision, by project.
    pub prepare: BTreeMap<String, PathBuf>,
    /// Labels by which jobs find this machine.
    pub labels: Vec<String>,
    /// Directory on the file system under test.
    pub dir: Option<PathBuf>,
    /// Longest time that preparing takes.
    pub prepare_limit: Duration,
    /// Longest time that booting takes.
    pub boot_limit: Duration,
    /// The runner that measures.
    pub runner: PathBuf,
}

/// Why an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It did the one job it was to do; why that failed, if it did.
    Once(Option<String>),
    /// The service does not take the token.
    Unauthorised(Refusal),
}

/// An agent on this machine.
pub struct Agent<'a> {
    settings: Settings,
    client: &'a Client,
    machine: Option<String>,
    state: StateDir,
    spool: Spool,
    say: fn(&str),
    /// Held as long as the agent lives.
    _lock: File,
}

impl<'a> Agent<'a> {
    /// An agent with the jobs of this state folder. `machine` is the id the client's token is bound
    /// to, where that is known; `say` gets a line for each thing a person may want to know.
    ///
    /// # Errors
    /// When another agent holds the folder, or it cannot be written.
    pub fn new(
        settings: Settings,
        client: &'a Client,
        machine: Option<String>,
        state: StateDir,
        say: fn(&str),
    ) -> anyhow::Result<Agent<'a>> {
        let lock = kept::lock(&state)?;
        let spool = state.spool()?;
        Ok(Agent { settings, client, machine, state, spool, say, _lock: lock })
    }

    /// Works until it may not any more, or for one job. What was begun is gone on with first.
    ///
    /// # Errors
    /// When the state folder fails.
    pub fn work(&self, once: bool) -> anyhow::Result<Stopped> {
        let mut backoff = self.backoff();
        loop {
            let job = match Kept::load(&self.state)? {
                Some(kept) => {
                    (self.say)(&format!("going on with job {}", kept.job.id));
                    kept
                }
                None => match self.claim() {
                    Answer::Accepted(Claimed { job: Some(job) }) => {
                        backoff.reset();
                        self.take(job)?
                    }
                    Answer::Accepted(Claimed { job: None }) => {
                        backoff.reset();
                        self.send_spool()?;
                        continue;
                    }
                    Answer::Unauthorised(refusal) => return Ok(Stopped::Unauthorised(refusal)),
                    Answer::Refused(refusal) => bail!("the claim was refused: {refusal}"),
                    Answer::Later(Later { words, pause, .. }) => {
                        self.wait(&words, backoff.next_pause().max(pause.unwrap_or_default()));
                        continue;
                    }
                    Answer::Unreachable(words) => {
                        self.wait(&words, backoff.next_pause());
                        continue;
                    }
                },
            };
            let id = job.job.id;
            let failed = match self.see_through(job)? {
                Ended::Done => None,
                Ended::Failed(why) => Some(why),
                Ended::Stopped(why) => Some(why),
                Ended::Unauthorised(refusal) => return Ok(Stopped::Unauthorised(refusal)),
            };
            let words = failed.as_ref().map_or("done".into(), |why| format!("over: {why}"));
            (self.say)(&format!("job {id} {words}"));
            if once {
                return Ok(Stopped::Once(failed));
            }
        }
    }

    fn claim(&self) -> Answer<Claimed> {
        let claim = Claim {
            labels: self.settings.labels.clone(),
            projects: self.settings.prepare.keys().cloned().collect(),
            runner: env!("CARGO_PKG_VERSION").into(),
            wait_s: job_limits::WAIT_S,
        };
        self.post("/api/v1/jobs/claim", &claim)
    }

    fn take(&self, job: Assignment) -> anyhow::Result<Kept> {
        (self.say)(&format!("job {} of {}: claimed", job.id, job.project.name));
        let kept = Kept::new(job);
        kept.store(&self.state)?;
        Ok(kept)
    }

    fn post<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Answer<T> {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.client.post(path, &bytes),
            Err(error) => Answer::Unreachable(format!("cannot write JSON: {error}")),
        }
    }

    /// Sends what lies in the spool, once; what does not go through stays for the next time.
    fn send_spool(&self) -> anyhow::Result<super::Drained> {
        let once = Patience { rounds: Some(1), within: None };
        let machine = self.machine.as_deref();
        drain(&self.spool, self.client, machine, once, &mut |_| {}, &mut |line| (self.say)(line))
    }

    fn wait(&self, words: &str, pause: Duration) {
        (self.say)(&format!("{words}; trying again in {:.1} s", pause.as_secs_f64()));
        std::thread::sleep(pause);
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(uuid::Uuid::new_v4().as_u64_pair().0)
    }

    /// Tells the service that a job is over, until it heard it or does not want to.
    fn finish(&self, kept: &Kept, failed: Option<&str>) -> anyhow::Result<Option<Ended>> {
        let path = format!("/api/v1/jobs/{}/finish", kept.job.id);
        let said = Finish {
            lease: kept.job.lease.clone(),
            failed: failed.map(str::to_owned),
            runs: kept.runs.clone(),
            log: log::end_of(&Kept::log(&self.state)),
        };
        let mut backoff = self.backoff();
        loop {
            let (words, pause) = match self.post::<serde_json::Value>(&path, &said) {
                Answer::Accepted(_) => return Ok(None),
                Answer::Refused(refusal) => return Ok(Some(Ended::Stopped(refusal.to_string()))),
                Answer::Unauthorised(refusal) => return Ok(Some(Ended::Unauthorised(refusal))),
                Answer::Later(Later { words, pause, .. }) => (words, pause.unwrap_or_default()),
                Answer::Unreachable(words) => (words, Duration::ZERO),
            };
            self.wait(&words, backoff.next_pause().max(pause));
        }
    }
}

/// The executable of this process.
///
/// # Errors
/// When `/proc` does not say.
pub fn own_executable() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot tell which program this is")
}
