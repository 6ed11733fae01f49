//! The little history that `up` measures: revisions of the project `model`, each a variant of an
//! in-process model that plays the code under test. Pure: the same on every machine.

use sha2::{Digest, Sha256};

/// Project whose revisions these are.
pub const PROJECT: &str = "model";
/// Branch they are on.
pub const BRANCH: &str = "main";
/// Parameter that plays the code under test.
pub const CODE: &str = "variant";
/// Revisions that keep each variant, the one that brings it included.
const KEPT: usize = 6;

/// A model whose code gets slower in the middle of its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Workload.
    pub workload: &'static str,
    /// Variant before the change.
    pub good: &'static str,
    /// Variant after it.
    pub bad: &'static str,
    /// Subject line of the revision that brings `good`.
    brought: &'static str,
    /// Subject line of the revision that brings `bad`.
    changed: &'static str,
}

/// The models, in the order of their revisions. Their variants differ on two CPUs already.
pub const MODELS: [Model; 2] = [
    Model {
        workload: "model/prefetch-bit",
        good: "test-then-set",
        bad: "rmw",
        brought: "prefetch-bit: set a group's bit only where it is clear",
        changed: "prefetch-bit: set a group's bit without looking first",
    },
    Model {
        workload: "model/orphan-list",
        good: "slots-lockless",
        bad: "mutex-csum-inside",
        brought: "orphan-list: keep orphans in lockless slots",
        changed: "orphan-list: keep orphans in a list, checksummed under its mutex",
    },
];

/// One revision of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The model it changes; the only one measured at it.
    pub model: Model,
    /// Variant that is the code at this revision.
    pub variant: &'static str,
    /// Commit id: a hash over everything above and the position.
    pub commit: String,
    /// Commit id of the revision before.
    pub parent: Option<String>,
    /// Position on the branch, from 1.
    pub position: usize,
    /// Subject line.
    pub subject: String,
}

/// Every revision, in order.
pub fn revisions() -> Vec<Revision> {
    let mut revisions: Vec<Revision> = Vec::new();
    for model in MODELS {
        for (variant, brings) in [(model.good, model.brought), (model.bad, model.changed)] {
            for age in 0..KEPT {
                let position = revisions.len() + 1;
                revisions.push(Revision {
                    model,
                    variant,
                    commit: commit(model.workload, variant, position),
                    parent: revisions.last().map(|before| before.commit.clone()),
                    position,
                    subject: subject(brings, variant, age),
                });
            }
        }
    }
    revisions
}

fn subject(brings: &str, variant: &str, age: usize) -> String {
    match age {
        0 => brings.to_owned(),
        _ => {
            let model = brings.split(':').next().unwrap_or(brings);
            format!("{model}: build again, {variant} as before ({age})")
        }
    }
}

fn commit(workload: &str, variant: &str, position: usize) -> String {
    let identity = format!("scalewatch model history 1\n{workload}\n{variant}\n{position}\n");
    Sha256::digest(identity).iter().take(20).map(|byte| format!("{byte:02x}")).collect()
}

/// Task counts worth measuring on a machine of `cpus`: one, two, and all.
pub fn task_counts(cpus: usize) -> Vec<usize> {
    let mut counts = vec![1, 2, cpus.max(1)];
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_follow_one_another_on_one_branch() {
        let revisions = revisions();
        assert_eq!(revisions.len(), 2 * 2 * KEPT);
        assert_eq!(revisions[0].parent, None);
        for (index, pair) in revisions.windows(2).enumerate() {
            assert_eq!(pair[0].position, index + 1);
            assert_eq!(pair[1].parent.as_ref(), Some(&pair[0].commit));
        }
    }

    #[test]
    fn commit_ids_are_distinct_and_never_change() {
        let revisions = revisions();
        let mut commits: Vec<_> = revisions.iter().map(|revision| &revision.commit).collect();
        commits.sort_unstable();
        commits.dedup();
        assert_eq!(commits.len(), revisions.len());
        assert_eq!(revisions[0].commit, "9cfd20f0c48114dc3c17ffc7ec6c7d17865605c8");
    }

    #[test]
    fn a_machine_is_measured_at_one_task_two_and_all() {
        assert_eq!(task_counts(1), [1, 2]);
        assert_eq!(task_counts(2), [1, 2]);
        assert_eq!(task_counts(96), [1, 2, 96]);
    }
}
