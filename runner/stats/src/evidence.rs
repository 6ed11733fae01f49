//! A verdict and the numbers it rests on.

/// What can be said of a point, a curve or a history. Never a percentage alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Worse, beyond noise.
    Regression,
    /// Better, beyond noise.
    Improvement,
    /// Any change is within the stated interval.
    NoChange,
    /// Too few samples or runs to say anything.
    NotEnoughData,
    /// The two sides ran in different environments.
    EnvironmentChanged,
    /// Units, metrics or machines differ, or the values admit no ratio.
    NotComparable,
}

impl Verdict {
    /// The words shown to people: `no change`, `not enough data` …
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Regression => "regression",
            Verdict::Improvement => "improvement",
            Verdict::NoChange => "no change",
            Verdict::NotEnoughData => "not enough data",
            Verdict::EnvironmentChanged => "environment changed",
            Verdict::NotComparable => "not comparable",
        }
    }

    /// Whether it names a change: a regression or an improvement.
    pub const fn is_change(self) -> bool {
        matches!(self, Verdict::Regression | Verdict::Improvement)
    }
}

/// One line of a judgement: `left relation right`, with what the numbers are.
#[derive(Debug, Clone, PartialEq)]
pub struct Inequality {
    /// What is compared, e.g. `distance of the medians in noise units`.
    pub what: String,
    /// Left side.
    pub left: f64,
    /// `>`, `>=`, `<` or `<=`.
    pub relation: &'static str,
    /// Right side, a limit of the policy or another measured number.
    pub right: f64,
    /// Whether it holds.
    pub holds: bool,
}

/// Why a verdict is what it is: every inequality evaluated, in order, and the one that decided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// Values of each side that were used, in order.
    pub used: Vec<f64>,
    /// How many values were set aside, and why.
    pub set_aside: Vec<String>,
    /// What the numbers rest on, in words: the unit counted, how the interval was made …
    pub notes: Vec<String>,
    /// The inequalities in the order they were evaluated.
    pub inequalities: Vec<Inequality>,
    /// Index into `inequalities` of the line that decided; none when data were too few to start.
    pub decided_by: Option<usize>,
}

impl Evidence {
    /// Evaluates one inequality and keeps it. The first that fails decides; while all hold, the
    /// latest does. Answers whether it holds; NaN never does.
    pub fn require(
        &mut self,
        what: impl Into<String>,
        left: f64,
        relation: &'static str,
        right: f64,
    ) -> bool {
        let holds = match relation {
            ">" => left > right,
            ">=" => left >= right,
            "<" => left < right,
            "<=" => left <= right,
            _ => false,
        };
        let all_held = self.inequalities.iter().all(|i| i.holds);
        self.inequalities.push(Inequality { what: what.into(), left, relation, right, holds });
        if all_held {
            self.decided_by = Some(self.inequalities.len() - 1);
        }
        holds
    }
}
