//! A verdict as Markdown, for a comment on a forge: never longer than what forges take, the whole
//! table linked.

use std::fmt::Write;

use wire::{GateOutcome, ProjectComparison};

use super::{change, parameters, rank, verdict};
use crate::show::figures::short_or_dash;

/// Most characters of a comment: GitHub takes 65,536.
pub const MOST: usize = 65_000;

/// Room for what stands below the table.
const TAIL: usize = 1_500;

/// What needs a look first, as many points as fit.
pub fn markdown(compared: &ProjectComparison) -> String {
    let mut out = head(compared);
    let mut rows: Vec<(u8, String)> = Vec::new();
    for curve in &compared.curves {
        let place = format!(
            "{} | {} | {}",
            cell(&format!("{} {}", curve.workload, parameters(curve))),
            cell(&curve.machine_name),
            cell(&format!("{}, {}", curve.metric, curve.unit.symbol())),
        );
        for failed in &curve.failed {
            let words = cell(&format!("failed: {}", failed.detail));
            rows.push((0, format!("| {place} | {} | | | | **{words}** |\n", failed.tasks)));
        }
        for point in &curve.points {
            let words = verdict(point);
            let words = if rank(point) < 3 { format!("**{words}**") } else { words };
            let row = format!(
                "| {place} | {} | {} | {} | {} | {words} |\n",
                point.tasks,
                short_or_dash(point.base),
                short_or_dash(point.head),
                change(point),
            );
            rows.push((rank(point), row));
        }
    }
    // Stable: within one verdict the service's order stays.
    rows.sort_by_key(|(rank, _)| *rank);
    if !rows.is_empty() {
        out += "| workload | machine | metric | tasks | base | head | change | verdict |\n\
                |---|---|---|---:|---:|---:|---:|---|\n";
    }
    let (mut length, mut shown) = (out.chars().count(), 0);
    for (_, row) in &rows {
        let more = row.chars().count();
        if length + more > MOST - TAIL {
            break;
        }
        out += row;
        (length, shown) = (length + more, shown + 1);
    }
    out + &tail(compared, rows.len() - shown)
}

fn head(compared: &ProjectComparison) -> String {
    let sign = match compared.outcome {
        GateOutcome::NoRegression => "passed",
        GateOutcome::Regression => "blocked",
        GateOutcome::Undecided => "undecided",
        GateOutcome::MeasurementFailed => "failed",
    };
    format!(
        "### scalewatch: {sign}, {}\n\n`{}` against `{}` {}, {} and {} runs.\n\n",
        cell(&compared.words),
        code(&compared.base.asked),
        code(&compared.head.asked),
        cell(&compared.head.subject),
        compared.base.runs,
        compared.head.runs,
    )
}

fn tail(compared: &ProjectComparison, left: usize) -> String {
    let mut out = String::from("\n");
    if left > 0 {
        let _ = write!(out, "{left} more points are not shown here. ");
    }
    match compared.unpaired.len() {
        0 => {}
        1 => out += "1 curve was measured on one side alone. ",
        n => {
            let _ = write!(out, "{n} curves were measured on one side alone. ");
        }
    }
    let url = compared.url.replace(['(', ')', ' ', '<', '>'], "");
    let _ = writeln!(out, "[The whole table, with the numbers behind each verdict]({url}).");
    out
}

/// Text in a cell: no markup of it counts, and it stays on its line; at most 300 characters.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(300) {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '\\' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.trim().to_owned()
}

/// Text between back-ticks.
fn code(text: &str) -> String {
    text.chars().filter(|c| *c != '`' && !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{comparison, curve, mixed, point};
    use super::*;

    #[test]
    fn what_needs_a_look_stands_first_and_markup_of_others_is_text() {
        let text = markdown(&mixed());
        assert!(text.starts_with("### scalewatch: blocked, regression on 1 curve\n"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| f")).collect();
        assert!(rows[0].contains("−34.6 %") && rows[0].ends_with("| **regression** |"), "{rows:?}");
        assert!(rows[1].contains("failed: no space &lt;left&gt;"), "{rows:?}");
        assert!(rows[2].contains("not enough data") && rows[3].contains("no change"), "{rows:?}");
        assert!(text.contains(r"ext4: do &lt;less&gt; \| more"), "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.contains("1 curve was") && last.contains("(http://watch/projects/"), "{last}");
    }

    #[test]
    fn it_never_outgrows_a_comment_and_says_what_is_left_out() {
        let points = || (1..200).map(|tasks| point(tasks, "regression", 0.5)).collect();
        let curves = (0..50).map(|n| curve(&format!("w/{n}-{}", "x".repeat(250)), points()));
        let text = markdown(&comparison(GateOutcome::Regression, curves.collect()));
        assert!(text.chars().count() < MOST, "{}", text.chars().count());
        assert!(text.contains("more points are not shown here") && text.contains("whole table"));
        let none = markdown(&comparison(GateOutcome::Undecided, Vec::new()));
        assert!(none.contains("undecided") && !none.contains("|---|"), "{none}");
    }
}
