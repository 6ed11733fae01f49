//! Our own table: the verdict in words first, then the figures, then LKP's and mmtests' rules.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table, presets};
use stats::lkp::Comparison;

use super::curves::{self, Unpaired};
use super::files::{Column, short_commit};
use super::judge::{self, Against, Judged};
use super::{figures, mmtests};

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
        let runs = column.reports.len();
        let runs = if runs == 1 { "1 run".into() } else { format!("{runs} runs") };
        let name = if column.name == role || column.name == short_commit(&revision.commit) {
            String::new()
        } else {
            format!("{}  ", column.name)
        };
        let commit = short_commit(&revision.commit);
        let _ =
            writeln!(out, "{role}  {name}{given}{commit} \"{}\", {runs}", revision.subject);
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
    for point in &curve.points {
        for (column, cell) in columns.iter().zip(&point.cells) {
            for failure in &cell.failures {
                let _ =
                    writeln!(out, "  {} failed at {}: {failure}", column.name, point.tasks);
            }
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
    let mut table = plain_table();
    table.set_header(vec![
        "tasks".to_owned(),
        named(0),
        named(against.column),
        "verdict".to_owned(),
        "LKP".to_owned(),
        "mmtests".to_owned(),
    ]);
    for (point, beside) in against.judgement.points.iter().zip(&against.beside) {
        table.add_row(vec![
            Cell::new(point.tasks),
            Cell::new(figures::short_or_dash(point.base)),
            Cell::new(figures::short_or_dash(point.head)),
            Cell::new(point.words()),
            Cell::new(lkp_in_words(&beside.lkp)),
            Cell::new(beside.mmtests.as_ref().map_or_else(|| "—".into(), mmtests_in_words)),
        ]);
    }
    for column in 0..3 {
        align_right(&mut table, column);
    }
    finish(&table)
}

/// A table without lines but one under its head.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    table
}

/// Numbers stand right.
pub fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The table as text, no blanks at the ends of its lines.
pub fn finish(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
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
    row.map_or_else(String::new, |row| {
        let cell = mmtests::Cell { value: None, percent: row.percent, starred: row.starred };
        mmtests::cell(&cell).trim_start().trim_start_matches("NaN ").to_owned()
    })
}
