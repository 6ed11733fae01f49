//! re-AIM's csv: a line a load. `JPM` is jobs a minute of all forks together, `JTI` the timing index in
//! percent, `parent_tm` the seconds to the last fork's end; the rest follows from those or is a part of them.

use std::io::BufRead;

use wire::{Direction, Unit};

use super::super::format::Ask;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{self, Lines, number};

/// Reads a csv. The workfile is named by `--workload` or by the file.
///
/// # Errors
/// The line that is wrong.
pub fn read(file: &str, content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let name = ask.workload.as_deref().unwrap_or_else(|| text::stem(file));
    let mut run = FoundRun::default();
    for (at, forks, metrics) in loads(content)? {
        let point = FoundPoint::new(format!("line {at}"), name, Outcome::Values(metrics));
        run.push(point.tasks(forks))?;
    }
    Ok(run)
}

/// Columns that are results.
const COLUMNS: [(&str, &str, Unit, Direction); 3] = [
    ("JPM", "jobs_per_min", Unit::JobsPerMinute, Direction::Higher),
    ("JTI", "jti", Unit::Percent, Direction::Higher),
    ("parent_tm", "real", Unit::Seconds, Direction::Lower),
];

/// Line, number of forks and metrics of each load.
///
/// # Errors
/// The line that is wrong.
pub fn loads(content: &mut dyn BufRead) -> Result<Vec<(u64, u32, Vec<FoundMetric>)>> {
    let mut lines = Lines::of(content);
    let header = lines.read()?.ok_or_else(|| Problem::whole("is empty"))?.1;
    let header: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let lacking = |name: &str| Problem::line(1, format!("there is no column `{name}`"));
    let forks_at = column("Forks").ok_or_else(|| lacking("Forks"))?;
    column("JPM").ok_or_else(|| lacking("JPM"))?;
    let mut loads = Vec::new();
    while let Some((at, line)) = lines.read()? {
        if line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        // re-AIM may end its rows with a comma.
        if !(header.len()..=header.len() + 1).contains(&fields.len()) {
            let problem =
                format!("has {} columns, but the header has {}", fields.len(), header.len());
            return Err(Problem::line(at, problem));
        }
        let forks = text::tasks(fields[forks_at]).map_err(|problem| Problem::line(at, problem))?;
        let mut metrics = Vec::new();
        for (name, metric, unit, direction) in COLUMNS {
            let field = column(name).map(|column| fields[column]).filter(|field| !field.is_empty());
            if let Some(field) = field {
                let value = number(field)
                    .map_err(|problem| Problem::line(at, format!("column `{name}`: {problem}")))?;
                metrics.push(FoundMetric::new(metric, unit, direction, vec![value]));
            }
        }
        loads.push((at, forks, metrics));
    }
    Ok(loads)
}
