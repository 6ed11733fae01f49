//! Metrics: a name, a unit and a direction, all mandatory, and where the values come from.

use serde::{Deserialize, Serialize};

/// Which way is better. There is no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}

/// Unit of a metric. Closed: numbers in different units are never compared, so an unknown unit is
/// an error and not a new unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Unit {
    /// Operations per second of wall time.
    #[serde(rename = "ops/s")]
    OpsPerSecond,
    /// Operations per second of CPU time received.
    #[serde(rename = "ops/cpu-s")]
    OpsPerCpuSecond,
    /// Jobs per minute (AIM).
    #[serde(rename = "jobs/min")]
    JobsPerMinute,
    /// Loops per second (`UnixBench`).
    #[serde(rename = "lps")]
    LoopsPerSecond,
    /// A count for each operation.
    #[serde(rename = "count/op")]
    CountPerOp,
    /// A bare count.
    #[serde(rename = "count")]
    Count,
    /// A dimensionless ratio.
    #[serde(rename = "ratio")]
    Ratio,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Kibibytes.
    #[serde(rename = "KiB")]
    Kibibytes,
    /// Mebibytes per second.
    #[serde(rename = "MiB/s")]
    MebibytesPerSecond,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Mebibytes.
    #[serde(rename = "MiB")]
    Mebibytes,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Kibibytes per second.
    #[serde(rename = "KiB/s")]
    KibibytesPerSecond,
    /// Megabytes (10^6 bytes) per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Loops per minute (`UnixBench`).
    #[serde(rename = "lpm")]
    LoopsPerMinute,
    /// Millions of Whetstone instructions per second (`UnixBench`).
    #[serde(rename = "MWIPS")]
    MillionWhetstones,
    /// Parts of a hundred.
    #[serde(rename = "%")]
    Percent,
}

impl Unit {
    /// Every unit, for documentation and tests.
    pub const ALL: [Unit; 21] = [
        Unit::OpsPerSecond,
        Unit::OpsPerCpuSecond,
        Unit::JobsPerMinute,
        Unit::LoopsPerSecond,
        Unit::CountPerOp,
        Unit::Count,
        Unit::Ratio,
        Unit::Nanoseconds,
        Unit::Microseconds,
        Unit::Seconds,
        Unit::Bytes,
        Unit::Kibibytes,
        Unit::MebibytesPerSecond,
        Unit::Milliseconds,
        Unit::Mebibytes,
        Unit::BytesPerSecond,
        Unit::KibibytesPerSecond,
        Unit::MegabytesPerSecond,
        Unit::LoopsPerMinute,
        Unit::MillionWhetstones,
        Unit::Percent,
    ];

    /// The unit as written on the wire, in the database and on pages.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::OpsPerSecond => "ops/s",
            Unit::OpsPerCpuSecond => "ops/cpu-s",
            Unit::JobsPerMinute => "jobs/min",
            Unit::LoopsPerSecond => "lps",
            Unit::CountPerOp => "count/op",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::Kibibytes => "KiB",
            Unit::MebibytesPerSecond => "MiB/s",
            Unit::Milliseconds => "ms",
            Unit::Mebibytes => "MiB",
            Unit::BytesPerSecond => "B/s",
            Unit::KibibytesPerSecond => "KiB/s",
            Unit::MegabytesPerSecond => "MB/s",
            Unit::LoopsPerMinute => "lpm",
            Unit::MillionWhetstones => "MWIPS",
            Unit::Percent => "%",
        }
    }

    /// The unit with this symbol.
    pub fn parse(symbol: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }
}

impl Direction {
    /// The direction as written on the wire and in the database.
    pub const fn word(self) -> &'static str {
        match self {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
        }
    }

    /// The direction with this word.
    pub fn parse(word: &str) -> Option<Direction> {
        [Direction::Higher, Direction::Lower].into_iter().find(|direction| direction.word() == word)
    }
}

/// Where a metric's values come from, one value a window unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ValueSource))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Sum of ops over tasks ÷ Δt.
    OpsPerSecond,
    /// Sum of ops over tasks ÷ sum of CPU time received.
    OpsPerCpuSecond,
    /// Fewest ops of a task ÷ most ops of a task.
    TaskFairness,
    /// Given by the workload: one value a window, or one for the whole point.
    Values(Vec<f64>),
}

/// One metric of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Snake-case name, e.g. `ops_per_s_total`.
    pub name: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Where the values come from.
    pub source: Source,
}

impl Metric {
    /// `ops_per_s_total`: operations per second over all tasks.
    pub fn ops_per_s_total() -> Metric {
        Metric {
            name: "ops_per_s_total".into(),
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            source: Source::OpsPerSecond,
        }
    }

    /// `ops_per_cpu_s`: operations per second of CPU time received.
    pub fn ops_per_cpu_s() -> Metric {
        Metric {
            name: "ops_per_cpu_s".into(),
            unit: Unit::OpsPerCpuSecond,
            direction: Direction::Higher,
            source: Source::OpsPerCpuSecond,
        }
    }

    /// `task_fairness`: slowest task ÷ fastest task of each window.
    pub fn task_fairness() -> Metric {
        Metric {
            name: "task_fairness".into(),
            unit: Unit::Ratio,
            direction: Direction::Higher,
            source: Source::TaskFairness,
        }
    }
}
