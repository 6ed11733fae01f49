//! `UnixBench`'s report: for each number of copies the scores with their units, then the indexes. What is
//! stored is the score, the mean of the passes that count; the passes themselves are not in the report.

use std::io::BufRead;

use wire::{Direction, Spread, Unit};

use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{Lines, number, slug, tasks};

/// Reads a report line by line.
///
/// # Errors
/// The line that is wrong.
pub fn read(content: &mut dyn BufRead) -> Result<FoundRun> {
    let mut run = FoundRun::default();
    let mut copies: Option<u32> = None;
    // Where the points of the current number of copies begin.
    let mut begin = 0;
    let mut lines = Lines::of(content);
    while let Some((at, line)) = lines.read()? {
        let problem = |problem: String| Problem::line(at, problem);
        if let Some(count) = copies_in(&line) {
            copies = Some(tasks(count).map_err(problem)?);
            begin = run.points.len();
        } else if let Some(os) = line.trim().strip_prefix("OS: ") {
            run.environment.insert("os".into(), os.trim().into());
        } else if let Some(score) = Score::of(&line) {
            let copies = copies.ok_or_else(|| {
                problem("a score before `running N parallel copies of tests`".into())
            })?;
            let metric = score.metric().map_err(problem)?;
            let name = slug(score.name);
            if run.points[begin..].iter().any(|point| point.workload == name) {
                return Err(problem(format!("`{}` is there twice", score.name)));
            }
            let outcome = Outcome::Values(vec![metric]);
            run.push(FoundPoint::new(format!("line {at}"), name, outcome).tasks(copies))?;
        } else if let Some((name, index)) = index(&line) {
            let index = number(index).map_err(problem)?;
            let metric = FoundMetric::new("index", Unit::Ratio, Direction::Higher, vec![index]);
            let name = slug(name);
            let known = run.points[begin..].iter_mut().find(|point| point.workload == name);
            if let Some(Outcome::Values(metrics)) = known.map(|point| &mut point.outcome) {
                metrics.push(metric);
            }
        }
    }
    Ok(run)
}

/// `40 CPUs in system; running 24 parallel copies of tests`.
fn copies_in(line: &str) -> Option<&str> {
    let rest = line.split_once("in system; running ")?.1;
    rest.split_once(" parallel cop").map(|(count, _)| count)
}

/// `System Call Overhead  3160841.4 lps  (10.0 s, 1 samples)`.
struct Score<'a> {
    name: &'a str,
    value: &'a str,
    unit: &'a str,
    samples: &'a str,
}

impl Score<'_> {
    fn of(line: &str) -> Option<Score<'_>> {
        let (left, right) = line.rsplit_once('(')?;
        let samples = right.trim_end().strip_suffix(" samples)")?.rsplit_once(", ")?.1;
        let (left, unit) = left.trim_end().rsplit_once(' ')?;
        let (name, value) = left.trim_end().rsplit_once(' ')?;
        Some(Score { name: name.trim(), value, unit, samples })
    }

    fn metric(&self) -> std::result::Result<FoundMetric, String> {
        let samples = self.samples.trim().parse::<u64>().ok().filter(|samples| *samples > 0);
        let samples =
            samples.ok_or_else(|| format!("`{}` is no number of samples", self.samples))?;
        let unit = match self.unit {
            "lps" => Some(Unit::LoopsPerSecond),
            "lpm" => Some(Unit::LoopsPerMinute),
            "KBps" => Some(Unit::KibibytesPerSecond),
            "MWIPS" => Some(Unit::MillionWhetstones),
            _ => None,
        };
        let metric = FoundMetric {
            unit,
            unit_word: unit.is_none().then(|| self.unit.to_owned()),
            direction: Some(Direction::Higher),
            ..FoundMetric::untold("score", vec![number(self.value)?])
        };
        Ok(metric.with_spread(Spread { samples: Some(samples), ..Spread::default() }))
    }
}

/// Name and index of a row `name  baseline  result  index`; none of one without a result.
fn index(line: &str) -> Option<(&str, &str)> {
    let (left, index) = line.trim_end().rsplit_once(' ')?;
    let (left, result) = left.trim_end().rsplit_once(' ')?;
    let (name, baseline) = left.trim_end().rsplit_once(' ')?;
    let figures = [baseline, result, index];
    figures.iter().all(|figure| figure.parse::<f64>().is_ok()).then(|| (name.trim(), index))
}
