//! The comparison table of mmtests, to the character: `%-Ns` statistic, ` %-Ms` label, then per
//! kernel `%12.2f` and ` (%7.2f%%)`, or asterisks for parentheses. This file only prints.

use std::fmt::Write;

/// Width of one kernel's column: `%12.2f` and ` (%7.2f%%)`.
const COLUMN: usize = 23;

/// A whole table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the kernels; the header splits each at its first `-`.
    pub kernels: Vec<String>,
    /// The lines.
    pub rows: Vec<Row>,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `Hmean`, `Min` …
    pub statistic: String,
    /// What was measured, e.g. `creat_clo-7`.
    pub label: String,
    /// One per kernel, the base first.
    pub cells: Vec<Cell>,
}

/// One kernel's figure; what is missing prints as `NaN`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The statistic.
    pub value: Option<f64>,
    /// Percent change, positive is better; 0 for the base.
    pub percent: Option<f64>,
    /// Between asterisks.
    pub starred: bool,
}

/// The table as text, with a newline at its end.
pub fn render(table: &Table) -> String {
    let width = |text: fn(&Row) -> &str| {
        table.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
    };
    let (n, m) = (width(|row| &row.statistic), width(|row| &row.label));
    let mut out = String::new();
    let halves: Vec<(&str, &str)> =
        table.kernels.iter().map(|k| k.split_once('-').unwrap_or((k, ""))).collect();
    for half in [|h: &(&str, &str)| h.0.to_owned(), |h: &(&str, &str)| h.1.to_owned()] {
        let names: String = halves.iter().map(|h| format!("{:>COLUMN$}", cut(&half(h)))).collect();
        let _ = writeln!(out, "{}{names}", " ".repeat(n + 1 + m));
    }
    for row in &table.rows {
        let cells: String = row.cells.iter().map(cell).collect();
        let _ = writeln!(out, "{:<n$} {:<m$}{cells}", row.statistic, row.label);
    }
    out
}

/// One kernel's figure: `    67982.45 * 375.95%*`.
pub fn cell(cell: &Cell) -> String {
    let (value, percent) = (cell.value.unwrap_or(f64::NAN), cell.percent.unwrap_or(f64::NAN));
    match cell.starred {
        true => format!("{value:12.2} *{percent:7.2}%*"),
        false => format!("{value:12.2} ({percent:7.2}%)"),
    }
}

fn cut(name: &str) -> String {
    name.chars().take(COLUMN - 1).collect()
}
