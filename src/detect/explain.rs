//! A verdict in plain text, so that an engineer can check it by hand: the rule with its limits, the
//! values used, every inequality with its numbers, and the line that decided.

use std::fmt::Write as _;

use super::policy;
use crate::model::incident::IncidentStep;
use crate::model::scaling::Figure;
use crate::model::step::{Change, Evidence, Inequality};

/// The rule of steps in a history, stated from the limits in force.
pub fn step_rule() -> String {
    let policy = policy::steps();
    format!(
        "A series has a step where its level changes by at least {} % and by at least {} robust \
         scales, and where a rank statistic of the runs on both sides has a p of at most {}. A \
         shift of {} scales needs only {} runs a side. No change below the noise floor is called. \
         Runs of another environment are never compared.",
        policy.least_effect * 100.0,
        policy.least_scales,
        policy.largest_p,
        policy.large_shift_scales,
        policy.few_points
    )
}

/// The rule of contention, coherency, knee and peak, stated from the limits in force.
pub fn bend_rule() -> String {
    format!(
        "The law of scaling is fitted at each revision to the same task counts. Its contention, \
         coherency, knee and peak are series over revisions, judged by the same rule; a step counts \
         where it changes throughput at the largest task count by at least {} %, and lies with a \
         step of the curve's points unless its own place is likelier by more than {} nats.",
        policy::LEAST_BEND * 100.0,
        policy::PLACE_NATS
    )
}

/// Every rule that bears on these steps.
pub fn rules(steps: &[IncidentStep]) -> String {
    match steps.iter().any(|step| step.derived) {
        true => format!("{} {}", step_rule(), bend_rule()),
        false => step_rule(),
    }
}

/// The rule of two sides, stated from the limits in force.
pub fn two_sides_rule() -> String {
    let policy = policy::two_sides();
    format!(
        "A point is called when the interval of head ÷ base excludes no change, at an error rate \
         of {} over all points of the curve together, and the change exceeds the larger of the \
         machine's noise floor and {} %. {} earlier builds or more tell how far builds of one code \
         lie apart; with fewer, a change that they might show as well is unconfirmed. Where half \
         of the 95 % interval is wider than {} % there is not enough data. Each line below was \
         evaluated in this order.",
        policy.alpha,
        policy.least_effect * 100.0,
        policy::LEAST_BUILDS,
        policy.widest * 100.0
    )
}

/// One step of an incident.
pub fn step(step: &IncidentStep) -> String {
    let size = step.ratio.map_or(String::new(), |(ratio, low, high)| {
        format!(" {}", stats::words::change_with_interval(ratio, low, high))
    });
    let late = if step.retracted_at.is_some() { ", disproved since by later data" } else { "" };
    let (metric, place) = (&step.metric, if step.derived { "up to" } else { "at" });
    let mut text = format!(
        "{}, {metric}, {place} {} on {}\n{}{size}{late}: from {} to {} {}, {} is better\nlast good {}, first bad {}\n",
        step.workload,
        stats::words::counted(step.tasks.unsigned_abs() as usize, "task"),
        step.machine_name,
        step.change.word(),
        figure(Some(step.before)),
        figure(Some(step.after)),
        step.unit.symbol(),
        step.direction.word(),
        step.good.short(),
        step.bad.short(),
    );
    if let Some(words) = bend(step) {
        let _ = writeln!(text, "{words}");
    }
    text += &evidence(&step.evidence);
    if let Some(neighbour) = &step.evidence.neighbour {
        let _ = writeln!(text, "The machine meanwhile: {}", neighbour.words);
        text += &lines(&neighbour.inequalities, None);
    }
    text
}

/// What a step of a coefficient does to the curve: `the curve bends earlier: coherency 0.040 % →
/// 0.080 %, which alone changes throughput at 32 tasks by −10.2 %; knee 9 → 7 tasks, …`. None for
/// any other step.
pub fn bend(step: &IncidentStep) -> Option<String> {
    let bend = step.evidence.bend.as_ref()?;
    Figure::parse(&step.metric).filter(|figure| figure.is_coefficient())?;
    let way = match step.change {
        Change::Regression => "earlier",
        Change::Improvement => "later",
    };
    Some(format!(
        "the curve bends {way}: {} {} → {}, which alone changes throughput at {} by {}; {}",
        step.metric,
        stats::words::share(step.before),
        stats::words::share(step.after),
        stats::words::counted(bend.largest().unsigned_abs() as usize, "task"),
        stats::words::change(bend.throughput),
        bend.words()
    ))
}

/// One point of two sides. `words` is its verdict.
pub fn point(tasks: u32, words: &str, evidence: &Evidence) -> String {
    let tasks = stats::words::counted(tasks as usize, "task");
    format!("at {tasks}: {words}\n{}", self::evidence(evidence))
}

/// What a verdict rests on, one fact a line.
fn evidence(evidence: &Evidence) -> String {
    let mut text = String::new();
    for note in &evidence.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    for sentence in &evidence.set_aside {
        let _ = writeln!(text, "  set aside: {sentence}");
    }
    let used: Vec<String> = evidence.used.iter().map(|value| figure(*value)).collect();
    let _ = writeln!(text, "  values used: {}", used.join(" "));
    if evidence.inequalities.is_empty() {
        text += "  no inequality was evaluated: the verdict says why\n";
    }
    text + &lines(&evidence.inequalities, evidence.decided_by)
}

fn lines(inequalities: &[Inequality], decided_by: Option<usize>) -> String {
    let mut text = String::new();
    for (i, line) in inequalities.iter().enumerate() {
        let holds = if line.holds { "holds" } else { "does not hold" };
        let decides = if decided_by == Some(i) { ", and decides" } else { "" };
        let (left, right) = (figure(line.left), figure(line.right));
        let _ = writeln!(
            text,
            "  {}. {}: {left} {} {right} {holds}{decides}",
            i + 1,
            line.what,
            line.relation
        );
    }
    text
}

/// Six significant digits, trailing zeros cut: enough to check by hand. What was not finite is said.
fn figure(value: Option<f64>) -> String {
    let Some(value) = value else { return "beyond any number".into() };
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let digits = (5.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_six_digits_and_no_more_zeros_than_they_need() {
        let shown = |value| figure(Some(value));
        assert_eq!(shown(0.350_363_686), "0.350364");
        assert_eq!(shown(200_232.0), "200232");
        assert_eq!(shown(5.0), "5");
        assert_eq!(shown(-6.25), "-6.25");
        assert_eq!(shown(1e-12), "1.00000e-12");
        assert_eq!(figure(None), "beyond any number");
    }

    #[test]
    fn the_rules_are_stated_from_the_limits_in_force() {
        let (steps, sides) = (policy::steps(), policy::two_sides());
        assert!(step_rule().contains(&format!("{} %", steps.least_effect * 100.0)));
        assert!(step_rule().contains(&steps.largest_p.to_string()));
        assert!(two_sides_rule().contains(&format!("rate of {}", sides.alpha)));
    }
}
