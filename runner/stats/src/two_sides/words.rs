//! A curve's verdict in words, by point: changes first, else what kept them from being named.

use super::PointJudgement;
use crate::{Verdict, words};

impl PointJudgement {
    /// `regression −11.8 % [−13.1, −10.4]`, `no change, within ±1.2 %`, `not enough data: …`.
    pub fn words(&self) -> String {
        let verdict = self.verdict.words();
        match (self.verdict, self.ratio, self.interval_95) {
            (v, Some((ratio, _, _)), Some((low, high))) if v.is_change() => {
                format!("{verdict} {}", words::change_with_interval(ratio, low, high))
            }
            (v, _, _) if v.is_change() => format!("{verdict} {}", self.change()),
            (Verdict::NoChange, Some((_, low, high)), _) => {
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
pub(super) fn curve(points: &[PointJudgement]) -> String {
    let mut phrases: Vec<String> = points
        .chunk_by(|a, b| a.verdict.is_change() && a.verdict == b.verdict)
        .filter(|group| group[0].verdict.is_change())
        .flat_map(group_phrases)
        .collect();
    if phrases.is_empty() {
        return unchanged(points);
    }
    let lacking = tasks_of(points, |v| v == Verdict::NotEnoughData);
    if !lacking.is_empty() {
        phrases.push(format!("not enough data at {lacking}"));
    }
    phrases.join(", ")
}

fn group_phrases(group: &[PointJudgement]) -> Vec<String> {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    if group.len() < 3 {
        return group.iter().map(|p| format!("{} at {}", p.change(), p.tasks)).collect();
    }
    vec![format!("{} at {} to {} at {}", first.change(), first.tasks, last.change(), last.tasks)]
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
    let ends = same.iter().filter_map(|p| p.ratio);
    let (low, high) =
        ends.fold((1.0f64, 1.0f64), |(l, h), (_, low, high)| (l.min(low), h.max(high)));
    let mut text = Verdict::NoChange.words().to_owned();
    if same.iter().all(|p| p.ratio.is_some()) {
        text = format!("{text}, {}", words::within(low, high));
    }
    let lacking = tasks_of(points, |v| v == Verdict::NotEnoughData);
    if !lacking.is_empty() {
        text = format!("{text}; not enough data at {lacking}");
    }
    text
}
