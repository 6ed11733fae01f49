//! What a point cost beside its time: counters read before and after the measured windows (of fixed
//! work before and after each), and those of the processor in one more window behind them, where
//! they disturb no figure.
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

use super::fault::Attempt;
use super::sys;

pub(crate) use profile::record;

/// Counters by name, as they stand.
pub(crate) type Counts = BTreeMap<String, u64>;

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

    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &Reading) -> Counts {
        let less = |(name, now): (&String, &u64)| {
            Some((name.clone(), now.saturating_sub(*earlier.0.get(name)?)))
        };
        self.0.iter().filter_map(less).collect()
    }
}

/// What was counted in several stretches of time, for each of `ops` operations: the counters that
/// each of them has.
pub(crate) fn told(stretches: &[Counts], ops: u64) -> BTreeMap<String, f64> {
    let Some((first, others)) = stretches.split_first() else { return BTreeMap::new() };
    let in_all = |(name, count): (&String, &u64)| {
        let more = others.iter().map(|counts| counts.get(name).copied()).sum::<Option<u64>>()?;
        Some((name.clone(), count + more))
    };
    per_operation(lock_stat::busiest(first.iter().filter_map(in_all).collect()), ops)
}

/// Has `work` done with the counters of the processor on, and answers them for each operation that
/// it says was done.
///
/// # Errors
/// That of the work.
pub(crate) fn count_processor(
    threads: &[libc::pid_t],
    work: impl FnOnce() -> Attempt<u64>,
) -> Attempt<BTreeMap<String, f64>> {
    // What cannot be opened is left out.
    let _ = sys::allow_open_files((threads.len() as u64 + 64) * perf::DESCRIPTORS_PER_TASK);
    let counters = perf::Counters::open(threads);
    if counters.is_empty() {
        return Ok(BTreeMap::new());
    }
    let before = counters.read();
    let ops = work()?;
    Ok(per_operation(counters.read_since(&before), ops))
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
        let grown = Reading(now).since(&earlier);
        let expected = [("stat.interrupts".to_owned(), 0.0), ("vmstat.pgfault".to_owned(), 2.5)];
        assert_eq!(told(&[grown], 20), BTreeMap::from(expected));
        assert!(told(&[Reading(Counts::new()).since(&earlier)], 20).is_empty());
    }

    #[test]
    fn stretches_add_up_for_what_each_of_them_counted() {
        let stretches = [counts(&[("a", 1), ("b", 10)]), counts(&[("b", 30)])];
        assert_eq!(told(&stretches, 4), BTreeMap::from([("b".to_owned(), 10.0)]));
        assert!(told(&[], 4).is_empty());
    }

    #[test]
    fn without_an_operation_there_is_nothing_to_divide_by() {
        assert!(per_operation(counts(&[("vmstat.pgfault", 1)]), 0).is_empty());
    }
}
