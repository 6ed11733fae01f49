//! Environments as other answers show them.

use std::collections::BTreeMap;

use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use crate::model::{Environment, EnvironmentId};

/// What can change on a machine without changing the machine.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = StoredEnvironment)]
pub struct EnvironmentView {
    id: EnvironmentId,
    facts: BTreeMap<String, String>,
    #[serde(with = "rfc3339")]
    first_seen_at: OffsetDateTime,
}

impl From<Environment> for EnvironmentView {
    fn from(environment: Environment) -> EnvironmentView {
        EnvironmentView {
            id: environment.id,
            facts: environment.facts,
            first_seen_at: environment.first_seen_at,
        }
    }
}
