//! Readings of all counters and clocks at one moment, and the window between two.
//!
//! How it works: (1) read the clock, then all counters, then all CPU clocks; (2) if that took
//! suspiciously long, the sampler itself was put aside in between: read again; (3) a window is the
//! difference of two edges, so its length is what the clock says and never what was asked for.

use std::sync::atomic::Ordering;

use super::fault::Attempt;
use super::partner::Partners;
use super::shared::{Areas, CHILDREN_CPU};
use super::spawn::Tasks;
use super::sys;
use super::tally::Tally;

/// Time a reading may take before it is repeated, ns, and for each task more.
const QUICK_NS: u64 = 50_000;
const QUICK_NS_PER_TASK: u64 = 3_000;
/// Readings, and time over all of them, ns, before the last one is taken as it is.
const TRIES: u32 = 8;
const PATIENCE_NS: u64 = 20_000_000;

/// The CPU clocks of the tasks.
pub(crate) struct Clocks {
    own: Vec<libc::clockid_t>,
    /// Whose partner, and its clock.
    partners: Vec<(usize, libc::clockid_t)>,
}

impl Clocks {
    /// Clocks, and the thread ids of tasks and partners.
    ///
    /// # Errors
    /// A task that is gone.
    pub fn of(tasks: &Tasks, partners: Partners) -> Attempt<(Clocks, Vec<libc::pid_t>)> {
        let (own, mut threads): (Vec<_>, Vec<_>) = tasks.clocks()?.into_iter().unzip();
        let mut clocks = Clocks { own, partners: vec![] };
        for task in 0..tasks.count() {
            if let Some((clock, thread)) = partners.clock(task)? {
                clocks.partners.push((task as usize, clock));
                threads.push(thread);
            }
        }
        Ok((clocks, threads))
    }

    fn tasks(&self) -> u32 {
        self.own.len() as u32
    }

    /// CPU time of each task, ns, its partner's included.
    fn read(&self) -> Attempt<Vec<u64>> {
        let mut times: Vec<u64> =
            self.own.iter().map(|&clock| sys::clock_ns(clock)).collect::<Attempt<_>>()?;
        for &(task, clock) in &self.partners {
            times[task] += sys::clock_ns(clock)?;
        }
        Ok(times)
    }
}

/// One reading.
pub(crate) struct Edge {
    at_ns: u64,
    ops: Vec<u64>,
    cpu_ns: Vec<u64>,
    /// Every counter word, summed over the tasks.
    words: Vec<u64>,
}

impl Edge {
    /// Reads everything now.
    ///
    /// # Errors
    /// A task whose clock cannot be read (it is gone).
    pub fn read(areas: &Areas, clocks: &Clocks) -> Attempt<Edge> {
        let quick = QUICK_NS + QUICK_NS_PER_TASK * u64::from(clocks.tasks());
        let (began, mut tries) = (sys::monotonic_ns(), 0);
        loop {
            tries += 1;
            let at_ns = sys::monotonic_ns();
            let ops = (0..clocks.tasks()).map(|t| areas.of(t)[0].load(Ordering::Relaxed));
            let ops: Vec<u64> = ops.collect();
            let mut cpu_ns = clocks.read()?;
            for (task, cpu_ns) in cpu_ns.iter_mut().enumerate() {
                *cpu_ns += areas.of(task as u32)[CHILDREN_CPU].load(Ordering::Relaxed);
            }
            let now = sys::monotonic_ns();
            if tries == TRIES || now - at_ns <= quick || now - began > PATIENCE_NS {
                return Ok(Edge { at_ns, ops, cpu_ns, words: summed(areas, clocks.tasks()) });
            }
        }
    }

    /// The window from `earlier` to this edge, by task and summed up.
    pub fn since(&self, earlier: &Edge) -> (wire::Window, Tally) {
        let less = |now: &[u64], then: &[u64]| -> Vec<u64> {
            now.iter().zip(then).map(|(n, t)| n.wrapping_sub(*t)).collect()
        };
        let window = wire::Window {
            dt_ns: (self.at_ns - earlier.at_ns) as i64,
            ops: less(&self.ops, &earlier.ops),
            cpu_ns: less(&self.cpu_ns, &earlier.cpu_ns),
        };
        let mut words = less(&self.words, &earlier.words);
        words[0] = window.ops.iter().sum();
        let cpu_ns = window.cpu_ns.iter().sum();
        let (task_ops, totals) = (window.ops.clone(), self.words.clone());
        let dt_ns = self.at_ns - earlier.at_ns;
        let tally = Tally { dt_ns, cpu_ns, words, totals, held: None, task_ops, finish_ns: vec![] };
        (window, tally)
    }
}

fn summed(areas: &Areas, tasks: u32) -> Vec<u64> {
    let mut sums = vec![0u64; areas.of(0).len()];
    for task in 0..tasks {
        for (sum, word) in sums.iter_mut().zip(areas.of(task)) {
            *sum = sum.wrapping_add(word.load(Ordering::Relaxed));
        }
    }
    sums
}

/// A counter word summed over the tasks, from the first operation on.
pub(crate) fn total(areas: &Areas, tasks: u32, word: usize) -> u64 {
    (0..tasks).map(|task| areas.of(task)[word].load(Ordering::Relaxed)).sum()
}
