//! Our own table: the verdict in words first, then the figures, then LKP's and mmtests' rules.

use std::fmt::Write;

use stats::lkp::Comparison;
use stats::two_sides::PointJudgement;

use super::curves::{self, Unpaired};
use super::files::{Column, short_commit};
use super::judge::{self, Against, Beside, Judged};
use super::{mmtests, scaling};
use crate::show::{figures, text_table};

/// Who is compared with whom: one line a column.
pub fn sides(columns: &[Column]) -> String {
    let mut out = String::new();
    for (i, column) in columns.iter().enumerate() {
        let role = if i == 0 { "base" } else { "head" };
        let revision = column.revision();
        let given = match column.given.is_empty() {
            true => String::new(),
            false => format!("{}  ", column.given_in_words()),
        };
        let runs = figures::counted(column.reports.len() as u64, "run");
        let name = if column.name == role || column.name == short_commit(&revision.commit) {
            String::new()
        } else {
            format!("{}  ", column.name)
        };
        let commit = format!("{} \"{}\", ", short_commit(&revision.commit), revision.subject);
        // Where both sides are one revision, what differs is the parameters.
        let alike = columns.iter().all(|c| c.revision().commit == revision.commit);
        let commit = if alike && !given.is_empty() { String::new() } else { commit };
        let _ = writeln!(out, "{role}  {name}{given}{commit}{runs}");
    }
    out
}

/// Verdict and obstacles of one curve, without figures.
pub fn verdict(columns: &[Column], judged: &Judged) -> String {
    let mut out = String::new();
    let curve = &judged.curve;
    let _ = writeln!(
        out,
        "{} · {} · {}, {} is better",
        curves::in_words(&curve.key),
        curve.metric,
        curve.unit.symbol(),
        curve.direction.word()
    );
    for against in &judged.against {
        let who = match judged.against.len() {
            1 => String::new(),
            _ => format!("{}: ", columns[against.column].name),
        };
        let _ = writeln!(out, "{who}{}", against.headline());
        for change in &against.changes {
            let words = judge::in_words(std::slice::from_ref(change));
            let _ = writeln!(out, "  environment: {words}");
        }
        for line in &against.set_aside {
            let _ = writeln!(out, "  {line}");
        }
    }
    if let Some(floor) = &judged.floor {
        let _ = writeln!(out, "  {}", floor.in_words());
    }
    for point in &curve.points {
        for (column, cell) in columns.iter().zip(&point.cells) {
            for failure in &cell.failures {
                let _ = writeln!(out, "  {} failed at {}: {failure}", column.name, point.tasks);
            }
        }
    }
    out
}

/// The verdict of each point with its interval, one a line, for formats that have no column for it.
pub fn points(columns: &[Column], judged: &Judged) -> String {
    let mut out = String::new();
    for against in &judged.against {
        let who = match judged.against.len() {
            1 => String::new(),
            _ => format!("{} ", columns[against.column].name),
        };
        for point in &against.judgement.points {
            let _ = writeln!(out, "  {who}at {}: {}", point.tasks, point.words());
        }
    }
    out
}

/// What could not be compared.
pub fn unpaired(unpaired: &[Unpaired]) -> String {
    let mut out = String::new();
    for Unpaired { what, why, not_comparable } in unpaired {
        let verdict = match not_comparable {
            true => stats::Verdict::NotComparable.words(),
            false => stats::Verdict::NotEnoughData.words(),
        };
        let _ = writeln!(out, "{what}\n{verdict}: {why}\n");
    }
    out
}

/// Verdict and figures of one curve.
pub fn render(columns: &[Column], judged: &Judged) -> String {
    let mut out = verdict(columns, judged);
    for against in &judged.against {
        out.push_str(&figures_of(columns, judged, against));
        out.push_str(&scaling::lines(columns, judged, against));
        out.push('\n');
    }
    out
}

fn figures_of(columns: &[Column], judged: &Judged, against: &Against) -> String {
    let unit = judged.curve.unit.symbol();
    let named = |column: usize| match columns[column].name.as_str() {
        name @ ("base" | "head") => format!("{name}, {unit}"),
        name => format!("{} {name}, {unit}", if column == 0 { "base" } else { "head" }),
    };
    let heads = [
        text_table::number("tasks"),
        text_table::number(named(0)),
        text_table::number(named(against.column)),
        text_table::words("verdict"),
        text_table::words("LKP"),
        text_table::words("mmtests"),
    ];
    let row = |(point, beside): (&PointJudgement, &Beside)| {
        vec![
            point.tasks.to_string(),
            figures::short_or_dash(point.base),
            figures::short_or_dash(point.head),
            point.words(),
            lkp_in_words(&beside.lkp),
            beside.mmtests.as_ref().map_or_else(|| "—".into(), mmtests_in_words),
        ]
    };
    let rows = against.judgement.points.iter().zip(&against.beside).map(row).collect();
    text_table::render(&heads, rows)
}

fn lkp_in_words(lkp: &Comparison) -> String {
    let change = lkp.percent.map_or_else(String::new, |percent| {
        format!(" {}", stats::words::change(1.0 + percent / 100.0))
    });
    match (lkp.too_few, lkp.base, lkp.head) {
        (true, Some(base), Some(head)) => {
            format!("too few runs ({} and {}){change}", base.n, head.n)
        }
        (true, _, _) => "no runs".into(),
        _ => format!("{}{change}", lkp.verdict.words()),
    }
}

fn mmtests_in_words(comparison: &stats::mmtests::Comparison) -> String {
    let row = comparison.rows.iter().find(|r| r.statistic == stats::mmtests::Statistic::Mean);
    let row = row.filter(|row| row.percent.is_some());
    row.map_or_else(
        || "—".into(),
        |row| {
            let cell = mmtests::Cell { value: None, percent: row.percent, starred: row.starred };
            mmtests::cell(&cell).trim_start().trim_start_matches("NaN ").to_owned()
        },
    )
}
