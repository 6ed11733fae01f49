//! What a point cost beside its time: counters read before and after the measured windows, and
//! those of the processor in one more window behind them, where they disturb no figure.
//!
//! Every value leaves as a number per operation. What the kernel or the machine does not offer is
//! absent, never 0; names carry their source and, where it is not a count, their unit.

mod ext4;
mod kernel;
mod lock_stat;
mod perf;
mod profile;
mod tasks;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::fault::Attempt;
use super::spawn::Stage;
use super::sys;
use super::window::{Clocks, Edge};

pub(crate) use profile::record;

/// Counters by name, as they stand.
pub(crate) type Counts = BTreeMap<String, u64>;

/// Longest window in which the processor counts.
const LONGEST_WINDOW: Duration = Duration::from_secs(1);

/// All counters that cost nothing while tasks run.
pub(crate) struct Reading(Counts);

impl Reading {
    /// Reads now; `threads` are the tasks' thread ids. `directory` lies on the file system under
    /// test, where the workload has one.
    pub fn now(threads: &[libc::pid_t], directory: Option<&Path>) -> Reading {
        let file = |path: &str| fs::read_to_string(path).ok();
        let mut counts = tasks::counts(threads);
        type Parser = fn(&str) -> Counts;
        let sources = [
            ("/proc/vmstat", kernel::vmstat as Parser),
            ("/proc/stat", kernel::stat),
            ("/proc/schedstat", kernel::schedstat),
            ("/proc/lock_stat", lock_stat::counts),
        ];
        for (path, counts_of) in sources {
            counts.extend(file(path).map(|text| counts_of(&text)).unwrap_or_default());
        }
        counts.extend(directory.and_then(ext4::counts).unwrap_or_default());
        Reading(counts)
    }

    /// What was counted since `earlier`, for each of `ops` operations.
    pub fn since(&self, earlier: &Reading, ops: u64) -> BTreeMap<String, f64> {
        let less = |(name, now): (&String, &u64)| {
            Some((name.clone(), now.saturating_sub(*earlier.0.get(name)?)))
        };
        let grown: Counts = self.0.iter().filter_map(less).collect();
        per_operation(lock_stat::busiest(grown), ops)
    }
}

/// Lets the tasks run for one more window with the counters of the processor on, and answers them
/// for each operation.
///
/// # Errors
/// A task whose clock cannot be read (it is gone).
pub(crate) fn count_processor(
    stage: &Stage,
    threads: &[libc::pid_t],
    clocks: &Clocks,
    window: Duration,
    sleep: impl Fn(Duration),
) -> Attempt<BTreeMap<String, f64>> {
    // What cannot be opened is left out.
    let _ = sys::allow_open_files((threads.len() as u64 + 64) * perf::DESCRIPTORS_PER_TASK);
    let counters = perf::Counters::open(threads);
    if counters.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (before, edge) = (counters.read(), Edge::read(&stage.areas, clocks)?);
    sleep(window.min(LONGEST_WINDOW));
    let (_, tally) = Edge::read(&stage.areas, clocks)?.since(&edge);
    Ok(per_operation(counters.read_since(&before), tally.word(0)))
}

fn per_operation(counts: Counts, ops: u64) -> BTreeMap<String, f64> {
    if ops == 0 {
        return BTreeMap::new();
    }
    counts.into_iter().map(|(name, count)| (name, count as f64 / ops as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn what_was_counted_is_told_for_each_operation_and_what_came_up_late_is_not() {
        let earlier = Reading(counts(&[("vmstat.pgfault", 100), ("stat.interrupts", 7)]));
        let now = counts(&[("vmstat.pgfault", 150), ("stat.interrupts", 7), ("late", 9)]);
        let found = Reading(now).since(&earlier, 20);
        let expected = [("stat.interrupts".to_owned(), 0.0), ("vmstat.pgfault".to_owned(), 2.5)];
        assert_eq!(found, BTreeMap::from(expected));
        assert!(Reading(Counts::new()).since(&earlier, 20).is_empty());
    }

    #[test]
    fn without_an_operation_there_is_nothing_to_divide_by() {
        assert!(per_operation(counts(&[("vmstat.pgfault", 1)]), 0).is_empty());
    }
}
