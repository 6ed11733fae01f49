//! `UnixBench`'s protocol: every test in passes, each pass a start of its own after the disk has
//! been synced; all passes of a test are the windows of one point.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use stats::unixbench::index;
use wire::{Direction, Disturbance, Measured, Metric, Outcome, Point, Source, Unit};

use super::measure;
use crate::clock;
use crate::compare::unixbench::score_of;
use crate::harness::{self, Mode, Placement, PointPlan};
use crate::workloads::unixbench::Test;

/// How to run.
#[derive(Debug, Clone)]
pub struct Protocol {
    /// The tests, in the order of the run.
    pub tests: Vec<&'static Test>,
    /// How many copies at once, one run each.
    pub copies: Vec<u32>,
    /// Passes of a long test; short ones have a third.
    pub passes: u32,
    /// Length of a pass; none: the test's own.
    pub pass: Option<Duration>,
    /// Rest before a pass; a third of it follows the first sync, two thirds the second.
    pub settle: Duration,
    /// Directory on the file system under test.
    pub dir: PathBuf,
}

/// Measures all tests at every number of copies. `say` gets the words of progress as they come.
///
/// # Errors
/// Only what makes a plan impossible to start; a test that fails is data.
pub fn run(protocol: &Protocol, say: &mut dyn FnMut(&str)) -> anyhow::Result<measure::Measured> {
    let started_at = clock::now();
    let mut points = vec![];
    for &copies in &protocol.copies {
        for test in &protocol.tests {
            say(&format!("{copies} x {} ", test.title));
            points.push(protocol.test(test, copies, say)?);
            say("\n");
        }
        say("\n");
    }
    let profiles = std::collections::BTreeMap::new();
    Ok(measure::Measured { started_at, finished_at: clock::now(), points, profiles })
}

impl Protocol {
    /// Passes of a test: all of them, or a third for a short one, and one at least.
    pub fn passes_of(&self, test: &Test) -> u32 {
        if test.long { self.passes.max(1) } else { ((self.passes + 1) / 3).max(1) }
    }

    /// Measures one test; what a pass counts becomes a window of the point.
    fn test(&self, test: &Test, copies: u32, say: &mut dyn FnMut(&str)) -> anyhow::Result<Point> {
        let plan = self.plan(test, copies);
        self.settle();
        say(" 1");
        let mut whole = harness::measure(&plan, &mut |_, _| {})?;
        let mut disturbances = vec![];
        for nth in 2..=self.passes_of(test) {
            let Outcome::Measured(measured) = &mut whole.outcome else { break };
            self.settle();
            say(&format!(" {nth}"));
            let point = harness::measure(&plan, &mut |_, _| {})?;
            match point.outcome {
                Outcome::Measured(pass) => disturbances.push(join(measured, pass)),
                other => whole.outcome = other,
            }
        }
        match &mut whole.outcome {
            Outcome::Failed(failure) => say(&format!("  failed: {}", failure.detail)),
            Outcome::Measured(measured) => {
                disturbances.insert(0, std::mem::take(&mut measured.disturbance));
                measured.disturbance = Disturbance::of_all(&disturbances);
                add_index(test, &mut whole);
            }
            Outcome::Imported(_) => {}
        }
        Ok(whole)
    }

    /// One pass.
    pub fn plan(&self, test: &Test, copies: u32) -> PointPlan {
        PointPlan {
            workload: test.workload.into(),
            parameters: test.given(),
            mode: Mode::Process,
            tasks: copies,
            placement: Placement::None,
            warmup_windows: 0,
            windows: 1,
            window: self.pass.unwrap_or(Duration::from_secs(test.seconds)),
            dir: self.dir.clone(),
        }
    }

    fn settle(&self) {
        if !self.settle.is_zero() {
            for share in [1, 2] {
                harness::sync_disks();
                sleep(self.settle * share / 3);
            }
        }
    }
}

/// Adds a pass to those before it. Answers what disturbed it.
fn join(whole: &mut Measured, pass: Measured) -> Disturbance {
    let before = whole.windows.len();
    whole.windows.extend(pass.windows);
    whole.start_skew_ns = whole.start_skew_ns.max(pass.start_skew_ns);
    for metric in &mut whole.metrics {
        let same = pass.metrics.iter().find(|other| other.name == metric.name);
        if let (Source::Values(all), Some(Source::Values(more))) =
            (&mut metric.source, same.map(|other| &other.source))
        {
            all.extend(more);
        }
    }
    // What one pass does not define has no value for each window.
    whole.metrics.retain(|metric| match &metric.source {
        Source::Values(values) => values.len() == before + 1,
        _ => true,
    });
    let mut disturbance = pass.disturbance;
    disturbance.windows.iter_mut().for_each(|disturbed| disturbed.window += before as u32);
    disturbance
}

/// The index of the kept passes, where the test has one.
fn add_index(test: &Test, point: &mut Point) {
    let index = test.baseline.zip(score_of(test, point)).map(|(b, score)| index(score.value, b));
    if let (Some(index), Outcome::Measured(measured)) = (index, &mut point.outcome) {
        measured.metrics.push(Metric {
            name: "unixbench_index".into(),
            unit: Unit::Ratio,
            direction: Direction::Higher,
            source: Source::Values(vec![index]),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::unixbench::find;

    #[test]
    fn short_tests_have_a_third_of_the_passes_and_one_at_least() {
        for (passes, long, short) in [(10, 10, 3), (1, 1, 1), (2, 2, 1), (5, 5, 2), (9, 9, 3)] {
            let protocol = Protocol {
                tests: vec![],
                copies: vec![],
                passes,
                pass: None,
                settle: Duration::ZERO,
                dir: ".".into(),
            };
            let of = |name| protocol.passes_of(find(name).expect(name));
            assert_eq!((of("context1"), of("spawn")), (long, short));
            let seconds = |name| protocol.plan(find(name).expect(name), 1).window.as_secs();
            assert_eq!((seconds("context1"), seconds("spawn")), (10, 30));
        }
    }
}
