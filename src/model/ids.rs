//! Ids of rows. Each noun has its own type, so that a curve is never looked up as a machine.

use std::fmt;
use std::str::FromStr;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,
            serde::Deserialize, utoipa::ToSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(digits: &str) -> Result<$name, Self::Err> {
                digits.parse().map($name)
            }
        }
    )*};
}

ids! {
    /// Row of `project`.
    ProjectId,
    /// Row of `branch`.
    BranchId,
    /// Row of `revision`.
    RevisionId,
    /// Row of `machine`; addresses use the machine's public id instead.
    MachineId,
    /// Row of `token`.
    TokenId,
    /// Row of `person`.
    PersonId,
    /// Row of `session`.
    SessionId,
    /// Row of `environment`.
    EnvironmentId,
    /// Row of `curve`.
    CurveId,
    /// Row of `series`.
    SeriesId,
    /// Row of `step`.
    StepId,
    /// Row of `incident`.
    IncidentId,
    /// Row of `job`.
    JobId,
    /// Row of `job_submission`.
    SubmissionId,
    /// Row of `webhook`.
    WebhookId,
}

/// A run's client-made UUID.
pub type RunId = uuid::Uuid;
