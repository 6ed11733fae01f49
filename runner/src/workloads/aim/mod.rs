//! AIM7's and re-AIM's file tests. A **job** is a fixed piece of work; a task of fixed work does
//! [`JOBS_PER_TASK`] of them.

pub(super) mod creat_close;

use wire::{Direction, Unit};

use crate::harness::{SideMetric, Tally};

/// Jobs each task of a fixed load does.
const JOBS_PER_TASK: u64 = 100;

/// Word of a task's counters that holds the jobs it finished.
const JOBS: usize = 1;

/// What AIM prints of a load: jobs a minute, the job timing index, and the time.
const FIXED_LOAD_METRICS: &[SideMetric] = &[
    SideMetric {
        name: "jobs_per_min",
        unit: Unit::JobsPerMinute,
        direction: Direction::Higher,
        value: |load| Some(load.word(JOBS) as f64 / (load.dt_ns as f64 / 60e9)),
    },
    SideMetric {
        name: "job_timing_index",
        unit: Unit::Ratio,
        direction: Direction::Higher,
        value: job_timing_index,
    },
    ELAPSED,
];

/// From the release to the finish of the last task.
pub(super) const ELAPSED: SideMetric = SideMetric {
    name: "elapsed_s",
    unit: Unit::Seconds,
    direction: Direction::Lower,
    value: |load| (!load.finish_ns.is_empty()).then(|| load.dt_ns as f64 / 1e9),
};

/// How alike the tasks' finish times are: 1 − their coefficient of variation, over the population;
/// 0 where they scatter by more than their mean.
fn job_timing_index(load: &Tally) -> Option<f64> {
    let n = load.finish_ns.len() as f64;
    let times = || load.finish_ns.iter().map(|&ns| ns as f64);
    let mean = times().sum::<f64>() / n;
    let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / n;
    (mean > 0.0).then(|| (1.0 - variance.sqrt() / mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_of_equal_finish_times_has_a_timing_index_of_one() {
        let index = |finish_ns: &[u64]| {
            job_timing_index(&Tally { finish_ns: finish_ns.to_vec(), ..Tally::default() })
        };
        assert_eq!(index(&[5, 5, 5]), Some(1.0));
        // Mean 3, population standard deviation 1.
        assert_eq!(index(&[2, 4]), Some(1.0 - 1.0 / 3.0));
        assert_eq!(index(&[1, 1, 1, 1, 1, 1, 100]), Some(0.0));
        assert_eq!(index(&[]), None);
    }
}
