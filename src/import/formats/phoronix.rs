//! What `phoronix-test-suite result-file-to-csv` writes: a table of systems, then a row a test with the
//! direction (`HIB`, `LIB`) and a value a system. The unit is not in the file. Each system is a run, named
//! for a revision by its identifier where there are several; `--column` takes one of them.

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};
use wire::Direction;

use super::super::format::{Ask, Each};
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{Lines, number, slug};

/// Reads a csv.
///
/// # Errors
/// The line that is wrong, and a system that is not there.
pub fn read(content: &mut dyn BufRead, ask: &Ask, each: &mut Each<'_>) -> Result<()> {
    let mut sheet = Sheet::default();
    let mut lines = Lines::of(content);
    while let Some((at, line)) = lines.read()? {
        sheet.line(at, &record(at, &line)?)?;
    }
    sheet.finish(ask)?.into_iter().try_for_each(each)
}

/// No field of it holds a line break.
fn record(at: u64, line: &str) -> Result<StringRecord> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    reader
        .read_record(&mut record)
        .map_err(|error| Problem::line(at, format!("cannot be read: {error}")))?;
    Ok(record)
}

#[derive(Default)]
struct Sheet {
    /// Identifiers of the systems, and how many lines of them there were: the second is the head of
    /// the results.
    systems: Vec<String>,
    heads: usize,
    runs: Vec<FoundRun>,
}

impl Sheet {
    fn line(&mut self, at: u64, record: &StringRecord) -> Result<()> {
        let first = record.get(0).unwrap_or_default().trim();
        let second = record.get(1).unwrap_or_default().trim();
        if first.is_empty() && second.is_empty() && record.len() > 2 {
            self.systems = record.iter().skip(2).map(|name| name.trim().to_owned()).collect();
            self.runs.resize_with(self.systems.len(), FoundRun::default);
            self.heads += 1;
            return Ok(());
        }
        match self.heads {
            1 if record.len() == self.systems.len() + 2 && !first.is_empty() => {
                for (run, fact) in self.runs.iter_mut().zip(record.iter().skip(2)) {
                    run.environment.insert(slug(first), fact.trim().to_owned());
                }
                Ok(())
            }
            2 if !first.is_empty() => self.result(at, first, second, record),
            _ => Ok(()),
        }
    }

    fn result(&mut self, at: u64, test: &str, way: &str, record: &StringRecord) -> Result<()> {
        let direction = match way {
            "HIB" => Some(Direction::Higher),
            "LIB" => Some(Direction::Lower),
            "" => None,
            other => {
                return Err(Problem::line(at, format!("`{other}` is neither HIB nor LIB")));
            }
        };
        if record.len() > self.systems.len() + 2 {
            let problem = format!("has more values than the {} systems", self.systems.len());
            return Err(Problem::line(at, problem));
        }
        let (name, arguments) = test.split_once(" - ").unwrap_or((test, ""));
        for (run, text) in self.runs.iter_mut().zip(record.iter().skip(2)) {
            if text.trim().is_empty() {
                continue;
            }
            let value = number(text).map_err(|problem| Problem::line(at, problem))?;
            let metric = FoundMetric { direction, ..FoundMetric::untold(test.trim(), vec![value]) };
            let outcome = Outcome::Values(vec![metric]);
            let point = FoundPoint::new(format!("line {at}"), name.trim(), outcome);
            run.push(point.with("arguments", arguments.trim()))?;
        }
        Ok(())
    }

    /// The runs of the systems that were asked for.
    fn finish(self, ask: &Ask) -> Result<Vec<FoundRun>> {
        if self.runs.iter().all(|run| run.points.is_empty()) {
            return Err(Problem::whole("holds no result of phoronix-test-suite"));
        }
        let several = self.systems.len() > 1 && ask.column.is_none();
        if let Some(wanted) = &ask.column
            && !self.systems.contains(wanted)
        {
            let there = self.systems.join(", ");
            return Err(Problem::whole(format!(
                "there is no system `{wanted}`; there are: {there}"
            )));
        }
        let all = self.systems.into_iter().zip(self.runs);
        let wanted = all.filter(|(system, run)| {
            !run.points.is_empty() && ask.column.as_ref().is_none_or(|wanted| wanted == system)
        });
        Ok(wanted
            .map(|(system, run)| FoundRun { name: several.then_some(system), ..run })
            .collect())
    }
}
