//! Task counts as written on the command line: `1,2,4..max`.

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};

use crate::harness::MAX_TASKS;

/// Reads a list of counts, ascending and without repeats. An item is a number, `max` (one task a
/// hardware thread that may be used), or `A..B`: A, doubled while below B, and B.
///
/// # Errors
/// Names the item that is wrong.
pub fn parse(text: &str, max: u32) -> anyhow::Result<Vec<u32>> {
    let mut counts = BTreeSet::new();
    for item in text.split(',').map(str::trim) {
        match item.split_once("..") {
            None => {
                counts.insert(count(item, max)?);
            }
            Some((from, to)) => {
                let (from, to) = (count(from, max)?, count(to.trim_start_matches('='), max)?);
                // `4..max` on a machine of two is no mistake of the user: it has nothing to add.
                if from > to && item.ends_with("max") {
                    continue;
                }
                ensure!(from <= to, "tasks: {item:?} goes downwards");
                counts.extend(doubled(from, to));
            }
        }
    }
    ensure!(!counts.is_empty(), "tasks: {text:?} gives no count on this machine");
    Ok(counts.into_iter().collect())
}

/// The usual sweep: 1, 2, 4 … and the number of hardware threads.
pub fn usual(max: u32) -> Vec<u32> {
    doubled(1, max.max(1)).collect()
}

fn doubled(from: u32, to: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(from), move |&n| (n < to).then(|| n.saturating_mul(2).min(to)))
}

fn count(text: &str, max: u32) -> anyhow::Result<u32> {
    if text.trim() == "max" {
        return Ok(max.max(1));
    }
    let count: u32 = text
        .trim()
        .parse()
        .with_context(|| format!("tasks: {text:?} is neither a number nor \"max\""))?;
    if !(1..=MAX_TASKS).contains(&count) {
        bail!("tasks: {count} is not in 1..={MAX_TASKS}");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_numbers_doublings_and_the_machines_own() {
        for (text, max, counts) in [
            ("1", 8, vec![1]),
            ("4,1,1,2", 8, vec![1, 2, 4]),
            ("1,2,4..max", 16, vec![1, 2, 4, 8, 16]),
            ("1..max", 12, vec![1, 2, 4, 8, 12]),
            ("1,2,4..max", 2, vec![1, 2]),
            ("3..20", 2, vec![3, 6, 12, 20]),
            ("max", 80, vec![80]),
            ("1..=4", 80, vec![1, 2, 4]),
        ] {
            assert_eq!(parse(text, max).unwrap(), counts, "{text}");
        }
        assert_eq!(usual(6), [1, 2, 4, 6]);
        assert_eq!(usual(0), [1]);
    }

    #[test]
    fn wrong_counts_are_named() {
        for text in ["", "0", "a", "1,,2", "8..2", "-1", "4097", "1.5", "4..max"] {
            let error = format!("{:#}", parse(text, 2).unwrap_err());
            assert!(error.contains("tasks"), "{text}: {error}");
        }
    }
}
