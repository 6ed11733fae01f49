//! Environments are content-addressed: equal facts, equal digest, one row.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::{EnvironmentId, SeriesId};

/// A set of facts about a machine that can change without changing the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// Row.
    pub id: EnvironmentId,
    /// Dotted key → value.
    pub facts: BTreeMap<String, String>,
    /// When a run first came from it.
    pub first_seen_at: OffsetDateTime,
}

/// One field in which two environments differ; none means the field is absent there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Difference {
    /// Dotted key, e.g. `kernel.release`.
    pub field: String,
    /// Value on the first side.
    pub before: Option<String>,
    /// Value on the second side.
    pub after: Option<String>,
}

/// What a change of environment did to one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    /// The series.
    pub series: SeriesId,
    /// Where the runs before it ran.
    pub from: EnvironmentId,
    /// Where the runs after it ran.
    pub to: EnvironmentId,
    /// Whether the level moved.
    pub moved: bool,
}

/// A difference, and what earlier changes of its field did to results.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = EnvironmentChange)]
pub struct Known {
    /// The difference.
    #[serde(flatten)]
    pub difference: Difference,
    /// Changes of this field seen in histories, of one series each.
    pub changes: i64,
    /// Those after which the level was another one.
    pub moved: i64,
}

impl Known {
    /// `moved results in 9 of 10 earlier changes`.
    pub fn words(&self) -> String {
        match (self.changes, self.moved) {
            (0, _) => "no earlier change of it is known".into(),
            (1, 1) => "moved results in the 1 earlier change".into(),
            (changes, moved) => format!("moved results in {moved} of {changes} earlier changes"),
        }
    }
}

/// SHA-256 of the facts as JSON with sorted keys.
pub fn digest(facts: &BTreeMap<String, String>) -> [u8; 32] {
    let canonical = serde_json::to_vec(facts).expect("a map of strings serialises");
    Sha256::digest(canonical).into()
}

/// The fields in which two sets of facts differ, by key.
pub fn diff(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let fields: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    fields
        .into_iter()
        .filter(|field| before.get(*field) != after.get(*field))
        .map(|field| Difference {
            field: field.clone(),
            before: before.get(field).cloned(),
            after: after.get(field).cloned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn the_digest_depends_on_the_facts_alone() {
        let one = facts(&[("a", "1"), ("b", "2")]);
        assert_eq!(digest(&one), digest(&facts(&[("b", "2"), ("a", "1")])));
        assert_ne!(digest(&one), digest(&facts(&[("a", "1"), ("b", "3")])));
        assert_ne!(digest(&facts(&[("a", "1b")])), digest(&facts(&[("a1", "b")])));
    }

    #[test]
    fn a_diff_names_changed_gone_and_new_fields() {
        let before = facts(&[("fs.type", "ext4"), ("kernel.release", "6.9"), ("mm.thp", "always")]);
        let after = facts(&[("cpu.smt", "on"), ("fs.type", "ext4"), ("kernel.release", "6.10")]);
        let side = |value: &str| Some(value.to_owned());
        let difference =
            |field: &str, before, after| Difference { field: field.to_owned(), before, after };
        assert_eq!(
            diff(&before, &after),
            [
                difference("cpu.smt", None, side("on")),
                difference("kernel.release", side("6.9"), side("6.10")),
                difference("mm.thp", side("always"), None),
            ]
        );
        assert!(diff(&before, &before).is_empty());
    }
}
