//! A step: a change found in a series, and why it is believed.

use serde::{Deserialize, Serialize};

/// Whether a change is bad or good, by the direction of its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Worse.
    Regression,
    /// Better.
    Improvement,
}

impl Change {
    /// The word in the database, in addresses and shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Change::Regression => "regression",
            Change::Improvement => "improvement",
        }
    }

    /// The change with this word.
    pub fn parse(word: &str) -> Option<Change> {
        [Change::Regression, Change::Improvement].into_iter().find(|change| change.word() == word)
    }
}

/// Why a verdict is what it is, as stored with a step and shown on its page: every inequality
/// evaluated, in order, and the one that decided. A number that is not finite is null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Values that were used, in order.
    pub used: Vec<Option<f64>>,
    /// What was set aside, and why, in sentences.
    pub set_aside: Vec<String>,
    /// The inequalities in the order they were evaluated.
    pub inequalities: Vec<Inequality>,
    /// Index into `inequalities` of the line that decided.
    pub decided_by: Option<usize>,
    /// What the machine did meanwhile, where that bears on the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Neighbour>,
}

/// One line of a judgement: `left relation right`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inequality {
    /// What is compared.
    pub what: String,
    /// Left side.
    pub left: Option<f64>,
    /// `>`, `>=`, `<` or `<=`.
    pub relation: String,
    /// Right side.
    pub right: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// Whether CPU time went to others just when a wall-clock metric changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// True: the change is put down to others on the machine, and opens no incident.
    pub blamed: bool,
    /// The reasoning as one sentence with its numbers.
    pub words: String,
    /// The inequalities in the order they were evaluated.
    pub inequalities: Vec<Inequality>,
}
