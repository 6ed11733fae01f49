//! Sentences of an incident's history.

use crate::model::step::{Found, StandingStep};

/// `ops_per_s_total at 16 tasks −34.6 %`.
pub fn step(step: &StandingStep) -> String {
    let size = step.ratio.map_or(String::new(), |ratio| format!(" {}", percent(ratio)));
    format!("{} at {}{size}", step.metric, tasks(step.tasks))
}

/// A step was found between other revisions.
pub fn moved(old: &StandingStep, new: &Found) -> String {
    let place = if old.good == new.good {
        "its first bad revision"
    } else if old.bad == new.bad {
        "its last good revision"
    } else {
        "both ends of its range"
    };
    format!("later runs moved the step of {}: {place} changed", step(old))
}

/// A step was not found any more.
pub fn retracted(old: &StandingStep) -> String {
    format!("later runs disproved the step of {}", step(old))
}

/// `1 task`, `16 tasks`.
pub fn tasks(tasks: i32) -> String {
    if tasks == 1 { "1 task".into() } else { format!("{tasks} tasks") }
}

/// A ratio as a change: `−34.6 %`, `+12.0 %`, and beyond tenfold `12.3 ×`.
pub fn percent(ratio: f64) -> String {
    let change = (ratio - 1.0) * 100.0;
    if change.abs() > 1000.0 {
        return format!("{ratio:.1} ×");
    }
    let sign = if change < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1} %", change.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_reads_as_a_change_and_beyond_tenfold_as_a_factor() {
        assert_eq!(percent(0.654), "−34.6 %");
        assert_eq!(percent(1.12), "+12.0 %");
        assert_eq!(percent(12.34), "12.3 ×");
    }
}
