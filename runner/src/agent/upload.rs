//! Sends the spool, oldest report first, and decides what stays.
//!
//! Accepted → removed. Refused for good → set aside with the reason, and on with the next. A wrong
//! token → everything stays and the sending stops, for the token is at fault and not the report.
//! No answer or "not now" → it stays and is tried again after a growing pause.

use std::time::{Duration, Instant};

use super::backoff::Backoff;
use super::{Answer, Client, Entry, Refusal, Spool};

/// How long to keep trying what the service does not take yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Most rounds over the spool; none for no limit.
    pub rounds: Option<u32>,
    /// Longest time in all; none for no limit.
    pub within: Option<Duration>,
}

/// Why sending ended with reports left in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The service does not take this token.
    Unauthorised(Refusal),
    /// No answer, or only "not now", for as long as patience lasted: the last one's words.
    Unreachable(String),
    /// Another uploader held the spool all the time.
    Busy,
}

/// What became of the spool.
#[derive(Debug, Default, PartialEq)]
pub struct Drained {
    /// Answers of the service, in the order of sending.
    pub accepted: Vec<wire::Accepted>,
    /// Runs set aside, and why.
    pub refused: Vec<(String, Refusal)>,
    /// Reports still in the spool.
    pub kept: usize,
    /// Why any are.
    pub stopped: Option<Stopped>,
}

impl Drained {
    fn settled(&self) -> usize {
        self.accepted.len() + self.refused.len()
    }
}

/// What to do after one report.
enum Next {
    Go,
    /// This one stays; the others may go through.
    Retry(String),
    /// Nothing will go through now.
    Pause(String, Option<Duration>),
    Stop(Refusal),
}

/// Sends everything in the spool. `machine` is the id the token is bound to, where that is known;
/// `pause` waits; `say` gets a line for each report set aside and each pause.
///
/// # Errors
/// When the spool itself cannot be read or written.
pub fn drain(
    spool: &Spool,
    client: &Client,
    machine: Option<&str>,
    patience: Patience,
    pause: &mut dyn FnMut(Duration),
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<Drained> {
    let mut waiting = Waiting::new(patience);
    let mut drained = Drained::default();
    let Some(_lock) = waiting.lock(spool, pause)? else {
        drained.kept = spool.list()?.len();
        drained.stopped = (drained.kept > 0).then_some(Stopped::Busy);
        return Ok(drained);
    };
    spool.sweep()?;
    loop {
        let settled = drained.settled();
        let round = round(spool, client, machine, &mut drained, say)?;
        drained.kept = spool.list()?.len();
        let (words, wish) = match round {
            Round::Over if drained.kept == 0 => return Ok(drained),
            Round::Over => continue,
            Round::Stopped(refusal) => {
                drained.stopped = Some(Stopped::Unauthorised(refusal));
                return Ok(drained);
            }
            Round::Again(words, wish) => (words, wish),
        };
        if drained.settled() > settled {
            waiting.backoff.reset();
        }
        let Some(length) = waiting.next_pause(wish) else {
            drained.stopped = Some(Stopped::Unreachable(words));
            return Ok(drained);
        };
        say(&format!("{words}; trying again in {:.1} s", length.as_secs_f64()));
        waiting.wait(length, pause);
    }
}

/// How one round over the spool ended.
enum Round {
    /// Every report that was listed is settled.
    Over,
    /// Something stays and may go through later: the last words, the longest pause asked for.
    Again(String, Option<Duration>),
    /// The token is at fault.
    Stopped(Refusal),
}

fn round(
    spool: &Spool,
    client: &Client,
    machine: Option<&str>,
    drained: &mut Drained,
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<Round> {
    let mut outcome = Round::Over;
    for entry in spool.list()? {
        match send(spool, client, machine, &entry, drained, say)? {
            Next::Go => {}
            Next::Retry(words) => outcome = Round::Again(words, None),
            Next::Pause(words, wish) => return Ok(Round::Again(words, wish)),
            Next::Stop(refusal) => return Ok(Round::Stopped(refusal)),
        }
    }
    Ok(outcome)
}

fn send(
    spool: &Spool,
    client: &Client,
    machine: Option<&str>,
    entry: &Entry,
    drained: &mut Drained,
    say: &mut dyn FnMut(&str),
) -> anyhow::Result<Next> {
    let bytes = match std::fs::read(&entry.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Next::Go),
        read => read?,
    };
    let answer = match readable(entry, &bytes, machine) {
        Ok(()) => client.post::<wire::Accepted>("/api/v1/runs", &bytes),
        Err(refusal) => Answer::Refused(refusal),
    };
    Ok(match answer {
        Answer::Accepted(accepted) if accepted.run == entry.run => {
            spool.remove(entry)?;
            drained.accepted.push(accepted);
            Next::Go
        }
        Answer::Accepted(accepted) => Next::Pause(
            format!("{} answered for run {} instead", client.server(), accepted.run),
            None,
        ),
        Answer::Refused(refusal) => {
            let aside = spool.refuse(entry, &refusal)?;
            say(&format!("refused: {refusal}; kept aside as {}", aside.display()));
            drained.refused.push((entry.run.clone(), refusal));
            Next::Go
        }
        Answer::Unauthorised(refusal) => Next::Stop(refusal),
        Answer::Later(later) if later.only_this => Next::Retry(later.words),
        Answer::Later(later) => Next::Pause(later.words, later.pause),
        Answer::Unreachable(words) => Next::Pause(words, None),
    })
}

/// What the runner can tell without the service: a file that is no report, or not of this machine.
fn readable(entry: &Entry, bytes: &[u8], machine: Option<&str>) -> Result<(), Refusal> {
    let refusal = |code: &str, detail: String, field: Option<String>| Refusal {
        status: None,
        code: code.into(),
        detail,
        field,
    };
    let report: wire::Report = serde_json::from_slice(bytes).map_err(|error| {
        refusal("unreadable_report", format!("the file is damaged: {error}"), None)
    })?;
    report
        .check()
        .map_err(|invalid| refusal("invalid_field", invalid.problem, Some(invalid.field)))?;
    if report.run != entry.run {
        let detail = format!("the file of run {} holds run {}", entry.run, report.run);
        return Err(refusal("wrong_run", detail, Some("run".into())));
    }
    match machine {
        Some(machine) if machine != report.machine.id => {
            let detail = format!(
                "measured on machine {}, but the token is bound to machine {machine}",
                report.machine.id
            );
            Err(refusal("wrong_machine", detail, Some("machine.id".into())))
        }
        _ => Ok(()),
    }
}

/// Patience while it is spent. Pauses count even when the caller's `pause` returns at once.
struct Waiting {
    patience: Patience,
    backoff: Backoff,
    began: Instant,
    paused: Duration,
    rounds: u32,
}

impl Waiting {
    fn new(patience: Patience) -> Waiting {
        let seed = uuid::Uuid::new_v4().as_u64_pair().0;
        Waiting {
            patience,
            backoff: Backoff::new(seed),
            began: Instant::now(),
            paused: Duration::ZERO,
            rounds: 1,
        }
    }

    fn wait(&mut self, length: Duration, pause: &mut dyn FnMut(Duration)) {
        pause(length);
        self.paused += length;
    }

    fn left(&self, within: Duration) -> Duration {
        within.saturating_sub(self.began.elapsed().max(self.paused))
    }

    /// The pause before the next round; none when patience is at its end.
    fn next_pause(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.patience.rounds.is_some_and(|rounds| self.rounds >= rounds) {
            return None;
        }
        self.rounds += 1;
        let pause = self.backoff.next_pause().max(asked.unwrap_or_default());
        match self.patience.within {
            Some(within) if self.left(within).is_zero() => None,
            Some(within) => Some(pause.min(self.left(within))),
            None => Some(pause),
        }
    }

    /// The uploaders' lock; none when another uploader kept it until patience was at its end.
    fn lock(
        &mut self,
        spool: &Spool,
        pause: &mut dyn FnMut(Duration),
    ) -> anyhow::Result<Option<std::fs::File>> {
        const LOOK_AGAIN: Duration = Duration::from_millis(100);
        const SHORT: Duration = Duration::from_secs(30);
        let within = match self.patience {
            Patience { within: Some(within), .. } => within,
            Patience { rounds: Some(_), .. } => SHORT,
            _ => Duration::MAX,
        };
        loop {
            if let Some(lock) = spool.try_lock()? {
                return Ok(Some(lock));
            }
            if self.left(within).is_zero() {
                return Ok(None);
            }
            self.wait(LOOK_AGAIN, pause);
        }
    }
}
