//! One job, turn by turn, from where it stands on disk to its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use wire::{JobState, Plan, Progress, Report, Revision, Subject};

use super::given::Given;
use super::heart::{Heart, Pulse, Stop};
use super::kept::Kept;
use super::leftovers::{self, MARK};
use super::prepare::{self, Said};
use super::{Agent, log};
use crate::agent::Refusal;

/// Pause between two looks at a process.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Pause between two looks into the log of a run, which must not disturb it.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// Pause between two attempts to send the job's reports.
const SEND_AGAIN: Duration = Duration::from_secs(2);

/// How long the service gets to hear that the machine goes down.
const FAREWELL: Duration = Duration::from_secs(10);

/// How a job ended for its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The service holds its runs.
    Done,
    /// It could not be done, and the service knows why.
    Failed(String),
    /// It is not wanted from this agent any more.
    Stopped(String),
    /// The service does not take the token; the job is kept.
    Unauthorised(Refusal),
}

/// Why a turn did not come to its end.
enum Broken {
    Failed(String),
    Stop(Stop),
}

type Turn<T> = anyhow::Result<Result<T, Broken>>;

impl Agent<'_> {
    /// Sees a job to its end and forgets it.
    ///
    /// # Errors
    /// When the state folder fails; the job is kept.
    pub(super) fn see_through(&self, mut kept: Kept) -> anyhow::Result<Ended> {
        leftovers::end(&kept.job.lease);
        let heart = Heart::new();
        let job = kept.job.clone();
        let log_file = Kept::log(&self.state);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| heart.beat(self.client, &job, log_file));
            let ended = self.do_turns(&mut kept, &heart);
            heart.end();
            ended
        });
        leftovers::end(&kept.job.lease);
        let ended = ended?;
        if !matches!(ended, Ended::Unauthorised(_)) {
            Kept::forget(&self.state)?;
        }
        Ok(ended)
    }

    fn do_turns(&self, kept: &mut Kept, heart: &Heart) -> anyhow::Result<Ended> {
        let broken = match &kept.failed {
            Some(why) => Some(Broken::Failed(why.clone())),
            None => self.measure_all(kept, heart)?.err(),
        };
        let failed = match broken {
            None => None,
            Some(Broken::Stop(Stop::Told(words))) => return Ok(Ended::Stopped(words)),
            Some(Broken::Stop(Stop::Unauthorised(refusal))) => {
                return Ok(Ended::Unauthorised(refusal));
            }
            Some(Broken::Failed(why)) => {
                kept.failed = Some(why.clone());
                kept.store(&self.state)?;
                Some(why)
            }
        };
        Ok(match self.finish(kept, failed.as_deref())? {
            Some(ended) => ended,
            None => failed.map_or(Ended::Done, Ended::Failed),
        })
    }

    fn measure_all(&self, kept: &mut Kept, heart: &Heart) -> Turn<()> {
        let mut in_place: Option<(usize, Given)> = None;
        while let Some((index, revision)) = kept.turn() {
            let revision = revision.clone();
            let given = match in_place.take().filter(|(prepared, _)| *prepared == index) {
                Some((_, given)) => given,
                None => match self.prepare(kept, &revision, heart)? {
                    Ok(given) => given,
                    Err(broken) => return Ok(Err(broken)),
                },
            };
            if let Err(broken) = self.measure(kept, &revision, &given, heart)? {
                return Ok(Err(broken));
            }
            in_place = Some((index, given));
            // What does not go through now is sent at the end.
            self.send_spool()?;
        }
        self.deliver(kept, heart)
    }

    /// Installs or boots the turn's revision.
    fn prepare(&self, kept: &mut Kept, revision: &Revision, heart: &Heart) -> Turn<Given> {
        let project = &kept.job.project.name;
        let Some(program) = self.settings.prepare.get(project) else {
            let words = format!("this machine has no prepare command for {project} any more");
            return Ok(Err(Broken::Failed(words)));
        };
        kept.prepare_tries += 1;
        kept.store(&self.state)?;
        if kept.prepare_tries > prepare::MOST_TRIES {
            let words = format!("not in place after {} tries", prepare::MOST_TRIES);
            return Ok(Err(Broken::Failed(words)));
        }
        let given = Kept::given(&self.state);
        crate::agent::remove(&given)?;
        let words = format!("preparing {:.10}", revision.commit);
        (self.say)(&words);
        let mut pulse = pulse(kept, JobState::Preparing, words);
        // The command may boot the machine at any time.
        pulse.away = Some(self.settings.boot_limit);
        heart.set(pulse);
        let log = self.open_log()?;
        let tries = (revision, kept.prepare_tries);
        let child = match prepare::start(program, &kept.job, tries, &given, &log) {
            Ok(child) => child,
            Err(error) => return Ok(Err(Broken::Failed(format!("{error:#}")))),
        };
        let limit = self.settings.prepare_limit;
        let status = match wait(child, heart, limit, &mut || {})? {
            Ok(Some(status)) => status,
            Ok(None) => {
                let words = format!("preparing took longer than {} s", limit.as_secs());
                return Ok(Err(Broken::Failed(words)));
            }
            Err(stop) => return Ok(Err(Broken::Stop(stop))),
        };
        match prepare::said(status) {
            Said::InPlace => {
                Ok(Given::read(&given).map_err(|error| Broken::Failed(format!("{error:#}"))))
            }
            Said::Boots => self.go_down(kept, heart),
            Said::No(words) => Ok(Err(Broken::Failed(self.with_last_line(words)))),
        }
    }

    /// Waits to be ended by the machine that goes down; whoever starts again calls the command anew.
    fn go_down(&self, kept: &Kept, heart: &Heart) -> Turn<Given> {
        (self.say)("the machine is about to boot");
        let mut pulse = pulse(kept, JobState::Preparing, "booting".into());
        pulse.away = Some(self.settings.boot_limit);
        heart.set(pulse);
        heart.tell_now(FAREWELL);
        let until = Instant::now() + self.settings.boot_limit;
        while Instant::now() < until {
            if let Some(stop) = heart.stop() {
                return Ok(Err(Broken::Stop(stop)));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        let limit = self.settings.boot_limit.as_secs();
        Ok(Err(Broken::Failed(format!("the machine did not go down within {limit} s"))))
    }

    /// Measures the turn's revision and puts the report into the spool.
    fn measure(
        &self,
        kept: &mut Kept,
        revision: &Revision,
        given: &Given,
        heart: &Heart,
    ) -> Turn<()> {
        let path = kept.report(&self.state);
        if !path.exists() {
            let words = format!("measuring {:.10}", revision.commit);
            (self.say)(&words);
            let pulse = pulse(kept, JobState::Running, words);
            heart.set(pulse.clone());
            let status = match self.run(kept, revision, given, heart, pulse)? {
                Ok(status) => status,
                Err(broken) => return Ok(Err(broken)),
            };
            // A point that failed is part of the report.
            if !path.exists() {
                let words = format!("the run ended with {status} and no report");
                return Ok(Err(Broken::Failed(self.with_last_line(words))));
            }
        }
        match read(&path, &kept.run).and_then(|report| self.spool.put(&report)) {
            Ok(_) => {}
            Err(error) => return Ok(Err(Broken::Failed(format!("{error:#}")))),
        }
        kept.turn_is_over();
        kept.store(&self.state)?;
        crate::agent::remove(&path)?;
        Ok(Ok(()))
    }

    fn run(
        &self,
        kept: &Kept,
        revision: &Revision,
        given: &Given,
        heart: &Heart,
        mut pulse: Pulse,
    ) -> Turn<ExitStatus> {
        let log = self.open_log()?;
        let begins = log.metadata().map_or(0, |meta| meta.len());
        let errors = log.try_clone().context("cannot share the log")?;
        let program = given.runner.as_ref().unwrap_or(&self.settings.runner);
        let started = Command::new(program)
            .args(self.arguments(kept, revision, given))
            .env("SCALEWATCH_RUNNER_STATE", self.state.place())
            .env(MARK, &kept.job.lease)
            .env_remove("SCALEWATCH_TOKEN")
            .envs(&given.env)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => {
                let words = format!("cannot start {}: {error}", program.display());
                return Ok(Err(Broken::Failed(words)));
            }
        };
        let path = Kept::log(&self.state);
        let mut last_read = Instant::now();
        let mut tell = || {
            if last_read.elapsed() < READ_AGAIN {
                return;
            }
            last_read = Instant::now();
            // Only what this run said.
            let grew = std::fs::metadata(&path).is_ok_and(|meta| meta.len() > begins);
            let found = log::end_of(&path).filter(|_| grew).and_then(|end| log::points_of(&end));
            if let Some((done, all)) = found {
                (pulse.progress.points_done, pulse.progress.points) = (done, all);
                heart.set(pulse.clone());
            }
        };
        Ok(match wait(child, heart, Duration::MAX, &mut tell)? {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err(Broken::Failed("the run took for ever".into())),
            Err(stop) => Err(Broken::Stop(stop)),
        })
    }

    /// The arguments of `run`; values stand behind a `=`, so that none is taken for an option.
    fn arguments(&self, kept: &Kept, revision: &Revision, given: &Given) -> Vec<String> {
        let mut arguments = vec!["run".to_owned()];
        let mut add = |name: &str, value: &str| arguments.push(format!("--{name}={value}"));
        let plan = &kept.job.plan;
        plan_arguments(plan, &mut add);
        if let Some((key, value)) = &given.parameter {
            add("subject-param", key);
            add("parameter", &format!("{key}={value}"));
        }
        if let Some(dir) = given.dir.as_ref().or(self.settings.dir.as_ref()) {
            add("dir", &dir.display().to_string());
        }
        add("json", &kept.report(&self.state).display().to_string());
        add("run-id", &kept.run);
        add("project", &kept.job.project.name);
        add(
            "subject",
            match kept.job.project.subject {
                Subject::Kernel => "kernel",
                Subject::Program => "program",
                Subject::Model => "model",
            },
        );
        add("commit", &revision.commit);
        add("branch", &revision.branch);
        add("message", &revision.subject);
        if let Some(position) = revision.position {
            add("position", &position.to_string());
        }
        if let Some(at) = &revision.committed_at {
            add("committed-at", at);
        }
        if !revision.parents.is_empty() {
            add("parents", &revision.parents.join(","));
        }
        if plan.controls == Some(false) {
            arguments.push("--no-controls".into());
        }
        arguments.push("--".into());
        arguments.extend(plan.workloads.iter().cloned());
        arguments
    }

    /// Sends until the service holds every run of the job.
    fn deliver(&self, kept: &Kept, heart: &Heart) -> Turn<()> {
        let words = "sending its reports";
        heart.set(pulse(kept, JobState::Running, words.into()));
        loop {
            let drained = self.send_spool()?;
            let ours = |run: &&(String, Refusal)| kept.runs.contains(&run.0);
            if let Some((_, refusal)) = drained.refused.iter().find(ours) {
                let words = format!("the service refused its report: {refusal}");
                return Ok(Err(Broken::Failed(words)));
            }
            let waiting = self.spool.list()?;
            if !waiting.iter().any(|entry| kept.runs.contains(&entry.run)) {
                return Ok(Ok(()));
            }
            let until = Instant::now() + SEND_AGAIN;
            while Instant::now() < until {
                if let Some(stop) = heart.stop() {
                    return Ok(Err(Broken::Stop(stop)));
                }
                std::thread::sleep(LOOK_AGAIN);
            }
        }
    }

    fn open_log(&self) -> anyhow::Result<File> {
        let path = Kept::log(&self.state);
        let open = File::options().create(true).append(true).open(&path);
        open.with_context(|| format!("cannot write {}", path.display()))
    }

    fn with_last_line(&self, words: String) -> String {
        let log = log::end_of(&Kept::log(&self.state)).unwrap_or_default();
        match log::last_line(&log) {
            Some(line) => format!("{words}: {:.500}", line),
            None => words,
        }
    }
}

fn plan_arguments(plan: &Plan, add: &mut dyn FnMut(&str, &str)) {
    for (name, value) in
        [("tasks", &plan.tasks), ("mode", &plan.mode), ("placement", &plan.placement)]
    {
        value.iter().for_each(|value| add(name, value));
    }
    for (key, value) in &plan.parameters {
        add("parameter", &format!("{key}={value}"));
    }
    for (key, values) in &plan.sweep {
        add("param-sweep", &format!("{key}={}", values.join(",")));
    }
    for (name, value) in [("windows", plan.windows), ("warmup", plan.warmup)] {
        value.iter().for_each(|value| add(name, &value.to_string()));
    }
    plan.window_ms.iter().for_each(|ms| add("window", &format!("{ms}ms")));
}

fn pulse(kept: &Kept, state: JobState, words: String) -> Pulse {
    let turns_done = kept.runs.len() as u32;
    let progress = Progress { turns_done, points_done: 0, points: 0, words };
    Pulse { state, progress, away: None }
}

/// The report that `run` wrote.
fn read(path: &Path, run: &str) -> anyhow::Result<Report> {
    let name = PathBuf::from(path.file_name().unwrap_or_default());
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", name.display()))?;
    let report: Report = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report", name.display()))?;
    ensure!(report.run == run, "the report is of run {}, not {run}", report.run);
    Ok(report)
}

/// Waits for the end of a process; it is ended when the heart says stop or the time is over (none).
fn wait(
    mut child: Child,
    heart: &Heart,
    limit: Duration,
    look: &mut dyn FnMut(),
) -> anyhow::Result<Result<Option<ExitStatus>, Stop>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a process")? {
            return Ok(Ok(Some(status)));
        }
        let stop = heart.stop();
        if stop.is_some() || began.elapsed() >= limit {
            let _ = child.kill();
            child.wait().context("cannot wait for a process")?;
            return Ok(stop.map_or(Ok(None), Err));
        }
        look();
        std::thread::sleep(LOOK_AGAIN);
    }
}
