//! Windows of a given length while endless loops run: each begins where the one before it ended.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wire::Window;

use super::fault::{Attempt, Fault};
use super::pace::{Pace, Scene, Tell};
use super::spawn::{Stage, Tasks};
use super::tally::Tally;
use super::watch::{self, Watch};
use super::window::Edge;
use super::{futex, gate};

/// Longest wait for the tasks of a workload that can stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// The sampler's side.
pub(crate) struct Timed<'a> {
    scene: &'a Scene<'a>,
    /// None where windows are too short to be judged.
    watch: Option<Watch>,
    edge: Edge,
    start_skew_ns: u64,
}

impl<'a> Timed<'a> {
    /// The tasks run already.
    ///
    /// # Errors
    /// A task that is gone.
    pub fn begin(scene: &'a Scene<'a>) -> Attempt<Timed<'a>> {
        let Scene { job, stage, tasks, clocks } = scene;
        let watch = (job.window() >= watch::SHORTEST).then(Watch::start);
        let start_skew_ns = gate::start_skew_ns(&stage.areas, tasks);
        Ok(Timed { scene, watch, edge: Edge::read(&stage.areas, clocks)?, start_skew_ns })
    }
}

impl Pace for Timed<'_> {
    fn gather(&mut self) -> Attempt<()> {
        Ok(())
    }

    fn restart(&mut self) -> Attempt<()> {
        self.edge = Edge::read(&self.scene.stage.areas, &self.scene.clocks)?;
        self.watch.iter_mut().for_each(Watch::restart);
        Ok(())
    }

    fn window(&mut self, length: Duration, _tell: Tell<'_>) -> Attempt<(Window, Tally)> {
        let Scene { stage, tasks, clocks, .. } = self.scene;
        sleep(stage, length);
        tasks.check(stage.control)?;
        let next = Edge::read(&stage.areas, clocks)?;
        let taken = next.since(&self.edge);
        self.edge = next;
        Ok(taken)
    }

    fn what_disturbed(&mut self, window: &Window) -> Option<String> {
        self.watch.as_mut()?.judge(window)
    }

    fn is_apart(&self) -> bool {
        false
    }

    fn start_skew_ns(&self) -> u64 {
        self.start_skew_ns
    }

    fn go_on(&mut self, patience: Duration) {
        sleep(self.scene.stage, patience);
    }
}

/// Sleeps for so long, or until the alarm.
fn sleep(stage: &Stage, time: Duration) {
    let began = Instant::now();
    while let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
        if stage.control.alarm.load(Ordering::Acquire) != 0 {
            return;
        }
        futex::wait(&stage.control.alarm, 0, Some(left));
    }
}

/// Asks the tasks of a workload that can stop to do so, and waits for them.
///
/// # Errors
/// A task that failed, or did not stop.
pub(crate) fn stop(stage: &Stage, tasks: &Tasks) -> Attempt<()> {
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
