//! The rules of detection in one place: pages and mails state them from these constants.

use stats::step::Policy;
pub use stats::two_sides::LEAST_BUILDS;

/// Limits of the step test on every series.
pub fn steps() -> Policy {
    Policy::default()
}

/// Limits of the judgement of two sides.
pub fn two_sides() -> stats::two_sides::Policy {
    stats::two_sides::Policy::default()
}

/// A metric whose unit is one of these counts work against wall time: it also moves when a
/// neighbour takes the CPU away, and is therefore read beside [`PER_CPU_SECOND`].
pub const AGAINST_WALL_TIME: [wire::Unit; 9] = [
    wire::Unit::OpsPerSecond,
    wire::Unit::JobsPerMinute,
    wire::Unit::LoopsPerSecond,
    wire::Unit::LoopsPerMinute,
    wire::Unit::MillionWhetstones,
    wire::Unit::BytesPerSecond,
    wire::Unit::KibibytesPerSecond,
    wire::Unit::MebibytesPerSecond,
    wire::Unit::MegabytesPerSecond,
];

/// The metric that a neighbour's share of the CPU does not move.
pub const PER_CPU_SECOND: &str = "ops_per_cpu_s";

/// Least change of the CPU time received, relative, before a neighbour is suspected at all.
pub const LEAST_CPU_CHANGE: f64 = 0.02;

/// Share of the change of CPU time received that must show up as CPU time of others before a step
/// is put down to a neighbour.
pub const EXPLAINED_BY_OTHERS: f64 = 0.5;

/// Fewest pairs of neighbouring builds that tell the noise between builds.
pub const LEAST_PAIRS: usize = 5;

/// A refuted suspect raises the noise floor to its size, but no further than this: what moves more
/// is no noise to be lived with, and one wrong word must not hide every later regression.
pub const REFUTED_CEILING: f64 = 0.05;

/// An incident is over when a later level of every series makes up at least this share of what the
/// step lost; of an improvement, of what it gained.
pub const RETURNED_SHARE: f64 = 0.8;

/// Least change of throughput at the largest task count, relative, that a step of contention or
/// coherency must make to be called.
pub const LEAST_BEND: f64 = stats::curve::LEAST_EFFECT;

/// A step of contention or coherency is placed with a step of the curve's points unless its own
/// place is likelier by more than this, in nats: e³ is one in twenty.
pub const PLACE_NATS: f64 = 3.0;

/// Metrics that tell how a change came about. They join an incident and never open one: alone
/// they move with scheduling more than with code.
pub const SIDE_METRICS: [&str; 6] = [
    "task_fairness",
    "cpu_share",
    "start_skew_ns",
    "voluntary_switches_per_op",
    "involuntary_switches_per_op",
    "cpu_us_per_op",
];

/// Whether a step of this metric may open an incident.
pub fn opens_incident(metric: &str, primary: bool) -> bool {
    primary || !SIDE_METRICS.contains(&metric)
}
