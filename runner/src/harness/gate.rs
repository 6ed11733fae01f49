//! The start gate: no task begins before all have finished their set-up.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::fault::{Attempt, Fault};
use super::shared::{Areas, Control};
use super::spawn::Tasks;
use super::{futex, sys};

/// Word of a task's area that holds the time it passed the gate.
const STARTED_AT: usize = super::shared::HEAD - 1;

/// Longest set-up of all tasks.
pub(crate) const SETUP_LIMIT: Duration = Duration::from_secs(120);
/// Longest time from the gate to the first operation of the last task.
const FIRST_OPERATION_LIMIT: Duration = Duration::from_secs(60);
/// Time each task more may take: on a few CPUs thousands of them wait for their turns.
const LIMIT_PER_TASK: Duration = Duration::from_millis(20);

impl Control {
    /// A task's side: says it is ready, sleeps until the gate has been opened `opening` times in
    /// all, notes when it passed.
    pub fn pass_gate(&self, areas: &Areas, task: u32, opening: u32) {
        let started_at = &areas.of(task)[STARTED_AT];
        // The first touch of the page, before any clock runs.
        started_at.store(started_at.load(Ordering::Relaxed), Ordering::Relaxed);
        self.ready.fetch_add(1, Ordering::AcqRel);
        futex::wake(&self.ready, 1);
        loop {
            let opened = self.gate.load(Ordering::Acquire);
            if opened >= opening {
                break;
            }
            futex::wait(&self.gate, opened, None);
        }
        started_at.store(sys::monotonic_ns(), Ordering::Relaxed);
    }

    /// The sampler's side: opens the gate for the `opening`th time.
    pub fn open_gate(&self, opening: u32) {
        self.gate.store(opening, Ordering::Release);
        futex::wake(&self.gate, i32::MAX);
    }
}

/// The sampler's side: waits for all tasks, opens the gate, waits for each one's first operation.
///
/// # Errors
/// A task that failed, died or did not get ready in time.
pub(crate) fn start_all(control: &Control, areas: &Areas, tasks: &Tasks) -> Attempt<()> {
    await_all(control, tasks, 1, SETUP_LIMIT)?;
    control.open_gate(1);
    await_first_operations(control, areas, tasks)
}

/// Waits until every task stands before the `opening`th opening of the gate.
///
/// # Errors
/// A task that failed, died or did not get there within `limit` and its share of the turns.
pub(crate) fn await_all(
    control: &Control,
    tasks: &Tasks,
    opening: u32,
    limit: Duration,
) -> Attempt<()> {
    let began = Instant::now();
    let before = tasks.count() * (opening - 1);
    let limit = limit + LIMIT_PER_TASK * tasks.count();
    loop {
        let ready = control.ready.load(Ordering::Acquire);
        tasks.check(control)?;
        if ready == before + tasks.count() {
            return Ok(());
        }
        if began.elapsed() > limit {
            let detail = format!("{} tasks ready after {limit:?}", ready - before);
            return Err(Fault::wrong("set-up", detail));
        }
        futex::wait(&control.ready, ready, Some(Duration::from_millis(50)));
    }
}

/// Time between the first and the last task's passing of the gate.
pub(crate) fn start_skew_ns(areas: &Areas, tasks: &Tasks) -> u64 {
    let passed = |task| areas.of(task)[STARTED_AT].load(Ordering::Relaxed);
    let (first, last) = (0..tasks.count())
        .map(passed)
        .fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
    last.saturating_sub(first)
}

fn await_first_operations(control: &Control, areas: &Areas, tasks: &Tasks) -> Attempt<()> {
    let began = Instant::now();
    let limit = FIRST_OPERATION_LIMIT + LIMIT_PER_TASK * tasks.count();
    for task in 0..tasks.count() {
        while areas.of(task)[0].load(Ordering::Relaxed) == 0 {
            tasks.check(control)?;
            if began.elapsed() > limit {
                let detail = format!("task {task} did nothing in {limit:?}");
                return Err(Fault::wrong("start", detail));
            }
            futex::wait(&control.alarm, 0, Some(Duration::from_micros(500)));
        }
    }
    Ok(())
}
