//! Machine identity (stable facts only) and environment (what can change on a machine).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A machine as it registers and as each report names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Lower-case hex of the hash of the identity; made by the runner.
    pub id: String,
    /// What people call it; may change, identifies nothing.
    pub name: String,
    /// The facts behind the id.
    pub identity: Identity,
}

/// Stable facts only: never a boot-time calibration, a host name or a frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// `uname -m`.
    pub architecture: String,
    /// CPU model as the kernel names it, white space folded.
    pub cpu_model: String,
    /// Physical packages.
    pub sockets: u32,
    /// Physical cores.
    pub cores: u32,
    /// Hardware threads present, offline ones included.
    pub threads: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// One entry per distinct cache level and type.
    pub caches: Vec<Cache>,
    /// Memory rounded to the size sold, e.g. `32 GiB`.
    pub memory_class: String,
    /// DMI product UUID, or an id the runner generated once and keeps.
    pub hardware_id: String,
}

/// One level of cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// 1, 2, 3 …
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size of one instance, KiB.
    pub size_kib: u64,
    /// Hardware threads that share one instance.
    pub shared_by: u32,
}

/// What can change on a machine without changing the machine, as dotted keys, e.g.
/// `kernel.release`, `cpu.governor`, `fs.mount_options`. Flat, so that two environments differ
/// field by field in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Environment(pub BTreeMap<String, String>);
