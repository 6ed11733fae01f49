//! How often incidents were right, from what people said of them.

use serde::Serialize;

/// Incidents that somebody must have called confirmed or invalid before a share is said.
pub const ENOUGH: u64 = 5;

/// What incidents are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = QualityGroup)]
pub enum Group {
    /// Not at all.
    All,
    /// The rule that found their steps.
    Rule,
    /// Where their steps were found.
    Machine,
    /// What their steps are of.
    Workload,
}

impl Group {
    /// Every one, in the order shown.
    pub const ALL: [Group; 4] = [Group::All, Group::Rule, Group::Machine, Group::Workload];

    /// The word in answers.
    pub const fn word(self) -> &'static str {
        match self {
            Group::All => "all",
            Group::Rule => "rule",
            Group::Machine => "machine",
            Group::Workload => "workload",
        }
    }

    /// The group with this word.
    pub fn parse(word: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.word() == word)
    }
}

/// Incidents that have something in common, counted by what people said of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// What they are counted by.
    pub group: Group,
    /// `level` or `law`, the id of a machine, the id of a workload; empty for all.
    pub key: String,
    /// Name of the machine; empty for the others.
    pub name: String,
    /// Called confirmed, fixed or won't fix.
    pub confirmed: u64,
    /// Called invalid.
    pub invalid: u64,
    /// All, those that nobody said anything of included.
    pub incidents: u64,
}

impl Tally {
    /// Those of which people said what they are.
    pub fn decided(&self) -> u64 {
        self.confirmed + self.invalid
    }

    /// Those of which nobody said what they are.
    pub fn undecided(&self) -> u64 {
        self.incidents.saturating_sub(self.decided())
    }

    /// confirmed ÷ (confirmed + invalid), 0 to 1; none below [`ENOUGH`].
    pub fn precision(&self) -> Option<f64> {
        let decided = self.decided();
        (decided >= ENOUGH).then(|| self.confirmed as f64 / decided as f64)
    }

    /// As said to people: what it is of.
    pub fn title(&self) -> &str {
        match (self.group, self.key.as_str()) {
            (Group::All, _) => "all incidents",
            (Group::Rule, "law") => "law of scaling of a curve",
            (Group::Rule, _) => "level of a point",
            (Group::Machine, _) => &self.name,
            (Group::Workload, key) => key,
        }
    }
}
