//! will-it-scale's own lines on standard output, so that what parses those parses ours.

use std::io::Write;

use anyhow::Context;
use wire::{Outcome, Window};

use crate::harness::{self, PointPlan};

/// Measures points in the order given and prints each as the C harness would. Returns the failures.
///
/// # Errors
/// When a plan cannot start or `out` cannot be written.
pub fn run(
    plans: &[PointPlan],
    description: &dyn Fn(&PointPlan) -> String,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<wire::Failure>> {
    let mut failures = Vec::new();
    for plan in plans {
        let mut written = Ok(());
        let mut say = |text: String| {
            if written.is_ok() {
                written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
        };
        say(begin(&description(plan), plan.warmup_windows));
        let mut sum = 0;
        let point = harness::measure(plan, &mut |done, window| {
            say(line(window));
            if done == plan.warmup_windows {
                say("measurement\n".into());
            } else if done > plan.warmup_windows {
                sum += total(window);
            }
        })?;
        match point.outcome {
            Outcome::Failed(failure) => failures.push(failure),
            _ => say(average(sum, plan.windows)),
        }
        written.context("cannot write to standard output")?;
    }
    Ok(failures)
}

fn begin(description: &str, warmup: u32) -> String {
    let measurement = if warmup == 0 { "measurement\n" } else { "" };
    format!("testcase:{description}\nwarmup\n{measurement}")
}

fn line(window: &Window) -> String {
    let (min, max) = (window.ops.iter().min(), window.ops.iter().max());
    let shown = |count: Option<&u64>| count.copied().unwrap_or_default();
    format!("min:{} max:{} total:{}\n", shown(min), shown(max), total(window))
}

/// The mean total of the counted windows, over all tasks and not per task, cut to a whole number.
fn average(sum: u128, windows: u32) -> String {
    format!("average:{}\n", sum / u128::from(windows.max(1)))
}

fn total(window: &Window) -> u128 {
    window.ops.iter().map(|&ops| u128::from(ops)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_c_harness() {
        let window = |ops: &[u64]| Window {
            dt_ns: 1_000_000_000,
            ops: ops.to_vec(),
            cpu_ns: vec![0; ops.len()],
        };
        assert_eq!(begin("Separate file open", 6), "testcase:Separate file open\nwarmup\n");
        assert_eq!(line(&window(&[352_000, 290_001])), "min:290001 max:352000 total:642001\n");
        assert_eq!(average(642_001 + 642_000, 2), "average:642000\n");
        assert_eq!(begin("x", 0), "testcase:x\nwarmup\nmeasurement\n");
    }
}
