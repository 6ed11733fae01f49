//! Counters that moved with a step, as a mail lists them: the surest and largest first. They stand
//! beside the verdict and never make one.

use super::table::{one_line, percent, places, value, wrapped};
use crate::detect::counters::{Moved, sure};
use crate::format;

/// Most counters listed: a mail is read, not scrolled; the page shows more.
const MOST: usize = 8;

/// Counters of one curve.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Task count they were counted at.
    tasks: i32,
    /// In order.
    pub rows: Vec<Row>,
    /// How many were left out for length.
    pub more: usize,
}

/// One counter.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name, on one line.
    pub name: String,
    /// Mean of the runs before, per operation.
    before: f64,
    /// Mean of the runs after.
    after: f64,
    /// after ÷ before; none from 0.
    ratio: Option<f64>,
    /// How sure.
    pub sure: &'static str,
}

impl Counters {
    /// Those that moved, in their order.
    pub fn new(tasks: i32, moved: &[Moved]) -> Counters {
        let row = |one: &Moved| Row {
            name: one_line(&one.name),
            before: one.base,
            after: one.head,
            ratio: one.ratio,
            sure: sure(one),
        };
        let rows = moved.iter().take(MOST).map(row).collect();
        Counters { tasks, rows, more: moved.len().saturating_sub(MOST) }
    }

    /// What the table holds.
    pub fn caption(&self) -> String {
        wrapped(&format!(
            "Counters per operation that moved with it {}, the surest and largest first (evidence, \
             never judged):",
            places(&[self.tasks], false)
        ))
    }

    /// In the columns of the table of steps.
    pub fn table(&self) -> String {
        let line = |row: &Row| {
            format!(
                "{:>10}{:<6}{:>11} {:>10}{:<6}  {} ({})\n",
                value(row.before),
                "",
                percent(row.ratio.map(|ratio| (ratio - 1.0) * 100.0)),
                value(row.after),
                "",
                row.name,
                row.sure
            )
        };
        let mut text: String = self.rows.iter().map(line).collect();
        if self.more > 0 {
            text += &format!("  and {} more on the page\n", self.more);
        }
        text
    }
}

impl Row {
    /// Before, as pages show it.
    pub fn before(&self) -> String {
        format::number(self.before)
    }

    /// After, as pages show it.
    pub fn after(&self) -> String {
        format::number(self.after)
    }

    /// By how much.
    pub fn change(&self) -> String {
        self.ratio.map_or("from 0".into(), format::change)
    }
}
