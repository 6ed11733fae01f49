//! Severities of incidents, in units of the noise that detection goes by.

use std::collections::BTreeMap;

use super::policy;
use crate::db::{self, Failure, Pool};
use crate::model::IncidentId;
use crate::model::incident::Incident;
use crate::model::severity::{Effect, Severity};

/// The severity of each; of one whose steps are all gone, nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    incidents: &[Incident],
) -> Result<BTreeMap<IncidentId, Severity>, Failure> {
    let ids: Vec<IncidentId> = incidents.iter().map(|incident| incident.id).collect();
    let effects = db::severity::list_effects(pool, &ids).await?;
    let least_effect = policy::steps().least_effect;
    let by_incident = effects.chunk_by(|a, b| a.incident == b.incident);
    let severity = |effects: &[Effect]| (effects[0].incident, Severity::of(effects, least_effect));
    Ok(by_incident.map(severity).collect())
}
