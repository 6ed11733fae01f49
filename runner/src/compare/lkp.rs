//! The comparison table of the kernel test robot (LKP), to the character.
//!
//! A cell is the mean of the runs and, above 2 %, their relative deviation; the column between is
//! the change of the means. This file only prints: figures come from `stats::lkp`.

use std::fmt::Write;

/// A whole table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names and values of what the columns share, printed sorted by name.
    pub keys: Vec<(String, String)>,
    /// The columns: base first.
    pub commits: Vec<Commit>,
    /// Points that failed in some run.
    pub failures: Vec<FailureRow>,
    /// Measured figures.
    pub rows: Vec<Row>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Commit id, or what stands for it.
    pub id: String,
    /// First line of the commit message, or what the side is.
    pub title: String,
}

/// One line of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is, e.g. `will-it-scale.per_process_ops`.
    pub name: String,
    /// One per commit; none where it has no value.
    pub cells: Vec<Option<Cell>>,
}

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Arithmetic mean of the runs.
    pub mean: f64,
    /// Relative deviation in whole percent, where it is shown.
    pub deviation_percent: Option<u32>,
    /// Change against the base in percent; none for the base and on a base of 0.
    pub change_percent: Option<f64>,
}

/// One line of failures.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureRow {
    /// What failed.
    pub name: String,
    /// Failed runs and all runs, per commit.
    pub cells: Vec<(usize, usize)>,
}

/// The table as text, with a newline at its end.
pub fn render(table: &Table) -> String {
    let mut out = String::new();
    head(table, &mut out);
    let others = table.commits.len().saturating_sub(1);
    if !table.failures.is_empty() {
        line(&mut out, &format!("{:>16}", "fail:runs"), others, &|_| {
            format!("{:>15}{:>13}", "%reproduction", "fail:runs")
        });
        line(&mut out, &format!("{:>12}    ", "|"), others, &|_| {
            format!("{:>10}{:>14}    ", "|", "|")
        });
        for row in &table.failures {
            failure_row(row, &mut out);
        }
    }
    line(&mut out, &format!("{:>16}", "%stddev"), others, &|_| {
        format!("{:>12}{:>16}", "%change", "%stddev")
    });
    line(&mut out, &format!("{:>14}  ", "\\"), others, &|_| format!("{:>9}{:>17}  ", "|", "\\"));
    for row in &table.rows {
        figure_row(row, &mut out);
    }
    out
}

/// A number as LKP prints it: two decimals below 1000, whole above, four digits above 10^8.
pub fn number(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude < 1000.0 => format!("{value:.2}"),
        magnitude if magnitude > 1e8 => four_digits(value),
        _ => format!("{value:.0}"),
    }
}

fn head(table: &Table, out: &mut String) {
    let mut keys: Vec<&(String, String)> = table.keys.iter().collect();
    keys.sort();
    let names: Vec<&str> = keys.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<&str> = keys.iter().map(|(_, value)| value.as_str()).collect();
    let _ = writeln!(out, "{}", "=".repeat(89));
    let _ = writeln!(out, "{}:\n  {}\n\ncommit:", names.join("/"), values.join("/"));
    for commit in &table.commits {
        let _ = writeln!(out, "  {:.10} (\"{}\")", commit.id, commit.title);
    }
    out.push('\n');
    let id = |column: usize, width: usize| format!("{:.width$}", table.commits[column].id);
    line(out, &format!("{:<16}", id(0, 16)), table.commits.len() - 1, &|column| {
        format!(" {:<27}", id(column, 27))
    });
    line(out, &"-".repeat(16), table.commits.len() - 1, &|_| format!(" {}", "-".repeat(27)));
}

fn line(out: &mut String, first: &str, others: usize, other: &dyn Fn(usize) -> String) {
    let mut text = first.to_owned();
    for column in 1..=others {
        text.push_str(&other(column));
    }
    let _ = writeln!(out, "{}", text.trim_end());
}

fn failure_row(row: &FailureRow, out: &mut String) {
    let count = |(failed, runs): (usize, usize)| {
        let failed = if failed == 0 { String::new() } else { failed.to_string() };
        format!("{failed:>11}:{runs:<4}")
    };
    let share = |(failed, runs): (usize, usize)| failed as f64 / runs.max(1) as f64;
    let mut text = count(row.cells[0]);
    for cell in &row.cells[1..] {
        let change = 100.0 * (share(*cell) - share(row.cells[0]));
        let change = if change == 0.0 { String::new() } else { format!("{change:+.0}%") };
        let _ = write!(text, "{change:>11} {}", count(*cell));
    }
    let _ = writeln!(out, "{text}  {}", row.name);
}

fn figure_row(row: &Row, out: &mut String) {
    let mut text = String::new();
    for (i, cell) in row.cells.iter().enumerate() {
        if i > 0 {
            let change = match cell {
                Some(Cell { change_percent: Some(percent), .. }) => format!("{percent:+.1}%"),
                Some(cell) => row.cells[0].map_or_else(String::new, |base| {
                    if base.mean == cell.mean { "+0.0%".into() } else { "from 0".into() }
                }),
                None => String::new(),
            };
            let _ = write!(text, "{change:>11} ");
        }
        let mean = cell.map_or_else(String::new, |cell| number(cell.mean));
        let deviation = match cell.and_then(|cell| cell.deviation_percent) {
            Some(percent) => format!(" ±{percent:>3}%"),
            None => " ".repeat(6),
        };
        let _ = write!(text, "{mean:>10}{deviation}");
    }
    let _ = writeln!(out, "{text}  {}", row.name);
}

/// `%.4g` of a large number.
fn four_digits(value: f64) -> String {
    let text = format!("{value:.3e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    match exponent.parse::<i32>() {
        Ok(exponent) => format!("{mantissa}e+{exponent:02}"),
        Err(_) => text,
    }
}
