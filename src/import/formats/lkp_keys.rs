//! What the keys of LKP's statistics mean: the unit and direction of the results people track, by the end
//! of the key behind the test's name. Facts of the programs' outputs, in the order they are looked at.

use wire::{Direction, Unit};

/// What a key of a test is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meaning {
    /// A result.
    Result(Unit, Direction),
    /// No result: a share of time, or a number that follows from another.
    Beside,
    /// Nobody told us.
    Unknown,
}

use Direction::{Higher, Lower};

/// Ends of keys that are results.
const RESULTS: [(&str, Unit, Direction); 24] = [
    ("per_process_ops", Unit::OpsPerSecond, Higher),
    ("per_thread_ops", Unit::OpsPerSecond, Higher),
    ("scalability", Unit::Ratio, Higher),
    ("jobs-per-min", Unit::JobsPerMinute, Higher),
    ("jobs_per_min", Unit::JobsPerMinute, Higher),
    ("score", Unit::Ratio, Higher),
    ("ops_per_sec", Unit::OpsPerSecond, Higher),
    ("files_per_sec", Unit::OpsPerSecond, Higher),
    ("transactions_per_sec", Unit::OpsPerSecond, Higher),
    ("requests_per_sec", Unit::OpsPerSecond, Higher),
    ("operations/s", Unit::OpsPerSecond, Higher),
    ("ops/s", Unit::OpsPerSecond, Higher),
    ("iops", Unit::OpsPerSecond, Higher),
    ("tps", Unit::OpsPerSecond, Higher),
    ("qps", Unit::OpsPerSecond, Higher),
    ("bw_MBps", Unit::MebibytesPerSecond, Higher),
    ("throughput_MB/s", Unit::MegabytesPerSecond, Higher),
    ("latency_ms", Unit::Milliseconds, Lower),
    ("_ms", Unit::Milliseconds, Lower),
    ("_us", Unit::Microseconds, Lower),
    ("_ns", Unit::Nanoseconds, Lower),
    ("app_overhead", Unit::Count, Lower),
    ("buildtime_per_iteration", Unit::Seconds, Lower),
    ("_seconds", Unit::Seconds, Lower),
];

/// The meaning of a key; `metric` is what stands behind the test's name and a point.
pub fn meaning(metric: &str) -> Meaning {
    // `16.processes` is per_process_ops times 16, `workload` the operations of the whole run.
    let counted = metric.starts_with(|c: char| c.is_ascii_digit())
        && [".processes", ".threads", ".linear"].iter().any(|end| metric.ends_with(end));
    let beside = counted
        || metric == "workload"
        || metric.starts_with("time.")
        || metric.ends_with("_idle")
        || metric.ends_with("stddev%");
    if beside {
        return Meaning::Beside;
    }
    let found = RESULTS.iter().find(|(end, ..)| metric.ends_with(end));
    found.map_or(Meaning::Unknown, |&(_, unit, direction)| Meaning::Result(unit, direction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_their_meaning_and_what_stands_beside_them_has_none() {
        for (key, expected) in [
            ("per_process_ops", Meaning::Result(Unit::OpsPerSecond, Higher)),
            ("jobs-per-min", Meaning::Result(Unit::JobsPerMinute, Higher)),
            ("read_clat_mean_us", Meaning::Result(Unit::Microseconds, Lower)),
            ("read_bw_MBps", Meaning::Result(Unit::MebibytesPerSecond, Higher)),
            ("16.processes", Meaning::Beside),
            ("16.processes_idle", Meaning::Beside),
            ("time.elapsed_time", Meaning::Beside),
            ("workload", Meaning::Beside),
            ("something-else", Meaning::Unknown),
        ] {
            assert_eq!(meaning(key), expected, "{key}");
        }
    }
}
