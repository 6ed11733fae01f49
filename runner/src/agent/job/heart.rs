//! The heart of a job: a thread that tells the service that the job is alive and how far it is, and
//! learns whether to stop. An outage of the service stops nothing.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wire::{Assignment, Heartbeat, HeartbeatAnswer, JobState, Progress};

use super::log;
use crate::agent::{Answer, Client, Refusal};

/// Pause after a heartbeat that did not go through.
const AGAIN: Duration = Duration::from_secs(2);

/// What is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Pulse {
    /// Preparing or running.
    pub state: JobState,
    /// How far it is.
    pub progress: Progress,
    /// The machine may be out of reach for so long.
    pub away: Option<Duration>,
}

/// Why to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The service said so, in words.
    Told(String),
    /// The service does not take the token.
    Unauthorised(Refusal),
}

/// Shared by the thread that works and the thread that tells.
pub struct Heart {
    inner: Mutex<Inner>,
    woken: Condvar,
}

struct Inner {
    pulse: Pulse,
    /// The pulse changed in a way that is told at once.
    news: bool,
    /// Pulses told so far.
    told: u64,
    stop: Option<Stop>,
    over: bool,
}

impl Heart {
    /// A heart that tells nothing yet.
    pub fn new() -> Heart {
        let pulse = Pulse { state: JobState::Claimed, progress: Progress::default(), away: None };
        let inner = Inner { pulse, news: true, told: 0, stop: None, over: false };
        Heart { inner: Mutex::new(inner), woken: Condvar::new() }
    }

    /// What is to be told from now on; a change of state, turn or words at once.
    pub fn set(&self, pulse: Pulse) {
        let mut inner = self.lock();
        let key = |pulse: &Pulse| {
            let progress = &pulse.progress;
            (pulse.state, progress.turns_done, progress.words.clone(), pulse.away)
        };
        if key(&inner.pulse) != key(&pulse) {
            inner.news = true;
            self.woken.notify_all();
        }
        inner.pulse = pulse;
    }

    /// Why to stop, if there is a reason.
    pub fn stop(&self) -> Option<Stop> {
        self.lock().stop.clone()
    }

    /// Waits until what was last set is told, at most this long: before the machine goes down.
    pub fn tell_now(&self, within: Duration) {
        let until = Instant::now() + within;
        let mut inner = self.lock();
        inner.news = true;
        let told = inner.told;
        self.woken.notify_all();
        while inner.told == told && inner.stop.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            inner = self.wait(inner, left);
        }
    }

    /// The thread ends.
    pub fn end(&self) {
        self.lock().over = true;
        self.woken.notify_all();
    }

    /// Tells until it is over or told to stop.
    pub fn beat(&self, client: &Client, job: &Assignment, log_file: PathBuf) {
        let path = format!("/api/v1/jobs/{}/heartbeat", job.id);
        let usual = Duration::from_secs(u64::from(job.heartbeat_s.max(1)));
        let mut last_log = None;
        loop {
            let pulse = {
                let mut inner = self.lock();
                if inner.over || inner.stop.is_some() {
                    return;
                }
                inner.news = false;
                inner.pulse.clone()
            };
            let log = log::end_of(&log_file);
            let beat = Heartbeat {
                lease: job.lease.clone(),
                state: pulse.state,
                progress: pulse.progress,
                log: log.clone().filter(|log| Some(log) != last_log.as_ref()),
                away_s: pulse.away.map(|away| away.as_secs() as u32),
            };
            let pause = match self.tell(client, &path, &beat) {
                true => {
                    last_log = log;
                    usual
                }
                false => AGAIN.min(usual),
            };
            self.rest(pause);
        }
    }

    /// Whether it went through.
    fn tell(&self, client: &Client, path: &str, beat: &Heartbeat) -> bool {
        let Ok(body) = serde_json::to_vec(beat) else { return false };
        let stop = match client.post::<HeartbeatAnswer>(path, &body) {
            Answer::Accepted(HeartbeatAnswer { stop: None }) => None,
            Answer::Accepted(HeartbeatAnswer { stop: Some(words) }) => Some(Stop::Told(words)),
            Answer::Refused(refusal) => Some(Stop::Told(refusal.to_string())),
            Answer::Unauthorised(refusal) => Some(Stop::Unauthorised(refusal)),
            Answer::Later(_) | Answer::Unreachable(_) => return false,
        };
        let mut inner = self.lock();
        inner.told += 1;
        inner.stop = stop;
        drop(inner);
        self.woken.notify_all();
        true
    }

    /// Until the next heartbeat is due.
    fn rest(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut inner = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || inner.news || inner.over || inner.stop.is_some() {
                return;
            }
            inner = self.wait(inner, left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, inner: MutexGuard<'a, Inner>, left: Duration) -> MutexGuard<'a, Inner> {
        self.woken.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0
    }
}
