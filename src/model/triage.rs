//! Where an incident stands, and the ways from one state to another: by people and by data.

use serde::{Deserialize, Serialize};

use super::IncidentId;

/// Where an incident stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has looked at it yet.
    New,
    /// Somebody takes care of it.
    Acknowledged,
    /// Somebody is sure of it.
    Confirmed,
    /// Somebody says that it is none, for a [`Reason`].
    Invalid,
    /// It is one, and stays.
    WontFix,
    /// A revision is said to have undone it.
    Fixed,
    /// It was closed, and asks for attention again.
    Reopened,
    /// Later revisions are back at the level before it.
    Returned,
    /// Late data disproved every step of it.
    Retracted,
    /// Late data showed it to be another incident's.
    Merged,
}

impl State {
    /// Every state.
    pub const ALL: [State; 10] = [
        State::New,
        State::Acknowledged,
        State::Confirmed,
        State::Invalid,
        State::WontFix,
        State::Fixed,
        State::Reopened,
        State::Returned,
        State::Retracted,
        State::Merged,
    ];

    /// The states in which it asks for attention.
    pub const OPEN: [State; 4] =
        [State::New, State::Reopened, State::Acknowledged, State::Confirmed];

    /// The states in which people, or revisions that brought the level back, closed it.
    pub const SETTLED: [State; 4] = [State::Invalid, State::WontFix, State::Fixed, State::Returned];

    /// The word in the database, in addresses and in answers.
    pub const fn word(self) -> &'static str {
        match self {
            State::New => "new",
            State::Acknowledged => "acknowledged",
            State::Confirmed => "confirmed",
            State::Invalid => "invalid",
            State::WontFix => "wont_fix",
            State::Fixed => "fixed",
            State::Reopened => "reopened",
            State::Returned => "returned",
            State::Retracted => "retracted",
            State::Merged => "merged",
        }
    }

    /// As said to people.
    pub const fn title(self) -> &'static str {
        match self {
            State::WontFix => "won’t fix",
            other => other.word(),
        }
    }

    /// The state with this word.
    pub fn parse(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether it asks for attention.
    pub fn is_open(self) -> bool {
        State::OPEN.contains(&self)
    }

    /// Whether people closed it: then only people open it again.
    pub const fn is_closed_by_people(self) -> bool {
        matches!(self, State::Invalid | State::WontFix | State::Fixed)
    }

    /// Where people may take it from here. What data retracted or merged is for data to bring back.
    pub const fn choices(self) -> &'static [State] {
        use State::{Acknowledged, Confirmed, Fixed, Invalid, Reopened, WontFix};
        match self {
            State::New | State::Reopened => &[Acknowledged, Confirmed, Fixed, WontFix, Invalid],
            State::Acknowledged => &[Confirmed, Fixed, WontFix, Invalid],
            State::Confirmed => &[Fixed, WontFix, Invalid],
            State::Invalid | State::WontFix | State::Fixed | State::Returned => &[Reopened],
            State::Retracted | State::Merged => &[],
        }
    }
}

/// Why an incident is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = InvalidReason)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The same code measures both: its size counts for the noise floor from now on.
    Noise,
    /// Something around the code changed that the environment does not record.
    Environment,
    /// The workload itself changed or is at fault.
    Workload,
    /// The machine or the harness was at fault.
    Measurement,
    /// It is what the change was for.
    Intended,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 5] = [
        Reason::Noise,
        Reason::Environment,
        Reason::Workload,
        Reason::Measurement,
        Reason::Intended,
    ];

    /// The word in the database, in addresses and shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Reason::Noise => "noise",
            Reason::Environment => "environment",
            Reason::Workload => "workload",
            Reason::Measurement => "measurement",
            Reason::Intended => "intended",
        }
    }

    /// The reason with this word.
    pub fn parse(word: &str) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.word() == word)
    }
}

/// Where an incident goes, with what belongs to that state. The other ways are no values of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A state that needs nothing beside it.
    Plain(State),
    /// None, for this reason.
    Invalid(Reason),
    /// Fixed by this commit.
    Fixed(String),
    /// Taken over by this incident.
    Merged(IncidentId),
}

impl Target {
    /// The state.
    pub const fn state(&self) -> State {
        match self {
            Target::Plain(state) => *state,
            Target::Invalid(_) => State::Invalid,
            Target::Fixed(_) => State::Fixed,
            Target::Merged(_) => State::Merged,
        }
    }

    /// The reason, where it is invalid.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Target::Invalid(reason) => Some(*reason),
            _ => None,
        }
    }

    /// The commit, where it is fixed.
    pub fn fixed_by(&self) -> Option<&str> {
        match self {
            Target::Fixed(commit) => Some(commit),
            _ => None,
        }
    }

    /// The incident that takes over.
    pub const fn merged_into(&self) -> Option<IncidentId> {
        match self {
            Target::Merged(incident) => Some(*incident),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_and_reason_is_read_back_from_its_word() {
        for state in State::ALL {
            assert_eq!(State::parse(state.word()), Some(state));
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.word()), Some(reason));
        }
    }

    #[test]
    fn what_people_closed_they_can_reopen_and_nothing_becomes_itself() {
        for state in State::ALL {
            assert!(!state.choices().contains(&state), "{state:?}");
            if state.is_closed_by_people() {
                assert_eq!(state.choices(), [State::Reopened], "{state:?}");
            }
            assert_eq!(state.is_open(), state.choices().len() > 1, "{state:?}");
        }
    }
}
