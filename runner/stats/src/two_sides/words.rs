//! A curve's verdict in words, by point: changes first, else what kept them from being named.

use super::PointJudgement;
use crate::{Verdict, words};

impl PointJudgement {
    /// `regression −11.8 % [−13.1, −10.4]`, `improvement +2.1 % [+0.8, +3.4], unconfirmed`,
    /// `no change, within ±1.2 %`, `not enough data: …`. Intervals are those of 95 %.
    pub fn words(&self) -> String {
        let verdict = self.verdict.words();
        let doubt = if self.unconfirmed { ", unconfirmed" } else { "" };
        match (self.verdict, self.ratio, self.interval_95) {
            (v, Some((ratio, _, _)), Some((low, high))) if v.is_change() => {
                format!("{verdict} {}{doubt}", words::change_with_interval(ratio, low, high))
            }
            (v, _, _) if v.is_change() => format!("{verdict} {}{doubt}", self.change()),
            (Verdict::NoChange, _, Some((low, high))) => {
                format!("{verdict}, {}", words::within(low, high))
            }
            (Verdict::NotEnoughData, _, _) | (Verdict::NotComparable, _, _) => {
                match self.obstacle() {
                    Some(why) => format!("{verdict}: {why}"),
                    None => verdict.to_owned(),
                }
            }
            _ => verdict.to_owned(),
        }
    }

    /// `−2.6 %`, or `0 → 5.00` where there is no ratio.
    fn change(&self) -> String {
        match (self.ratio, self.base, self.head) {
            (Some((ratio, _, _)), _, _) => words::change(ratio),
            (None, Some(base), Some(head)) => {
                format!("{} → {}", words::figure(base), words::figure(head))
            }
            _ => String::new(),
        }
    }

    fn obstacle(&self) -> Option<&str> {
        let from = match self.verdict {
            Verdict::NotComparable => self.evidence.set_aside.last(),
            _ => None,
        };
        from.or_else(|| self.evidence.notes.last()).map(String::as_str)
    }
}

/// `+16.3 % at 1, −2.6 % at 80`; three or more neighbours that move one way share a phrase.
/// Unconfirmed changes say so: once where all are.
pub(super) fn curve(points: &[PointJudgement]) -> String {
    let named = || points.iter().filter(|p| p.verdict.is_change());
    let all_alike = named().all(|p| p.unconfirmed) || named().all(|p| !p.unconfirmed);
    let mut phrases: Vec<String> = points
        .chunk_by(|a, b| {
            a.verdict.is_change() && (a.verdict, a.unconfirmed) == (b.verdict, b.unconfirmed)
        })
        .filter(|group| group[0].verdict.is_change())
        .flat_map(|group| group_phrases(group, !all_alike))
        .collect();
    if phrases.is_empty() {
        return unchanged(points);
    }
    match named().filter(|p| p.unconfirmed).count() {
        0 => {}
        1 if all_alike => phrases.push("unconfirmed".to_owned()),
        _ if all_alike => phrases.push("all unconfirmed".to_owned()),
        _ => {}
    }
    let lacking = tasks_of(points, |v| v == Verdict::NotEnoughData);
    if !lacking.is_empty() {
        phrases.push(format!("not enough data at {lacking}"));
    }
    phrases.join(", ")
}

fn group_phrases(group: &[PointJudgement], say_doubt: bool) -> Vec<String> {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let doubt = if say_doubt && first.unconfirmed { " (unconfirmed)" } else { "" };
    let at = |p: &PointJudgement| format!("{} at {}", p.change(), p.tasks);
    if group.len() < 3 {
        return group.iter().map(|p| at(p) + doubt).collect();
    }
    vec![format!("{} to {}{doubt}", at(first), at(last))]
}

fn tasks_of(points: &[PointJudgement], wanted: impl Fn(Verdict) -> bool) -> String {
    let tasks: Vec<String> =
        points.iter().filter(|p| wanted(p.verdict)).map(|p| p.tasks.to_string()).collect();
    tasks.join(", ")
}

fn unchanged(points: &[PointJudgement]) -> String {
    let same: Vec<&PointJudgement> =
        points.iter().filter(|p| p.verdict == Verdict::NoChange).collect();
    if same.is_empty() {
        // Every point is refused: the first says what is missing.
        return points.first().map_or_else(
            || format!("{}: no points", Verdict::NotEnoughData.words()),
            PointJudgement::words,
        );
    }
    let ends = same.iter().filter_map(|p| p.interval_95);
    let (low, high) = ends.fold((1.0f64, 1.0f64), |(l, h), (low, high)| (l.min(low), h.max(high)));
    let mut text = Verdict::NoChange.words().to_owned();
    if same.iter().all(|p| p.interval_95.is_some()) {
        text = format!("{text}, {}", words::within(low, high));
    }
    let lacking = tasks_of(points, |v| v == Verdict::NotEnoughData);
    if !lacking.is_empty() {
        text = format!("{text}; not enough data at {lacking}");
    }
    text
}
