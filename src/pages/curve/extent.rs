//! What of the curve is drawn, and how: a range of task counts, and the scale of y.

use crate::error::{Error, Result};
use crate::model::Curve;

use super::Choice;

/// As the address asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Least task count drawn.
    pub from: u32,
    /// Greatest task count drawn.
    pub to: u32,
    /// Whether y is logarithmic.
    pub log: bool,
    /// Every task count of the curve, ascending.
    pub counts: Vec<u32>,
}

impl Extent {
    /// All of the curve on a linear axis, where the address says nothing.
    pub fn of(curve: &Curve, choice: &Choice) -> Result<Extent> {
        let counts: Vec<u32> = curve.tasks.iter().map(|tasks| tasks.unsigned_abs()).collect();
        let count = |name: &str, text: &Option<String>, otherwise: u32| match text.as_deref() {
            None | Some("") => Ok(otherwise),
            Some(text) => text
                .parse()
                .map_err(|_| Error::query(name, format!("`{text}` is not a number of tasks"))),
        };
        let first = counts.first().copied().unwrap_or(1);
        let last = counts.last().copied().unwrap_or(1);
        let (from, to) = (count("from", &choice.from, first)?, count("to", &choice.to, last)?);
        if !counts.is_empty() && !counts.iter().any(|tasks| (from..=to).contains(tasks)) {
            let problem = format!("no task count of this curve lies in {from} to {to}");
            return Err(Error::query("to", problem));
        }
        let log = match choice.axis.as_deref() {
            None | Some("" | "linear") => false,
            Some("log") => true,
            Some(other) => {
                return Err(Error::query("axis", format!("`{other}` is not linear or log")));
            }
        };
        Ok(Extent { from, to, log, counts })
    }

    /// Whether this task count is drawn.
    pub fn holds(&self, tasks: u32) -> bool {
        (self.from..=self.to).contains(&tasks)
    }

    /// Whether some of the curve is left out.
    pub fn is_part(&self) -> bool {
        !self.counts.iter().all(|tasks| self.holds(*tasks))
    }

    /// Task counts to begin with, and whether it is the one.
    pub fn firsts(&self) -> Vec<(u32, bool)> {
        let chosen = self.counts.iter().find(|tasks| self.holds(**tasks));
        self.counts.iter().map(|tasks| (*tasks, Some(tasks) == chosen)).collect()
    }

    /// Task counts to end with, and whether it is the one.
    pub fn lasts(&self) -> Vec<(u32, bool)> {
        let chosen = self.counts.iter().rev().find(|tasks| self.holds(**tasks));
        self.counts.iter().map(|tasks| (*tasks, Some(tasks) == chosen)).collect()
    }
}
