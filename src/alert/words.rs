//! Sentences of an incident's history.

use crate::model::incident::State;
use crate::model::revision::short;
use crate::model::step::{Found, StandingStep, place_words};
use crate::model::triage::Target;

/// `ops_per_s_total at 16 tasks −34.6 %`.
pub fn step(step: &StandingStep) -> String {
    let size = step.ratio.map_or(String::new(), |ratio| format!(" {}", percent(ratio)));
    format!("{}{size}", place_words(&step.metric, step.derived, step.tasks))
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
    format!("judged again, the step of {} is not found any more", step(old))
}

/// A step does not belong to its incident any more.
pub fn left(step: &StandingStep, blamed: bool) -> String {
    let why = match blamed {
        true => "is put down to others on the machine",
        false => "lies apart from it now",
    };
    format!("the step of {} left: it {why}", self::step(step))
}

/// An incident lies elsewhere.
pub fn moved_to(bad_commit: &str) -> String {
    format!("later runs place it elsewhere: it is there from {} on", short(bad_commit))
}

/// The level came back with a later step.
pub fn returned(back: &StandingStep) -> String {
    format!("the level is back since {}: {}", short(&back.bad_commit), step(back))
}

/// Somebody decided: `invalid: noise, by maria`.
pub fn decided(target: &Target, by: &str) -> String {
    let title = target.state().title();
    match (target.reason(), target.fixed_by()) {
        (Some(reason), _) => format!("{title}: {}, by {by}", reason.word()),
        (_, Some(commit)) => format!("{title} with {}, by {by}", short(commit)),
        _ if target.state() == State::WontFix => format!("{title}, by {by}"),
        _ => format!("{title} by {by}"),
    }
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
