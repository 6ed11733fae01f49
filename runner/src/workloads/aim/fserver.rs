//! AIM's mix of a file server: jobs of many kinds by weight. The weights are scaled to the jobs of
//! a task; each task does them all, in an order drawn anew for each load.

use super::{Job, LOAD_METRICS, Load, compute, creat_close, disk, messages, names};
use crate::harness::{Attempt, Mode, Prepared, Setup, Workload};

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "aim/fserver",
    version: 1,
    description: "a load of the jobs of a file server, by weight: files, names, memory, messages",
    operation: "a block, a name, a creat, a message, or one whole job of computing",
    stresses: "file system, page cache, loopback network, a little of everything",
    parameters: disk::PARAMETERS,
    metrics: LOAD_METRICS,
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// The jobs and their weights.
const MIX: [(Job, u32); 33] = [
    (compute::add_int, 20),
    (compute::add_long, 20),
    (compute::add_short, 20),
    (creat_close::for_desk, 20),
    (names::directories, 20),
    (disk::copy, 30),
    (disk::read, 30),
    (disk::random_read, 30),
    (disk::random_write, 30),
    (names::sources, 30),
    (disk::write, 30),
    (compute::div_double, 10),
    (compute::div_int, 10),
    (compute::div_long, 10),
    (compute::div_short, 10),
    (compute::jump, 10),
    (names::links, 20),
    (compute::allocate, 40),
    (compute::move_memory, 10),
    (compute::ask, 20),
    (compute::mul_double, 10),
    (compute::mul_int, 10),
    (compute::mul_long, 10),
    (compute::mul_short, 10),
    (compute::copy_memory, 20),
    (compute::signal, 10),
    (compute::sort, 30),
    (compute::text, 30),
    (disk::sync_copy, 5),
    (disk::sync_random_write, 5),
    (disk::sync_write, 5),
    (messages::tcp, 10),
    (messages::udp, 40),
];

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let list = drawn(&MIX, setup.values.whole("jobs")?);
    Ok(Box::new(Load { messages: true, ..Load::of_files(setup, list)? }))
}

/// Each job as often as its share of `jobs` says, rounded, but once at least.
fn drawn<T: Copy>(mix: &[(T, u32)], jobs: u64) -> Vec<T> {
    let total: u32 = mix.iter().map(|(_, weight)| weight).sum();
    let times = |weight: u32| {
        let share = f64::from(weight) / f64::from(total) * jobs as f64;
        (share.round() as usize).max(1)
    };
    mix.iter().flat_map(|&(job, weight)| std::iter::repeat_n(job, times(weight))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_drawn_by_its_weight_and_once_at_least() {
        let list = drawn(&[('a', 60), ('b', 39), ('c', 1)], 100);
        let count = |job| list.iter().filter(|other| **other == job).count();
        assert_eq!((count('a'), count('b'), count('c')), (60, 39, 1));
        assert_eq!(drawn(&[('a', 999), ('b', 1)], 10).len(), 11);
        let whole = drawn(&MIX, 100).len();
        assert!((95..=110).contains(&whole), "{whole} jobs of a hundred");
    }
}
