//! AIM7's and re-AIM's tests. A **job** is a fixed piece of work; a **load** is a number of jobs
//! each task does once after a common release, in an order of its own; the slowest task ends it.

mod compute;
pub(super) mod creat_close;
pub(super) mod disk;
pub(super) mod fserver;
mod messages;
mod names;

use stats::random::Random;
use wire::{Direction, Unit};

use crate::harness::{
    Allowed, Attempt, Fault, Parameter, Prepared, Setup, SideMetric, Tally, Task, Ticks,
};

/// How many jobs a task does.
const JOBS_PARAMETER: Parameter = Parameter {
    name: "jobs",
    default: "100",
    allowed: Allowed::Whole(1, 1_000_000),
    about: "jobs of each task",
};

/// Word of a task's counters that holds the jobs it finished.
const JOBS: usize = 1;

/// What AIM prints of a load: jobs a minute, the job timing index, and the tasks' times.
const LOAD_METRICS: &[SideMetric] = &[
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
    SideMetric {
        name: "first_finish_s",
        unit: Unit::Seconds,
        direction: Direction::Lower,
        value: |load| load.finish_ns.iter().min().map(|&ns| ns as f64 / 1e9),
    },
    SideMetric {
        name: "finish_sd_s",
        unit: Unit::Seconds,
        direction: Direction::Lower,
        value: |load| finish_times(load).map(|(_, deviation_ns)| deviation_ns / 1e9),
    },
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
    let (mean, deviation) = finish_times(load).filter(|(mean, _)| *mean > 0.0)?;
    Some((1.0 - deviation / mean).max(0.0))
}

/// Mean and deviation (over the population) of the tasks' finish times, ns.
fn finish_times(load: &Tally) -> Option<(f64, f64)> {
    let n = load.finish_ns.len() as f64;
    let times = || load.finish_ns.iter().map(|&ns| ns as f64);
    let mean = times().sum::<f64>() / n;
    let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / n;
    (n > 0.0).then(|| (mean, variance.sqrt()))
}

/// One job, done with what a task has.
type Job = fn(&mut Desk, &Ticks) -> Attempt<()>;

/// Bytes of a block of the file jobs.
const BLOCK: usize = 1024;

/// The file that all tasks copy.
const COMMON: &str = "tmpa.common";

/// What a task has for its jobs.
struct Desk {
    task: u32,
    /// Blocks of a file.
    blocks: u64,
    /// Whether files are synced where re-AIM would sync all disks.
    fsync: bool,
    buffer: [u8; BLOCK],
    random: Random,
    messages: Option<messages::Sockets>,
}

/// A load: the same jobs for every task.
struct Load {
    list: Vec<Job>,
    blocks: u64,
    fsync: bool,
    /// Whether a job of the list sends messages.
    messages: bool,
}

impl Load {
    /// A load of these jobs, and the files that all tasks use. The parameters are those of
    /// [`disk::PARAMETERS`].
    fn of_files(setup: &Setup<'_>, list: Vec<Job>) -> Attempt<Load> {
        let values = setup.values;
        let blocks = values.whole("file_kib")? + values.whole("pool_kib")? / u64::from(setup.tasks);
        std::fs::write(COMMON, vec![0x2e; blocks as usize * BLOCK])
            .map_err(|e| Fault::io("write", &e))?;
        let fsync = values.word("sync") == "fsync";
        Ok(Load { blocks, fsync, ..Load::of_names(list)? })
    }

    /// A load of jobs that write nothing into files.
    fn of_names(list: Vec<Job>) -> Attempt<Load> {
        names::make_tree()?;
        Ok(Load { list, blocks: 0, fsync: false, messages: false })
    }
}

impl Prepared for Load {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let desk = Desk {
            task,
            blocks: self.blocks,
            fsync: self.fsync,
            buffer: [0x2e; BLOCK],
            random: Random::new(u64::from(task)),
            messages: self.messages.then(messages::Sockets::new).transpose()?,
        };
        Ok(Box::new(Worker { desk, list: self.list.clone() }))
    }

    fn fixed_work(&self) -> bool {
        true
    }
}

struct Worker {
    desk: Desk,
    list: Vec<Job>,
}

impl Task for Worker {
    /// Draws the order: every job of the list once.
    fn make_ready(&mut self) -> Attempt<()> {
        shuffle(&mut self.list, &mut self.desk.random);
        Ok(())
    }

    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        for job in &self.list {
            job(&mut self.desk, ticks)?;
            ticks.add(JOBS, 1);
        }
        Ok(())
    }
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for i in (1..list.len()).rev() {
        list.swap(i, random.below(i + 1));
    }
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
        let load = Tally { finish_ns: vec![2, 4], ..Tally::default() };
        assert_eq!(finish_times(&load), Some((3.0, 1.0)));
    }

    #[test]
    fn a_shuffle_keeps_every_job_and_depends_on_the_seed_alone() {
        let drawn = |seed| {
            let mut list: Vec<u32> = (0..50).collect();
            shuffle(&mut list, &mut Random::new(seed));
            list
        };
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
        let mut sorted = drawn(5);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
