//! What a person sees while measuring: a bar with the time left on a terminal, a line a point else.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wire::{Outcome, Point};

use crate::harness::PointPlan;
use crate::show::figures;

/// Progress on standard error.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
    points: usize,
    done: usize,
    said: BTreeSet<String>,
}

impl Progress {
    /// Progress over `points` points of `windows` windows in all. Quiet shows nothing.
    pub fn new(points: usize, windows: u64, quiet: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let target = match terminal && !quiet {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(windows), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {eta} left")
        {
            bar.set_style(style.progress_chars("━╸ "));
        }
        Progress { bar, lines: !terminal && !quiet, points, done: 0, said: BTreeSet::new() }
    }

    /// A point begins.
    pub fn begin(&self, plan: &PointPlan, side: Option<&str>) {
        let side = side.map_or_else(String::new, |side| format!("{side} "));
        self.bar.set_message(format!(
            "{}/{} {side}{} {}",
            self.done + 1,
            self.points,
            plan.workload,
            figures::counted(plan.tasks, "task")
        ));
    }

    /// A window is over.
    pub fn window(&self) {
        self.bar.inc(1);
    }

    /// A point is over; a failed one may have skipped windows.
    pub fn end(&mut self, plan: &PointPlan, point: &Point, side: Option<&str>) {
        self.done += 1;
        let windows = u64::from(plan.warmup_windows + plan.windows);
        self.bar.set_position(self.done as u64 * windows);
        if !self.lines {
            return;
        }
        let side = side.map_or_else(String::new, |side| format!("{side} "));
        let result = match &point.outcome {
            Outcome::Failed(failure) => format!("failed: {}", failure.detail),
            outcome => {
                let metric = &outcome.metrics()[0];
                let median = crate::run::table::median(&outcome.values(metric));
                format!("{} {}", figures::short_or_dash(median), metric.unit.symbol())
            }
        };
        // A closed standard error must not end a measurement.
        let _ = writeln!(
            std::io::stderr(),
            "[{}/{}] {side}{} {} {}: {result}",
            self.done,
            self.points,
            plan.workload,
            plan.mode.word(),
            figures::counted(plan.tasks, "task"),
        );
    }

    /// Something a person must know of a point, once a reason.
    pub fn say(&mut self, plan: &PointPlan, words: &str) {
        if self.said.insert(words.to_owned()) {
            let line =
                format!("{} at {}: {words}", plan.workload, figures::counted(plan.tasks, "task"));
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{line}");
            });
        }
    }

    /// All is measured: the bar goes.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
