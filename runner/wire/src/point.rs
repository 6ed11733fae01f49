//! A point: one workload at one setting of its parameters, task count included.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Metric, Source};

/// One workload at one setting, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Path-like id, e.g. `fallocate/append-truncate`.
    pub workload: String,
    /// Version of the workload; another version is another series.
    pub version: u32,
    /// Every parameter but the task count, defaults included; `mode` is one of them.
    pub parameters: BTreeMap<String, String>,
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// Measured or failed.
    pub outcome: Outcome,
}

impl Point {
    /// Name of the artefact that holds the point's profile, of type [`crate::Artefact::PROFILE`]. It is the
    /// same in every run of the point, so that two runs' profiles can be held together.
    pub fn profile_name(&self) -> String {
        profile_name(&self.workload, self.version, &self.parameters, self.tasks)
    }
}

/// As [`Point::profile_name`], of a point told by its parts.
pub fn profile_name(
    workload: &str,
    version: u32,
    parameters: &BTreeMap<String, String>,
    tasks: u32,
) -> String {
    // FNV-1a, 64 bits: tells parameters apart, and needs no dependency.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    add(workload);
    add(&version.to_string());
    parameters.iter().flat_map(|(name, value)| [name, value]).for_each(|text| add(text));
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let workload: String = workload.chars().take(200).map(plain).collect();
    format!("{workload}-{tasks}-{hash:016x}.folded")
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All windows were measured.
    Measured(Measured),
    /// Another tool measured it and told values, not windows.
    Imported(Imported),
    /// Some task failed; no partial rate is kept.
    Failed(Failure),
}

impl Outcome {
    /// The metrics, the one people look at first; none of a point that failed.
    pub fn metrics(&self) -> &[Metric] {
        match self {
            Outcome::Measured(measured) => &measured.metrics,
            Outcome::Imported(imported) => &imported.metrics,
            Outcome::Failed(_) => &[],
        }
    }

    /// Values of one of [`Outcome::metrics`].
    pub fn values(&self, metric: &Metric) -> Vec<f64> {
        match (self, &metric.source) {
            (_, Source::Values(values)) => values.clone(),
            (Outcome::Measured(measured), _) => measured.values(metric),
            _ => Vec::new(),
        }
    }
}

/// A point that another tool measured. There are no windows, so nothing is derived: each metric
/// brings its values, of any number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// The tool, e.g. `hyperfine`.
    pub tool: String,
    /// At least one; the first is the one people look at. Each has [`Source::Values`].
    pub metrics: Vec<Metric>,
    /// What the tool tells of the spread of samples that it does not tell, by metric. Evidence,
    /// never judged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spread: BTreeMap<String, Spread>,
}

/// The spread of samples that are summed up in one value, as far as it is told, in the metric's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Samples behind the value; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Their standard deviation; 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// Lower end of what the tool calls likely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A measured point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// CPUs task *i* was allowed to run on; empty when tasks were not placed.
    pub placement: Vec<Vec<u32>>,
    /// Time between the first and the last task's start, ns.
    pub start_skew_ns: u64,
    /// Windows thrown away before the first one below.
    pub warmup_windows: u32,
    /// The windows, in order of time. At least one.
    pub windows: Vec<Window>,
    /// At least one; the first is the one people look at.
    pub metrics: Vec<Metric>,
    /// What else happened on the machine meanwhile.
    pub disturbance: Disturbance,
    /// What it cost, by name (unit in the name), each a number **per operation**: resources of the
    /// tasks, counters of the kernel and of the processor. Evidence, never judged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
}

/// One sample: what every task did between two readings of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Δt, ns of `CLOCK_MONOTONIC_RAW`; more than 0.
    pub dt_ns: i64,
    /// Δops of each task, in task order.
    pub ops: Vec<u64>,
    /// CPU time each task received, ns, in task order.
    pub cpu_ns: Vec<u64>,
}

/// What disturbed a point, summed over its windows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Disturbance {
    /// CPU time a hypervisor took away, ns, over all CPUs; none where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// CPU time of everything but the tasks, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu_ns: Option<u64>,
    /// Time some task of the machine waited for a CPU (PSI `cpu some`), ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<u64>,
    /// Involuntary context switches of the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Voluntary context switches of the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Mean frequency of the CPUs, kHz, from a reading before and one after the windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<u64>,
    /// Times a CPU was slowed down for its heat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// Pages swapped in or out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_pages: Option<u64>,
    /// Windows thrown away because they were disturbed, and measured again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub remeasured_windows: u32,
    /// Windows that were disturbed beyond the limits and were kept all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<DisturbedWindow>,
}

impl Disturbance {
    /// That of several stretches of time together: sums, and the mean of the frequencies. What one of
    /// them does not tell is not told of all. Indexes of windows are taken as they are.
    pub fn of_all(parts: &[Disturbance]) -> Disturbance {
        if parts.is_empty() {
            return Disturbance::default();
        }
        let sum = |of: fn(&Disturbance) -> Option<u64>| parts.iter().map(of).sum::<Option<u64>>();
        Disturbance {
            steal_ns: sum(|part| part.steal_ns),
            other_cpu_ns: sum(|part| part.other_cpu_ns),
            cpu_pressure_ns: sum(|part| part.cpu_pressure_ns),
            involuntary_switches: sum(|part| part.involuntary_switches),
            voluntary_switches: sum(|part| part.voluntary_switches),
            frequency_khz: sum(|part| part.frequency_khz).map(|khz| khz / parts.len() as u64),
            throttled: sum(|part| part.throttled),
            swapped_pages: sum(|part| part.swapped_pages),
            remeasured_windows: parts.iter().map(|part| part.remeasured_windows).sum(),
            windows: parts.iter().flat_map(|part| part.windows.iter().cloned()).collect(),
        }
    }
}

/// A window that something else disturbed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DisturbedWindow {
    /// Index of the window, from 0.
    pub window: u32,
    /// What disturbed it, in words.
    pub why: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Why a point has no samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = PointFailure))]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What failed, e.g. `fallocate` or `set-up`.
    pub call: String,
    /// errno, where a system call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// Task that failed, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u32>,
    /// A sentence for people.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_add_up_and_what_one_does_not_tell_is_not_told_of_all() {
        let part = |steal_ns, frequency_khz, window| Disturbance {
            steal_ns,
            frequency_khz,
            throttled: Some(1),
            remeasured_windows: 2,
            windows: vec![DisturbedWindow { window, why: "others".into() }],
            ..Disturbance::default()
        };
        let all = Disturbance::of_all(&[
            part(Some(5), Some(1000), 0),
            part(None, Some(3000), 4),
            part(Some(7), Some(2000), 9),
        ]);
        assert_eq!((all.steal_ns, all.frequency_khz), (None, Some(2000)));
        assert_eq!((all.throttled, all.remeasured_windows), (Some(3), 6));
        assert_eq!(all.windows.iter().map(|w| w.window).collect::<Vec<_>>(), [0, 4, 9]);
        assert_eq!(Disturbance::of_all(&[]), Disturbance::default());
    }
}
