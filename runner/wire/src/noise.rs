//! Noise floors that a machine measured.

use serde::{Deserialize, Serialize};

/// Body of `POST /api/v1/machines/{id}/noise-floors`: what A/A runs of this machine differed by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NoiseFloors {
    /// At most one for each workload and metric.
    pub floors: Vec<NoiseFloor>,
}

/// What identical code differs by, for one workload and metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NoiseFloor {
    /// Workload id.
    pub workload: String,
    /// Name of the metric.
    pub metric: String,
    /// Relative, 0.01 is 1 %.
    pub relative: f64,
    /// Pairs of A/A runs it was seen in.
    pub pairs: u32,
    /// RFC 3339 with an offset.
    pub measured_at: String,
}

/// Answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FloorsKept {
    /// Floors that were newer than what was known.
    pub kept: usize,
}
