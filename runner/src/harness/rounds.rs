//! Fixed work: instead of windows of a given length, rounds of a given amount.
//!
//! How it works: (1) the tasks make themselves ready and gather at the gate; (2) the sampler reads
//! counters and clocks and releases them together; (3) each does its work once and notes when it
//! finished; (4) the slowest one ends the round, which is the window, and only then does any task
//! make itself ready for the next.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wire::Window;

use super::fault::{Attempt, Fault};
use super::gate::{self, SETUP_LIMIT};
use super::message::Message;
use super::pace::{Pace, Scene, Tell};
use super::shared::{HEAD, Ticks};
use super::spawn::Stage;
use super::tally::Tally;
use super::watch::Watch;
use super::window::Edge;
use super::workload::Task;
use super::{futex, sys};

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

/// The sampler's side.
pub(crate) struct Rounds<'a> {
    scene: &'a Scene<'a>,
    watch: Watch,
    /// Which opening of the gate is next: an odd one releases the tasks to their work, an even one
    /// to make themselves ready again.
    opening: u32,
    start_skew_ns: u64,
}

impl<'a> Rounds<'a> {
    /// The tasks have gathered for the first round.
    pub fn begin(scene: &'a Scene<'a>) -> Rounds<'a> {
        Rounds { scene, watch: Watch::start(), opening: 1, start_skew_ns: 0 }
    }

    /// Opens the gate and answers which opening is next.
    fn open(&mut self) -> u32 {
        self.scene.stage.control.open_gate(self.opening);
        self.opening += 1;
        self.opening
    }

    fn is_before_a_round(&self) -> bool {
        self.opening % 2 == 1
    }
}

impl Pace for Rounds<'_> {
    fn gather(&mut self) -> Attempt<()> {
        if !self.is_before_a_round() {
            self.open();
        }
        let Scene { stage, tasks, .. } = self.scene;
        gate::await_all(stage.control, tasks, self.opening, SETUP_LIMIT)
    }

    /// Every round begins at its own release.
    fn restart(&mut self) -> Attempt<()> {
        Ok(())
    }

    fn window(&mut self, _length: Duration, tell: Tell<'_>) -> Attempt<(Window, Tally)> {
        self.watch.restart();
        let Scene { stage, tasks, clocks, .. } = self.scene;
        let edge = Edge::read(&stage.areas, clocks)?;
        let released_at = sys::monotonic_ns();
        let finish = self.open();
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
        self.start_skew_ns = self.start_skew_ns.max(gate::start_skew_ns(&stage.areas, tasks));
        Ok((window, tally))
    }

    fn what_disturbed(&mut self, window: &Window) -> Option<String> {
        self.watch.judge(window)
    }

    fn is_apart(&self) -> bool {
        true
    }

    fn start_skew_ns(&self) -> u64 {
        self.start_skew_ns
    }

    fn go_on(&mut self, patience: Duration) {
        let Scene { stage, tasks, .. } = self.scene;
        let ready = stage.control.ready.load(Ordering::Acquire);
        match ready == tasks.count() * self.opening {
            true => drop(self.open()),
            false => futex::wait(&stage.control.ready, ready, Some(patience)),
        }
    }
}
