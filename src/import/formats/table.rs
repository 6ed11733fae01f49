//! Rows → runs. Rows that say the same about code, time and environment are one run as long as they
//! stand together, so that a table of any length is read in the memory of one run. Rows of one run
//! with the same workload, parameters and tasks are samples of one point.

use std::collections::{BTreeMap, HashMap};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::{Direction, Unit};

use super::super::format::{Ask, Each};
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome, Tasks, Told};
use super::super::problem::{Problem, Result};
use super::super::text;
use super::mapping::{Field, Mapping};

/// What stands in a column.
pub enum Cell {
    /// Text; empty where nothing stands there.
    Text(String),
    /// Several samples.
    Numbers(Vec<f64>),
}

/// The content of one row by the name of the column; none where there is no such column.
pub type Row<'a> = dyn Fn(&str) -> Option<Cell> + 'a;

/// What a run is told from the next by.
type Head = (Told, Option<OffsetDateTime>, BTreeMap<String, String>);

/// What a point is told from others by.
type Key = (String, BTreeMap<String, String>, Option<u32>);

/// Rows read so far of one run.
pub struct Table<'a> {
    mapping: &'a Mapping,
    ask: &'a Ask,
    run: Option<Reading>,
}

struct Reading {
    head: Head,
    run: FoundRun,
    places: HashMap<Key, usize>,
}

impl<'a> Table<'a> {
    /// A table without rows.
    ///
    /// # Errors
    /// When the mapping makes no metric.
    pub fn new(ask: &'a Ask) -> Result<Table<'a>> {
        ask.mapping.check()?;
        Ok(Table { mapping: &ask.mapping, ask, run: None })
    }

    /// Takes one row, and hands over the run before it where it is the first of another.
    ///
    /// # Errors
    /// What is wrong with the row, by its place and column.
    pub fn row(&mut self, place: &str, row: &Row<'_>, each: &mut Each<'_>) -> Result<()> {
        let fields = Fields { place, mapping: self.mapping, row };
        let head = fields.head()?;
        if self.run.as_ref().is_none_or(|reading| reading.head != head) {
            self.end(each)?;
            let (revision, at, environment) = head.clone();
            let run = FoundRun { revision, at, environment, ..FoundRun::default() };
            self.run = Some(Reading { head, run, places: HashMap::new() });
        }
        let metrics = fields.metrics()?;
        if metrics.is_empty() {
            return Ok(());
        }
        let key = fields.key(self.ask)?;
        match &mut self.run {
            Some(reading) => reading.take(place, key, metrics),
            None => Ok(()),
        }
    }

    /// Hands over the last run.
    ///
    /// # Errors
    /// Whatever `each` says.
    pub fn end(&mut self, each: &mut Each<'_>) -> Result<()> {
        match self.run.take() {
            Some(reading) if !reading.run.points.is_empty() => each(reading.run),
            _ => Ok(()),
        }
    }
}

impl Reading {
    fn take(&mut self, place: &str, key: Key, metrics: Vec<FoundMetric>) -> Result<()> {
        let Some(&known) = self.places.get(&key) else {
            let (workload, parameters, tasks) = key.clone();
            self.places.insert(key, self.run.points.len());
            return self.run.push(FoundPoint {
                place: place.to_owned(),
                workload,
                parameters,
                tasks: tasks.map_or(Tasks::Untold, Tasks::Count),
                outcome: Outcome::Values(metrics),
            });
        };
        let Outcome::Values(all) = &mut self.run.points[known].outcome else { return Ok(()) };
        for metric in metrics {
            match all.iter_mut().find(|one| one.name == metric.name) {
                None => all.push(metric),
                Some(same) if (same.unit, same.direction) != (metric.unit, metric.direction) => {
                    let problem = format!(
                        "metric `{}` has another unit or direction than in an earlier row",
                        metric.name
                    );
                    return Err(Problem::at(place, problem));
                }
                Some(same) => same.values.extend(metric.values),
            }
        }
        self.run.check().map_err(|problem| Problem { place: place.to_owned(), ..problem })
    }
}

/// One row, read by the mapping.
struct Fields<'a> {
    place: &'a str,
    mapping: &'a Mapping,
    row: &'a Row<'a>,
}

impl Fields<'_> {
    fn problem(&self, column: &str, problem: impl std::fmt::Display) -> Problem {
        Problem::at(self.place, format!("column `{column}`: {problem}"))
    }

    fn cell(&self, column: &str) -> Result<Cell> {
        (self.row)(column).ok_or_else(|| self.problem(column, "is not there"))
    }

    /// The text of a mapped field; none where it is not mapped or empty.
    fn text(&self, field: &Field) -> Result<Option<String>> {
        let Some(column) = self.mapping.column(field) else { return Ok(None) };
        match self.cell(column)? {
            Cell::Text(text) => Ok(Some(text).filter(|text| !text.is_empty())),
            Cell::Numbers(_) => Err(self.problem(column, "is a list")),
        }
    }

    fn read<T>(
        &self,
        field: &Field,
        read: impl Fn(&str) -> std::result::Result<T, String>,
    ) -> Result<Option<T>> {
        let Some(text) = self.text(field)? else { return Ok(None) };
        let column = self.mapping.column(field).unwrap_or_default();
        read(&text).map(Some).map_err(|problem| self.problem(column, problem))
    }

    fn head(&self) -> Result<Head> {
        let time = |text: &str| {
            OffsetDateTime::parse(text, &Rfc3339).map_err(|error| {
                format!("`{text}` is not a time like 2026-03-01T12:00:00Z: {error}")
            })
        };
        let position = |text: &str| {
            text.parse::<i64>().map_err(|_| format!("`{text}` is not a position, a whole number"))
        };
        let told = Told {
            commit: self.text(&Field::Commit)?,
            branch: self.text(&Field::Branch)?,
            position: self.read(&Field::Position, position)?,
            committed_at: self
                .read(&Field::CommittedAt, |text| time(text).map(|_| text.to_owned()))?,
            subject: self.text(&Field::Subject)?,
        };
        let at = self.read(&Field::MeasuredAt, time)?;
        let environment = self.named(|field| match field {
            Field::Environment(name) => Some(name),
            _ => None,
        })?;
        Ok((told, at, environment))
    }

    fn named(&self, of: fn(&Field) -> Option<&String>) -> Result<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        for (field, _) in &self.mapping.columns {
            if let Some(name) = of(field) {
                found.insert(name.clone(), self.text(field)?.unwrap_or_default());
            }
        }
        Ok(found)
    }

    fn key(&self, ask: &Ask) -> Result<Key> {
        let workload = self.text(&Field::Workload)?.or_else(|| ask.workload.clone());
        let workload = workload.ok_or_else(|| {
            let problem = "its workload is not told: give --map workload=COLUMN or --workload";
            Problem::at(self.place, problem)
        })?;
        let parameters = self.named(|field| match field {
            Field::Parameter(name) => Some(name),
            _ => None,
        })?;
        Ok((workload, parameters, self.read(&Field::Tasks, text::tasks)?))
    }

    fn metrics(&self) -> Result<Vec<FoundMetric>> {
        let mut metrics = Vec::new();
        for (field, column) in &self.mapping.columns {
            let name = match field {
                Field::Metric(name) => name.clone(),
                Field::Value => {
                    let name = self.text(&Field::MetricName)?;
                    name.ok_or_else(|| Problem::at(self.place, "its metric has no name"))?
                }
                _ => continue,
            };
            let values = self.values(column)?;
            if values.is_empty() {
                continue;
            }
            let metric = FoundMetric::untold(name, values);
            metrics.push(match field {
                Field::Value => self.told(metric)?,
                _ => metric,
            });
        }
        Ok(metrics)
    }

    /// With the unit and direction that the row tells.
    fn told(&self, metric: FoundMetric) -> Result<FoundMetric> {
        let word = self.text(&Field::Unit)?;
        let unit = word.as_deref().and_then(Unit::parse);
        let direction = self.read(&Field::Direction, |text| {
            Direction::parse(text).ok_or_else(|| format!("`{text}` is neither higher nor lower"))
        })?;
        Ok(FoundMetric { unit, unit_word: word.filter(|_| unit.is_none()), direction, ..metric })
    }

    fn values(&self, column: &str) -> Result<Vec<f64>> {
        match self.cell(column)? {
            Cell::Numbers(values) => Ok(values),
            Cell::Text(text) if text.is_empty() => Ok(Vec::new()),
            Cell::Text(text) => {
                let value = text::number(&text).map_err(|problem| self.problem(column, problem))?;
                Ok(vec![value])
            }
        }
    }
}
