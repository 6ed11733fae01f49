//! Jobs: measurements that were asked for, and the agents that do them.

use serde::Serialize;
use time::OffsetDateTime;

pub use wire::JobState;

use super::{IncidentId, JobId, MachineId, ProjectId, RunId};

/// How often a job is claimed before it is given up: a machine that dies of it would die for ever.
pub const MOST_ATTEMPTS: i32 = 3;

/// Longest time from claim to end where nobody says otherwise, seconds.
pub const USUAL_LIMIT_S: u32 = 86_400;

/// A job as stored; its log left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Row, and its address.
    pub id: JobId,
    /// Whose code.
    pub project: ProjectId,
    /// The project's name.
    pub project_name: String,
    /// What the project tests.
    pub subject: wire::Subject,
    /// What to measure.
    pub plan: wire::Plan,
    /// Revisions; of two the first is the base.
    pub revisions: Vec<wire::Revision>,
    /// Index of the revision of each turn.
    pub turns: Vec<i32>,
    /// The machine that has or had it, else the one it is for.
    pub machine: Option<MachineId>,
    /// Its id in addresses.
    pub machine_public_id: Option<String>,
    /// Its name.
    pub machine_name: Option<String>,
    /// Label of the machines it is for.
    pub label: Option<String>,
    /// The higher goes first within the project.
    pub priority: i32,
    /// Of no use later.
    pub deadline: Option<OffsetDateTime>,
    /// Longest time from claim to end, seconds.
    pub limit_s: i32,
    /// Where it stands.
    pub state: JobState,
    /// Why it failed, was cancelled, timed out or went back into the queue.
    pub reason: Option<String>,
    /// How often it was claimed.
    pub attempts: i32,
    /// How far it is.
    pub progress: wire::Progress,
    /// The incident whose suspect it measures again.
    pub incident: Option<IncidentId>,
    /// Who asked for it.
    pub submitted_by: String,
    /// When.
    pub created_at: OffsetDateTime,
    /// When it was last claimed.
    pub claimed_at: Option<OffsetDateTime>,
    /// When it was over.
    pub ended_at: Option<OffsetDateTime>,
    /// Runs that came of it, in order of the turns.
    pub runs: Vec<RunId>,
}

impl Job {
    /// `turn 2 of 6, 3 of 8 points`; what is done just now where that is said.
    pub fn progress_words(&self) -> String {
        let (at, turns) = (self.progress.turns_done as usize, self.turns.len());
        let mut words = match self.state {
            JobState::Queued => return "waits".into(),
            state if state.is_ended() => format!("{at} of {turns} turns"),
            _ => format!("turn {} of {turns}", (at + 1).min(turns)),
        };
        if self.state == JobState::Running && self.progress.points > 0 {
            words += &format!(", {} of {} points", self.progress.points_done, self.progress.points);
        }
        words
    }

    /// The revision of a turn.
    pub fn revision_of(&self, turn: usize) -> Option<&wire::Revision> {
        self.revisions.get(usize::try_from(*self.turns.get(turn)?).ok()?)
    }
}

/// The turns of so many runs of each revision: one revision alone, or base and head ABBA.
pub fn turns(revisions: usize, runs: u32) -> Vec<i32> {
    match revisions {
        0 | 1 => vec![0; runs as usize],
        _ => (0..runs).flat_map(|pair| if pair % 2 == 0 { [0, 1] } else { [1, 0] }).collect(),
    }
}

/// What a machine's agent said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Where it runs.
    pub machine: MachineId,
    /// Labels the machine carries.
    pub labels: Vec<String>,
    /// Projects whose revisions it can prepare.
    pub projects: Vec<String>,
    /// Version of the runner.
    pub runner: String,
    /// When it was last heard of.
    pub seen_at: OffsetDateTime,
}

/// What measuring a suspect again came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, utoipa::ToSchema)]
#[schema(as = ConfirmationOutcome)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The change is there again.
    Confirmed,
    /// It is not.
    Refuted,
    /// Both revisions could not be measured again, or not well enough.
    NotRerun,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 3] = [Outcome::Confirmed, Outcome::Refuted, Outcome::NotRerun];

    /// The word in the database and in answers.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Refuted => "refuted",
            Outcome::NotRerun => "not_rerun",
        }
    }

    /// The outcome with this word.
    pub fn parse(word: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

/// Whether a suspect was measured again, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// The incident.
    pub incident: IncidentId,
    /// The job that measures it; none where no agent could.
    pub job: Option<JobId>,
    /// None while the job is at work.
    pub outcome: Option<Outcome>,
    /// In a sentence.
    pub words: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_revisions_take_turns_and_the_one_that_begins_changes() {
        assert_eq!(turns(1, 3), [0, 0, 0]);
        assert_eq!(turns(2, 1), [0, 1]);
        assert_eq!(turns(2, 3), [0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn every_outcome_is_read_back_from_its_word() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.word()), Some(outcome));
        }
        for state in JobState::ALL {
            assert_eq!(JobState::parse(state.word()), Some(state));
            let kinds = [state == JobState::Queued, state.is_live(), state.is_ended()];
            assert_eq!(kinds.into_iter().filter(|kind| *kind).count(), 1, "{state:?}");
        }
    }
}
