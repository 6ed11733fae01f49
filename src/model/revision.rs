//! Projects, branches and revisions. The order of revisions is their rank within a branch.

use time::OffsetDateTime;

use super::{BranchId, ProjectId, RevisionId};

/// A project and what it tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Whether everybody may read it.
    pub is_public: bool,
    /// Row.
    pub id: ProjectId,
    /// Unique name.
    pub name: String,
    /// What identifies a revision of it.
    pub subject: wire::Subject,
}

/// A branch of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Row.
    pub id: BranchId,
    /// Whose.
    pub project: ProjectId,
    /// Its name.
    pub name: String,
    /// What its revisions are ordered by; its first report decided.
    pub order_by: OrderBy,
}

/// What the revisions of a branch are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    /// First-parent position.
    Position,
    /// Committer time.
    CommittedAt,
}

impl OrderBy {
    /// As stored, which is also the report's field.
    pub const fn word(self) -> &'static str {
        match self {
            OrderBy::Position => "position",
            OrderBy::CommittedAt => "committed_at",
        }
    }

    /// The order with this word.
    pub fn parse(word: &str) -> Option<OrderBy> {
        [OrderBy::Position, OrderBy::CommittedAt].into_iter().find(|order| order.word() == word)
    }
}

/// What was under test.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// Row.
    pub id: RevisionId,
    /// Where it lies.
    pub branch: BranchId,
    /// Commit id, as reported.
    pub commit: String,
    /// First-parent position, when reported.
    pub position: Option<i64>,
    /// Committer time, when reported.
    pub committed_at: Option<OffsetDateTime>,
    /// Order within the branch.
    pub rank: i64,
    /// Commit ids of the parents, first parent first.
    pub parents: Vec<String>,
    /// First line of the commit message; from outside, never trusted.
    pub subject: String,
}

impl Revision {
    /// The first ten hex digits of the commit.
    pub fn short(&self) -> &str {
        short(&self.commit)
    }
}

/// A revision with the names it is known under.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRevision {
    /// The revision.
    pub revision: Revision,
    /// Whose code.
    pub project: ProjectId,
    /// The project's name.
    pub project_name: String,
    /// The branch's name.
    pub branch_name: String,
}

/// How far the rank of a revision is moved down when it leaves its branch: below every other.
pub const OFF_BRANCH: i64 = 1 << 62;

/// Whether a rank is that of a revision that left its branch.
pub const fn is_off_branch(rank: i64) -> bool {
    rank < -(OFF_BRANCH / 2)
}

/// The first ten hex digits of a commit id.
pub fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The word a subject is stored under.
pub const fn subject_word(subject: wire::Subject) -> &'static str {
    match subject {
        wire::Subject::Kernel => "kernel",
        wire::Subject::Program => "program",
        wire::Subject::Model => "model",
    }
}

/// The subject with this word.
pub fn parse_subject(word: &str) -> Option<wire::Subject> {
    [wire::Subject::Kernel, wire::Subject::Program, wire::Subject::Model]
        .into_iter()
        .find(|subject| subject_word(*subject) == word)
}
