//! Fixed work: instead of windows of a given length, rounds of a given amount.
//!
//! How it works: (1) the tasks make themselves ready and gather at the gate; (2) the sampler reads
//! counters and clocks and releases them together; (3) each does its work once and notes when it
//! finished; (4) the slowest one ends the round, which is the window, and only then does any task
//! make itself ready for the next.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wire::{Measured, Window};

use super::disturbance::Reading;
use super::fault::{Attempt, Fault};
use super::gate::{self, SETUP_LIMIT};
use super::job::Job;
use super::message::Message;
use super::shared::{HEAD, Ticks};
use super::spawn::{Stage, Tasks};
use super::tally::Tally;
use super::window::{self, Clocks, Edge};
use super::workload::{Task, Workload};
use super::{evidence, sampler, sys};

/// Word of a task's area that holds the time it finished its work.
const FINISHED_AT: usize = HEAD - 2;

/// Longest round.
const ROUND_LIMIT: Duration = Duration::from_secs(3600);

/// Longest silence towards the parent while a round lasts.
const SIGN_OF_LIFE: Duration = Duration::from_secs(60);

/// A task's side: round after round, until it is ended from outside.
pub(crate) fn work(stage: &Stage, task: u32, running: &mut dyn Task) -> Attempt<()> {
    let area = stage.areas.of(task);
    let ticks = Ticks::new(area, stage.control);
    for release in (1..).step_by(2) {
        running.make_ready()?;
        stage.control.pass_gate(&stage.areas, task, release);
        running.run(&ticks)?;
        area[FINISHED_AT].store(sys::monotonic_ns(), Ordering::Relaxed);
        stage.control.pass_gate(&stage.areas, task, release + 1);
    }
    Ok(())
}

/// Measures rounds and checks the workload's result.
///
/// # Errors
/// What failed; nothing measured before it is kept.
pub(crate) fn sample(
    job: &Job,
    workload: &Workload,
    stage: &Stage,
    tasks: &Tasks,
    tell: &mut dyn FnMut(&Message),
) -> Attempt<Measured> {
    gate::await_all(stage.control, tasks, 1, SETUP_LIMIT)?;
    tell(&Message::Started);
    let (clocks, threads) = Clocks::of(tasks, stage.partners)?;
    let (mut windows, mut tallies): (Vec<Window>, Vec<Tally>) = (vec![], vec![]);
    let mut start_skew_ns = 0;
    let mut before = Reading::now(&threads);
    let counted = || evidence::Reading::now(&threads, job.directory());
    let mut counted_before = counted();
    for done in 1..=job.warmup_windows + job.windows {
        if done == job.warmup_windows + 1 {
            before = Reading::now(&threads);
            counted_before = counted();
        }
        let (window, tally) = round(stage, tasks, &clocks, done, tell)?;
        tell(&Message::Window { done, window: window.clone() });
        if done > job.warmup_windows {
            start_skew_ns = start_skew_ns.max(gate::start_skew_ns(&stage.areas, tasks));
            windows.push(window);
            tallies.push(tally);
        }
    }
    let disturbance = Reading::now(&threads).since(&before, &windows);
    let counters = counted().since(&counted_before, sampler::operations(&tallies));
    stage.prepared.verify(&|word| window::total(&stage.areas, job.tasks, word))?;
    let found = stage.prepared.found();
    Ok(Measured {
        placement: stage.placement.clone(),
        start_skew_ns,
        warmup_windows: job.warmup_windows,
        metrics: sampler::metrics(workload, job.tasks, &tallies, &found),
        windows,
        disturbance,
        counters,
    })
}

/// One round, the `nth` from 1: from the release to the last task's finish.
fn round(
    stage: &Stage,
    tasks: &Tasks,
    clocks: &Clocks,
    nth: u32,
    tell: &mut dyn FnMut(&Message),
) -> Attempt<(Window, Tally)> {
    let (release, finish) = (2 * nth - 1, 2 * nth);
    if nth > 1 {
        stage.control.open_gate(release - 1);
        gate::await_all(stage.control, tasks, release, SETUP_LIMIT)?;
    }
    let edge = Edge::read(&stage.areas, clocks)?;
    let released_at = sys::monotonic_ns();
    stage.control.open_gate(release);
    let began = Instant::now();
    while gate::await_all(stage.control, tasks, finish, SIGN_OF_LIFE).is_err() {
        tasks.check(stage.control)?;
        if began.elapsed() > ROUND_LIMIT {
            let detail = format!("not all tasks finished their work in {ROUND_LIMIT:?}");
            return Err(Fault::wrong("round", detail));
        }
        tell(&Message::Started);
    }
    let (mut window, mut tally) = Edge::read(&stage.areas, clocks)?.since(&edge);
    let finished = |task| {
        let at = stage.areas.of(task)[FINISHED_AT].load(Ordering::Relaxed);
        at.saturating_sub(released_at).max(1)
    };
    tally.finish_ns = (0..tasks.count()).map(finished).collect();
    tally.dt_ns = tally.finish_ns.iter().copied().max().unwrap_or(1);
    window.dt_ns = i64::try_from(tally.dt_ns)
        .map_err(|_| Fault::wrong("clock", "a round longer than the clock can say"))?;
    Ok((window, tally))
}
