//! The same load as append-truncate in containers, one a task: each has its own folder on the file
//! system under test and, as asked for, its own control groups or its own mount namespace.
//!
//! What was asked for is in force, or the point fails: nothing is isolated less than it says.

use std::fs;

use wire::{Direction, Unit};

use super::append_truncate::{Allocating, CHUNK, EXTENTS_PER_FILE, FILE};
use super::cgroup::Groups;
use super::namespace;
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Tally, Task, Workload,
};
use crate::workloads::files::own_file;

pub(in super::super) const WORKLOAD: Workload = Workload {
    id: "fallocate/containers",
    version: 1,
    description: "fallocate and truncate an own file in each of several containers, one a task",
    operation: "one fallocate of a piece",
    stresses: "block allocator and journal shared by containers, memory accounting",
    parameters: &[
        Parameter {
            name: "isolation",
            default: "plain",
            allowed: Allowed::OneOf(&["plain", "namespace", "cgroup"]),
            about: "own folder; and own mount namespace; or own cpuset and memory control groups",
        },
        CHUNK,
        FILE,
    ],
    metrics: &[
        SideMetric {
            name: "ops_per_s_per_container",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |window| per_container(window, |rates| rates.sum::<f64>() / containers(window)),
        },
        SideMetric {
            name: "ops_per_s_slowest_container",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |window| per_container(window, |rates| rates.fold(f64::INFINITY, f64::min)),
        },
        SideMetric {
            name: "ops_per_s_fastest_container",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |window| per_container(window, |rates| rates.fold(0.0, f64::max)),
        },
        SideMetric {
            name: "container_fairness",
            unit: Unit::Ratio,
            direction: Direction::Higher,
            value: jain,
        },
        EXTENTS_PER_FILE,
    ],
    needs_directory: true,
    modes: &[Mode::Process],
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn containers(window: &Tally) -> f64 {
    window.task_ops.len() as f64
}

fn per_container(
    window: &Tally,
    value: impl FnOnce(&mut dyn Iterator<Item = f64>) -> f64,
) -> Option<f64> {
    let seconds = window.dt_ns as f64 / 1e9;
    let mut rates = window.task_ops.iter().map(|&ops| ops as f64 / seconds);
    (window.word(0) > 0).then(|| value(&mut rates))
}

/// Jain's index of the containers' rates: 1 when all are equal, 1/n when one has everything.
/// Jain, Chiu, Hawe: A Quantitative Measure of Fairness (1984).
fn jain(window: &Tally) -> Option<f64> {
    let ops = || window.task_ops.iter().map(|&ops| ops as f64);
    let (sum, squares) = (ops().sum::<f64>(), ops().map(|ops| ops * ops).sum::<f64>());
    (squares > 0.0).then(|| sum * sum / (containers(window) * squares))
}

enum Isolation {
    Plain,
    Namespace,
    Cgroup(Groups),
}

struct Containers {
    isolation: Isolation,
    chunk: libc::off_t,
    size: libc::off_t,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let (chunk, size) = (setup.values.whole("chunk")?, setup.values.whole("file")?);
    let isolation = match setup.values.word("isolation") {
        "cgroup" => Isolation::Cgroup(Groups::new(setup.tasks)?),
        "namespace" => Isolation::Namespace,
        _ => Isolation::Plain,
    };
    let (chunk, size) = (chunk as libc::off_t, size as libc::off_t);
    Ok(Box::new(Containers { isolation, chunk, size }))
}

impl Prepared for Containers {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let folder = format!("container{task}");
        fs::create_dir(&folder).map_err(|e| Fault::io("mkdir", &e))?;
        match &self.isolation {
            Isolation::Plain => {}
            Isolation::Namespace => namespace::enter(&folder)?,
            Isolation::Cgroup(groups) => groups.join(task)?,
        }
        // A process of its own: nobody else's working directory changes.
        std::env::set_current_dir(&folder).map_err(|e| Fault::io("chdir", &e))?;
        Ok(Box::new(Allocating::new(own_file(task)?, self.chunk, self.size)))
    }

    fn clear(&self) {
        if let Isolation::Cgroup(groups) = &self.isolation {
            groups.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(task_ops: &[u64]) -> Tally {
        let words = vec![task_ops.iter().sum()];
        Tally { dt_ns: 2_000_000_000, words, task_ops: task_ops.to_vec(), ..Tally::default() }
    }

    #[test]
    fn fairness_is_one_among_equals_and_a_share_when_one_has_everything() {
        assert_eq!(jain(&window(&[5, 5, 5])), Some(1.0));
        assert_eq!(jain(&window(&[9, 0, 0, 0])), Some(0.25));
        assert_eq!(jain(&window(&[0, 0])), None);
    }

    #[test]
    fn rates_of_containers_are_their_mean_their_least_and_their_most() {
        let values: Vec<_> =
            WORKLOAD.metrics[..3].iter().map(|m| (m.value)(&window(&[200, 600]))).collect();
        assert_eq!(values, [Some(200.0), Some(100.0), Some(300.0)]);
        assert_eq!((WORKLOAD.metrics[1].value)(&window(&[])), None);
    }
}
