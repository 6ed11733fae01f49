//! The sampler: opens the gate, takes the windows, stops what can stop, makes the outcome.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wire::{DisturbedWindow, Measured, Metric, Window};

use super::disturbance::Reading;
use super::fault::{Attempt, Fault};
use super::job::{Job, Recording};
use super::memory::Gauge;
use super::message::Message;
use super::spawn::{Stage, Tasks};
use super::stay::Places;
use super::tally::{Tally, side_metrics};
use super::tend::Tending;
use super::watch::Watch;
use super::window::{self, Clocks, Edge};
use super::workload::Workload;
use super::{evidence, futex, rounds};

/// Longest wait for the tasks of a workload that can stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// Measures the tasks and checks the workload's result.
///
/// # Errors
/// What failed; nothing measured before it is kept.
pub(crate) fn sample(
    job: &Job,
    workload: &Workload,
    stage: &Stage,
    tasks: &Tasks,
    gauge: &Gauge,
    tending: Option<Tending>,
    tell: &mut dyn FnMut(&Message),
) -> Attempt<Measured> {
    if stage.prepared.fixed_work() {
        return rounds::sample(job, workload, stage, tasks, tell);
    }
    let start_skew_ns = super::gate::start_all(stage.control, &stage.areas, tasks)?;
    tell(&Message::Started);
    let (clocks, threads) = Clocks::of(tasks, stage.partners)?;
    let places = Places::of(&threads);
    let mut taken = Taken::default();
    let mut watch = Watch::start(job.window());
    let mut before = Reading::now(&threads);
    let counted = || evidence::Reading::now(&threads, job.directory());
    let mut counted_before = counted();
    let mut edge = Edge::read(&stage.areas, &clocks)?;
    let (mut done, mut began) = (0, Instant::now());
    loop {
        sleep(stage, job.window());
        tasks.check(stage.control)?;
        let next = Edge::read(&stage.areas, &clocks)?;
        let (window, mut tally) = next.since(&edge);
        edge = next;
        places.check()?;
        let why = watch.judge(&window);
        if done >= job.warmup_windows && why.is_some() && taken.again.len() < job.remeasure as usize
        {
            taken.again.push(window);
            // A sign of life.
            tell(&Message::Started);
            continue;
        }
        done += 1;
        tell(&Message::Window { done, window: window.clone() });
        if done == job.warmup_windows {
            before = Reading::now(&threads);
            counted_before = counted();
            edge = Edge::read(&stage.areas, &clocks)?;
            watch.restart();
            began = Instant::now();
        } else if done > job.warmup_windows {
            if stage.prepared.watches_memory() {
                tally.held = gauge.read();
            }
            taken.keep(window, tally, why);
            if taken.is_enough(job, began.elapsed()) {
                break;
            }
        }
    }
    let Taken { windows, tallies, disturbed, again } = taken;
    let all = [windows.as_slice(), again.as_slice()].concat();
    let disturbance = wire::Disturbance {
        remeasured_windows: again.len() as u32,
        windows: disturbed,
        ..Reading::now(&threads).since(&before, &all)
    };
    let done_again: u64 = again.iter().flat_map(|window| &window.ops).sum();
    let all_operations = operations(&tallies) + done_again;
    let mut counters = counted().since(&counted_before, all_operations);
    let window = job.window();
    let sleep = |window| sleep(stage, window);
    counters.extend(evidence::count_processor(stage, &threads, &clocks, window, sleep)?);
    profile(job, stage, &threads, tell);
    tasks.check(stage.control)?;
    if workload.can_stop {
        stop(stage, tasks)?;
        if let Some(tending) = tending {
            tending.end();
        }
        stage.prepared.verify(&|word| window::total(&stage.areas, job.tasks, word))?;
    }
    let found = stage.prepared.found();
    Ok(Measured {
        placement: stage.placement.clone(),
        start_skew_ns,
        warmup_windows: job.warmup_windows,
        metrics: metrics(workload, job.tasks, &tallies, &found),
        windows,
        disturbance,
        counters,
    })
}

/// Lets the tasks run on for their profile, where one is wanted.
fn profile(job: &Job, stage: &Stage, threads: &[libc::pid_t], tell: &mut dyn FnMut(&Message)) {
    let Some(Recording { length_ns, file }) = &job.profile else { return };
    let ends = |patience| {
        sleep(stage, patience);
        stage.control.alarm.load(Ordering::Acquire) != 0
    };
    let recorded = evidence::record(threads, Duration::from_nanos(*length_ns), file, ends);
    tell(&Message::Profiled(recorded.map(str::to_owned)));
}

/// Operations of all windows.
pub(super) fn operations(tallies: &[Tally]) -> u64 {
    tallies.iter().map(|tally| tally.word(0)).sum()
}

/// The windows so far.
#[derive(Default)]
struct Taken {
    windows: Vec<Window>,
    tallies: Vec<Tally>,
    /// Those kept although they were disturbed.
    disturbed: Vec<DisturbedWindow>,
    /// Those thrown away.
    again: Vec<Window>,
}

impl Taken {
    fn keep(&mut self, window: Window, tally: Tally, why: Option<String>) {
        let index = self.windows.len() as u32;
        self.disturbed.extend(why.map(|why| DisturbedWindow { window: index, why }));
        self.windows.push(window);
        self.tallies.push(tally);
    }

    fn is_enough(&self, job: &Job, elapsed: Duration) -> bool {
        let asked = self.windows.len() >= job.windows as usize;
        asked && job.until.is_none_or(|until| until.is_enough(&self.windows, elapsed))
    }
}

/// Sleeps for one window, or until the alarm.
fn sleep(stage: &Stage, window: Duration) {
    let began = Instant::now();
    while let Some(left) = window.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
        if stage.control.alarm.load(Ordering::Acquire) != 0 {
            return;
        }
        futex::wait(&stage.control.alarm, 0, Some(left));
    }
}

fn stop(stage: &Stage, tasks: &Tasks) -> Attempt<()> {
    let began = Instant::now();
    stage.control.stop.store(1, Ordering::Release);
    futex::wake(&stage.control.stop, 1);
    loop {
        let stopped = stage.control.stopped.load(Ordering::Acquire);
        tasks.check(stage.control)?;
        if stopped == tasks.count() {
            return Ok(());
        }
        if began.elapsed() > STOP_LIMIT {
            let detail = format!("{stopped} of {} tasks stopped in {STOP_LIMIT:?}", tasks.count());
            return Err(Fault::wrong("stop", detail));
        }
        futex::wait(&stage.control.stopped, stopped, Some(Duration::from_millis(50)));
    }
}

/// The metrics of a point: the usual ones, then the workload's own.
pub(super) fn metrics(
    workload: &Workload,
    tasks: u32,
    tallies: &[Tally],
    found: &[(&str, f64)],
) -> Vec<Metric> {
    let mut metrics = vec![Metric::ops_per_s_total(), Metric::ops_per_cpu_s()];
    if tasks > 1 {
        metrics.push(Metric::task_fairness());
    }
    metrics.extend(side_metrics(workload.metrics, tallies, found));
    metrics
}
