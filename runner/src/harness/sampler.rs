//! The sampler: opens the gate, takes the windows, stops what can stop, makes the outcome.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wire::{Disturbance, DisturbedWindow, Measured, Metric, Window};

use super::around::Around;
use super::evidence;
use super::fault::Attempt;
use super::gate::{self, SETUP_LIMIT};
use super::job::{Job, Recording};
use super::memory::Gauge;
use super::message::Message;
use super::pace::{Pace, Scene, Tell};
use super::rounds::Rounds;
use super::spawn::{Stage, Tasks};
use super::stay::Places;
use super::tally::{Tally, side_metrics};
use super::tend::Tending;
use super::timed::{self, Timed};
use super::window::{self, Clocks};
use super::workload::Workload;

/// Longest window in which the processor counts.
const LONGEST_COUNTED: Duration = Duration::from_secs(1);

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
    tell: Tell<'_>,
) -> Attempt<Measured> {
    let fixed_work = stage.prepared.fixed_work();
    match fixed_work {
        true => gate::await_all(stage.control, tasks, 1, SETUP_LIMIT)?,
        false => gate::start_all(stage.control, &stage.areas, tasks)?,
    }
    tell(&Message::Started);
    let (clocks, threads) = Clocks::of(tasks, stage.partners)?;
    let scene = Scene { job, stage, tasks, clocks };
    let pace: &mut dyn Pace = match fixed_work {
        true => &mut Rounds::begin(&scene),
        false => &mut Timed::begin(&scene)?,
    };
    let mut around = Around::new(&threads, job.directory());
    let taken = take(&scene, pace, &mut around, gauge, &threads, tell)?;
    let disturbance = Disturbance {
        remeasured_windows: taken.again.len() as u32,
        windows: taken.disturbed,
        ..around.disturbance()
    };
    let mut counters = around.counters(operations(&taken.windows) + operations(&taken.again));
    counters.extend(count_processor(job, pace, &threads, tell)?);
    let start_skew_ns = pace.start_skew_ns();
    let verify = || stage.prepared.verify(&|word| window::total(&stage.areas, job.tasks, word));
    if fixed_work {
        // Before the profile, which ends in the middle of a round.
        verify()?;
    }
    profile(job, stage, pace, &threads, tell);
    tasks.check(stage.control)?;
    if workload.can_stop {
        timed::stop(stage, tasks)?;
        if let Some(tending) = tending {
            tending.end();
        }
        verify()?;
    }
    let found = stage.prepared.found();
    Ok(Measured {
        placement: stage.placement.clone(),
        start_skew_ns,
        warmup_windows: job.warmup_windows,
        metrics: metrics(workload, job.tasks, &taken.tallies, &found),
        windows: taken.windows,
        disturbance,
        counters,
    })
}

/// Takes windows until there are enough.
fn take(
    scene: &Scene<'_>,
    pace: &mut dyn Pace,
    around: &mut Around<'_>,
    gauge: &Gauge,
    threads: &[libc::pid_t],
    tell: Tell<'_>,
) -> Attempt<Taken> {
    let Scene { job, stage, .. } = scene;
    let places = Places::of(threads);
    let mut taken = Taken::default();
    let (mut done, mut began) = (0, None);
    loop {
        let measured = done >= job.warmup_windows;
        pace.gather()?;
        if measured && around.open() {
            pace.restart()?;
            began.get_or_insert_with(Instant::now);
        }
        let (window, mut tally) = pace.window(job.window(), tell)?;
        places.check()?;
        let why = pace.what_disturbed(&window);
        around.add(&window);
        if pace.is_apart() {
            around.close();
        }
        if measured && why.is_some() && taken.again.len() < job.remeasure as usize {
            taken.again.push(window);
            // A sign of life.
            tell(&Message::Started);
            continue;
        }
        done += 1;
        tell(&Message::Window { done, window: window.clone() });
        if measured {
            if stage.prepared.watches_memory() {
                tally.held = gauge.read();
            }
            taken.keep(window, tally, why);
            if taken.is_enough(job, began.map_or(Duration::ZERO, |at: Instant| at.elapsed())) {
                around.close();
                return Ok(taken);
            }
        }
    }
}

/// What the processor counts in one more window.
fn count_processor(
    job: &Job,
    pace: &mut dyn Pace,
    threads: &[libc::pid_t],
    tell: Tell<'_>,
) -> Attempt<BTreeMap<String, f64>> {
    pace.gather()?;
    evidence::count_processor(threads, || {
        pace.restart()?;
        let (_, tally) = pace.window(job.window().min(LONGEST_COUNTED), tell)?;
        Ok(tally.word(0))
    })
}

/// Lets the tasks run on for their profile, where one is wanted.
fn profile(job: &Job, stage: &Stage, pace: &mut dyn Pace, threads: &[libc::pid_t], tell: Tell<'_>) {
    let Some(Recording { length_ns, file }) = &job.profile else { return };
    let ends = |patience| {
        pace.go_on(patience);
        stage.control.alarm.load(Ordering::Acquire) != 0
    };
    let recorded = evidence::record(threads, Duration::from_nanos(*length_ns), file, ends);
    tell(&Message::Profiled(recorded.map(str::to_owned)));
}

/// Operations of all tasks in these windows.
fn operations(windows: &[Window]) -> u64 {
    windows.iter().flat_map(|window| &window.ops).sum()
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

/// The metrics of a point: the usual ones, then the workload's own.
fn metrics(
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
