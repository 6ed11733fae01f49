//! The report of one run.

use serde::{Deserialize, Serialize};

use crate::{Environment, Machine, Point};

/// The wire format this crate speaks.
pub const FORMAT: u32 = 1;

/// One execution on one machine at one revision in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// UUID made by the runner; the same UUID with the same body changes nothing.
    pub run: String,
    /// RFC 3339 with an offset.
    pub started_at: String,
    /// RFC 3339 with an offset, not before `started_at`.
    pub finished_at: String,
    /// Where.
    pub machine: Machine,
    /// In what surroundings.
    pub environment: Environment,
    /// Whose code.
    pub project: Project,
    /// Which code.
    pub revision: Revision,
    /// What was measured; at least one.
    pub points: Vec<Point>,
    /// Profiles, logs and other evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artefacts: Vec<Artefact>,
}

/// A project and what it tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Unique name, e.g. `linux`.
    pub name: String,
    /// What identifies a revision of it.
    pub subject: Subject,
}

/// What a project tests. What identifies the subject belongs to the revision and is left out of
/// the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The running kernel: its release is the revision.
    Kernel,
    /// A program or library: the kernel is environment.
    Program,
    /// An in-process model: a variant of it plays the code under test.
    Model,
}

/// What was under test. Ordered within its branch by `position`, else by `committed_at`, never by
/// arrival; at least one of the two is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// Commit id, 7 to 64 lower-case hex digits.
    pub commit: String,
    /// Branch.
    pub branch: String,
    /// Commit ids of the parents, first parent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// Position in the branch's first-parent order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// Committer time, RFC 3339 with an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
    /// First line of the commit message.
    pub subject: String,
}

/// A piece of evidence kept with a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    /// File name shown to people.
    pub name: String,
    /// Media type, e.g. `text/plain`.
    pub media_type: String,
    /// The content as text; binary content is base64 with `;base64` in the media type.
    pub content: String,
}

impl Artefact {
    /// Media type of a profile: stacks of a point's tasks, one a line, frames from the outermost
    /// joined by `;`, a blank and the number of samples; gzip, in base64.
    pub const PROFILE: &str = "application/x-folded-stacks+gzip;base64";
}
