//! What the columns of a table mean: `FIELD=COLUMN`, as typed after `--map`.

use super::super::problem::{Problem, Result};

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// Workload id.
    Workload,
    /// Task count.
    Tasks,
    /// Commit, or a name that the file of revisions has.
    Commit,
    /// Position in the branch's first-parent order.
    Position,
    /// Committer time, RFC 3339.
    CommittedAt,
    /// Branch.
    Branch,
    /// First line of the commit message.
    Subject,
    /// When it was measured, RFC 3339.
    MeasuredAt,
    /// A parameter of this name.
    Parameter(String),
    /// A fact of the environment of this name.
    Environment(String),
    /// Values of a metric of this name: one column a metric.
    Metric(String),
    /// Name of a metric whose value stands in the column [`Field::Value`]: one row a metric.
    MetricName,
    /// Its value.
    Value,
    /// Its unit.
    Unit,
    /// Its direction.
    Direction,
}

/// The columns of a table that mean something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Field and column.
    pub columns: Vec<(Field, String)>,
    /// What stands between two columns of a csv.
    pub delimiter: u8,
}

impl Default for Mapping {
    fn default() -> Mapping {
        Mapping { columns: Vec::new(), delimiter: b',' }
    }
}

const FIELDS: &str = "workload, tasks, commit, position, committed_at, branch, subject, measured_at, \
                      parameter.NAME, environment.NAME, metric.NAME, or metric with value, unit and \
                      direction";

impl Mapping {
    /// Reads `FIELD=COLUMN` each.
    ///
    /// # Errors
    /// The first that cannot be read, and fields that do not go together.
    pub fn parse(maps: &[String], delimiter: u8) -> Result<Mapping> {
        let mut columns: Vec<(Field, String)> = Vec::new();
        for map in maps {
            let problem = |problem: String| Problem::whole(format!("--map {map}: {problem}"));
            let (word, column) =
                map.split_once('=').ok_or_else(|| problem("is not FIELD=COLUMN".into()))?;
            let field = Field::parse(word)
                .ok_or_else(|| problem(format!("`{word}` is none of {FIELDS}")))?;
            if columns.iter().any(|(known, _)| *known == field) {
                return Err(problem(format!("`{word}` is mapped twice")));
            }
            columns.push((field, column.to_owned()));
        }
        let mapping = Mapping { columns, delimiter };
        let (name, value) = (mapping.column(&Field::MetricName), mapping.column(&Field::Value));
        if name.is_some() != value.is_some() {
            let problem = "--map metric=COLUMN and --map value=COLUMN go together";
            return Err(Problem::whole(problem));
        }
        Ok(mapping)
    }

    /// The column of a field.
    pub fn column(&self, field: &Field) -> Option<&str> {
        let found = self.columns.iter().find(|(known, _)| known == field);
        found.map(|(_, column)| column.as_str())
    }

    /// Refuses a mapping that makes no metric.
    ///
    /// # Errors
    /// What to give.
    pub fn check(&self) -> Result<()> {
        let metric = |field: &Field| matches!(field, Field::Metric(_) | Field::Value);
        if self.columns.iter().any(|(field, _)| metric(field)) {
            return Ok(());
        }
        Err(Problem::whole(
            "no column is a metric: give --map metric.NAME=COLUMN, or --map metric=COLUMN and --map \
             value=COLUMN where each row names its metric",
        ))
    }
}

impl Field {
    fn parse(word: &str) -> Option<Field> {
        let named = |kind: &str| {
            let name = word.strip_prefix(kind)?.strip_prefix('.')?;
            (!name.is_empty()).then(|| name.to_owned())
        };
        Some(match word {
            "workload" => Field::Workload,
            "tasks" => Field::Tasks,
            "commit" => Field::Commit,
            "position" => Field::Position,
            "committed_at" => Field::CommittedAt,
            "branch" => Field::Branch,
            "subject" => Field::Subject,
            "measured_at" => Field::MeasuredAt,
            "metric" => Field::MetricName,
            "value" => Field::Value,
            "unit" => Field::Unit,
            "direction" => Field::Direction,
            _ => named("parameter")
                .map(Field::Parameter)
                .or_else(|| named("environment").map(Field::Environment))
                .or_else(|| named("metric").map(Field::Metric))?,
        })
    }
}
