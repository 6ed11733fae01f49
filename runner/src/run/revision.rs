//! Which code a run measured: given on the command line, read from a repository, or, where a
//! parameter of a model plays the code, made from that parameter.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::{Project, Revision, Subject};

use super::git;

/// What the command line says about the code.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Project.
    pub project: Option<String>,
    /// What identifies a revision of it.
    pub subject: Option<Subject>,
    /// Repository to read from.
    pub repo: Option<PathBuf>,
    /// Commit id; with a repository, any name git knows.
    pub commit: Option<String>,
    /// Branch.
    pub branch: Option<String>,
    /// Position in the branch's first-parent order.
    pub position: Option<i64>,
    /// Committer time, RFC 3339.
    pub committed_at: Option<String>,
    /// Commit ids of the parents.
    pub parents: Vec<String>,
    /// First line of the commit message.
    pub message: Option<String>,
}

/// A parameter that plays the code under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Workload id and version.
    pub workload: (String, u32),
    /// Name of the parameter.
    pub parameter: String,
    /// Its value.
    pub value: String,
}

impl Given {
    /// What the project tests; the kernel unless said otherwise.
    pub fn subject(&self) -> Subject {
        self.subject.unwrap_or(Subject::Kernel)
    }

    /// Project and revision; none when nothing was said about the code.
    ///
    /// # Errors
    /// When what was said is not enough, or the repository cannot be read.
    pub fn resolve(
        &self,
        variant: Option<&Variant>,
    ) -> anyhow::Result<Option<(Project, Revision)>> {
        let revision = match (&self.repo, &self.commit, variant) {
            (Some(repo), commit, _) => {
                let read = git::revision(repo, commit.as_deref(), self.branch.as_deref())?;
                self.over(read)
            }
            (None, Some(commit), _) => self.over(bare(commit, commit)),
            (None, None, Some(variant)) => self.over(bare(&variant.commit(), &variant.in_words())),
            (None, None, None) => {
                ensure!(
                    !self.says_anything(),
                    "a revision needs --commit or --repo: the project alone does not say which code"
                );
                return Ok(None);
            }
        };
        ensure!(
            revision.position.is_some() || revision.committed_at.is_some(),
            "a revision needs its place in history: give --position, --committed-at or --repo"
        );
        if let Some(time) = &revision.committed_at {
            OffsetDateTime::parse(time, &Rfc3339).with_context(|| {
                format!("--committed-at: {time:?} is not a time like 2026-02-27T09:13:44+01:00")
            })?;
        }
        Ok(Some((Project { name: self.project_name()?, subject: self.subject() }, revision)))
    }

    fn says_anything(&self) -> bool {
        self.project.is_some()
            || self.branch.is_some()
            || self.position.is_some()
            || self.committed_at.is_some()
            || self.message.is_some()
            || !self.parents.is_empty()
    }

    /// What was given wins over what was read.
    fn over(&self, read: Revision) -> Revision {
        Revision {
            commit: read.commit,
            branch: self.branch.clone().unwrap_or(read.branch),
            parents: match self.parents.is_empty() {
                true => read.parents,
                false => self.parents.clone(),
            },
            position: self.position.or(read.position),
            committed_at: self.committed_at.clone().or(read.committed_at),
            subject: self.message.clone().unwrap_or(read.subject),
        }
    }

    fn project_name(&self) -> anyhow::Result<String> {
        let default = match self.subject() {
            Subject::Kernel => Some("linux"),
            Subject::Model => Some("model"),
            Subject::Program => None,
        };
        let name = self.project.as_deref().or(default);
        Ok(name.context("a program's project has no usual name: give --project")?.to_owned())
    }
}

fn bare(commit: &str, subject: &str) -> Revision {
    Revision {
        commit: commit.to_owned(),
        branch: "main".into(),
        parents: Vec::new(),
        position: None,
        committed_at: None,
        subject: subject.to_owned(),
    }
}

impl Variant {
    /// A commit id that follows from the workload, its version and the variant alone.
    pub fn commit(&self) -> String {
        let (workload, version) = &self.workload;
        let text = format!("{workload} {version} {}={}", self.parameter, self.value);
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().take(20).map(|byte| format!("{byte:02x}")).collect()
    }

    fn in_words(&self) -> String {
        format!("{}: {}={}", self.workload.0, self.parameter, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(value: &str) -> Variant {
        Variant {
            workload: ("model/prefetch-bit".into(), 1),
            parameter: "variant".into(),
            value: value.into(),
        }
    }

    #[test]
    fn nothing_said_is_no_revision_and_half_a_revision_is_an_error() {
        assert_eq!(Given::default().resolve(None).unwrap(), None);
        let half = Given { project: Some("linux".into()), ..Given::default() };
        assert!(half.resolve(None).unwrap_err().to_string().contains("--commit"));
        let unplaced = Given { commit: Some("0a1b2c3".into()), ..Given::default() };
        assert!(unplaced.resolve(None).unwrap_err().to_string().contains("--position"));
        let nameless = Given {
            commit: Some("0a1b2c3".into()),
            position: Some(1),
            subject: Some(Subject::Program),
            ..Given::default()
        };
        assert!(nameless.resolve(None).unwrap_err().to_string().contains("--project"));
    }

    #[test]
    fn what_is_given_is_the_revision() {
        let given = Given {
            commit: Some("0a1b2c3d4e".into()),
            position: Some(7),
            branch: Some("next".into()),
            message: Some("mm: do less".into()),
            parents: vec!["0a1b2c3d4d".into()],
            ..Given::default()
        };
        let (project, revision) = given.resolve(None).unwrap().unwrap();
        assert_eq!((project.name.as_str(), project.subject), ("linux", Subject::Kernel));
        assert_eq!(revision.commit, "0a1b2c3d4e");
        assert_eq!(revision.branch, "next");
        assert_eq!(revision.position, Some(7));
        assert_eq!(revision.subject, "mm: do less");
        assert_eq!(revision.parents, ["0a1b2c3d4d"]);
    }

    #[test]
    fn a_variant_of_a_model_is_a_revision_of_its_own() {
        let given = Given { subject: Some(Subject::Model), position: Some(1), ..Given::default() };
        let of = |value: &str| given.resolve(Some(&variant(value))).unwrap().unwrap();
        let (project, revision) = of("rmw");
        assert_eq!(project.name, "model");
        assert_eq!(revision.commit.len(), 40);
        assert_eq!(revision.subject, "model/prefetch-bit: variant=rmw");
        assert_eq!(of("rmw").1, revision);
        assert_ne!(of("test-then-set").1.commit, revision.commit);
    }
}
