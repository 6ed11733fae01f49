//! What differs between two environments, field by field and in words.

use std::collections::BTreeMap;

use serde::Serialize;

/// The facts of an environment by dotted key.
pub type Facts = BTreeMap<String, String>;

/// One fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Dotted key, e.g. `kernel.release`.
    pub key: String,
    /// Value before; none when the fact was not recorded.
    pub base: Option<String>,
    /// Value after; none when the fact was not recorded.
    pub head: Option<String>,
}

/// Every fact that differs, in order of key.
pub fn differences(base: &Facts, head: &Facts) -> Vec<FieldChange> {
    let keys: std::collections::BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    keys.into_iter()
        .filter(|key| base.get(*key) != head.get(*key))
        .map(|key| FieldChange {
            key: key.clone(),
            base: base.get(key).cloned(),
            head: head.get(key).cloned(),
        })
        .collect()
}

/// `kernel.release 6.9 → 6.10, cpu.governor powersave → performance`.
pub fn in_words(changes: &[FieldChange]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not recorded".into());
    let parts: Vec<String> = changes
        .iter()
        .map(|change| format!("{} {} → {}", change.key, value(&change.base), value(&change.head)))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn a_difference_names_the_field_and_both_values() {
        let base = facts(&[("kernel.release", "6.9"), ("cpu.smt", "on")]);
        let head = facts(&[("kernel.release", "6.10"), ("cpu.smt", "on"), ("thp", "always")]);
        let words = in_words(&differences(&base, &head));
        assert_eq!(words, "kernel.release 6.9 → 6.10, thp not recorded → always");
    }
}
