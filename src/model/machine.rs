//! A registered machine.

use time::OffsetDateTime;

use super::MachineId;

/// Registered hardware.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Row.
    pub id: MachineId,
    /// The runner's hash of the identity, as in addresses.
    pub public_id: String,
    /// What people call it.
    pub name: String,
    /// Stable facts.
    pub identity: wire::Identity,
    /// When it was registered.
    pub registered_at: OffsetDateTime,
    /// When its last report came.
    pub last_seen_at: Option<OffsetDateTime>,
    /// When people said that it is gone; its reports are refused then.
    pub retired_at: Option<OffsetDateTime>,
}
