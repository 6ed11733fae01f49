//! Counters that moved between base and head, below LKP's table as its robot lists monitors: ranked,
//! per operation, never judged.

use std::collections::BTreeMap;
use std::fmt::Write;

use stats::counters::{Moved, moved};

use super::curves::CurvePoint;
use super::files::Column;
use super::judge::{Judged, shared_environment};
use crate::show::figures::{counted, short};

/// Most counters printed for one point.
const LISTED: usize = 12;

/// Those of one point between the base and a column; runs of another environment are left out, as
/// the verdict leaves them out.
pub fn of(judged: &Judged, point: &CurvePoint, column: usize) -> Vec<Moved> {
    let here = shared_environment(&judged.curve, column);
    let side = |column: usize| -> Vec<&BTreeMap<String, f64>> {
        let runs = point.cells[column].runs.iter();
        let runs = runs.filter(|run| here.is_none_or(|here| run.environment == *here));
        runs.map(|run| &run.counters).filter(|counters| !counters.is_empty()).collect()
    };
    moved(&side(0), &side(column))
}

/// Every point of a curve against every column, as text; nothing where nothing moved.
pub fn render(columns: &[Column], judged: &Judged) -> String {
    let mut out = String::new();
    for against in &judged.against {
        for point in &judged.curve.points {
            let moved = of(judged, point, against.column);
            if moved.is_empty() {
                continue;
            }
            let who = match judged.against.len() {
                1 => String::new(),
                _ => format!(" of {}", columns[against.column].name),
            };
            let tasks = counted(point.tasks, "task");
            let _ = writeln!(out, "\nCounters{who} that moved at {tasks}, per operation:");
            moved.iter().take(LISTED).for_each(|counter| line(&mut out, counter));
            if let Some(more) = moved.len().checked_sub(LISTED).filter(|more| *more > 0) {
                let _ = writeln!(out, "{:38}and {more} more", "");
            }
        }
    }
    out
}

fn line(out: &mut String, counter: &Moved) {
    let change = match counter.ratio {
        Some(ratio) => format!("{:+.1}%", (ratio - 1.0) * 100.0),
        None => "from 0".into(),
    };
    let note = if counter.apart.is_none() { "  (too few runs)" } else { "" };
    let (base, head) = (short(counter.base), short(counter.head));
    let _ = writeln!(out, "{base:>10} {change:>11} {head:>10}      {}{note}", counter.name);
}
