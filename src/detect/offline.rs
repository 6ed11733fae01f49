//! Detection without a service: files of `{"name": …, "values": […]}` in, the steps of each series
//! out, one file after the other. The rule is the service's own.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use stats::Direction;
use stats::step::{Buffers, Kind, Observation, Online, Step};

use super::policy;
use crate::model::step::Evidence;

/// A series as a file holds it; what else the file says is of no account.
#[derive(Debug, Deserialize)]
struct Series {
    name: String,
    /// In order; null where nothing was measured.
    values: Vec<Option<f64>>,
}

/// What to print of the steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Form {
    /// Judge point by point and print how many points had been read with each step.
    pub online: bool,
    /// Print levels and evidence of each step.
    pub explain: bool,
}

/// One step as it is printed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Entry {
    Index(usize),
    Seen(usize, usize),
    Explained(Box<Explained>),
}

#[derive(Debug, Serialize)]
struct Explained {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<usize>,
    kind: &'static str,
    before: f64,
    after: f64,
    evidence: Evidence,
}

/// Writes a JSON object of the steps by name of the series, in the order of the files. Folders are
/// searched for `.json` files, those in them too. One file is held at a time; what came before a
/// fault has been written when it is found.
///
/// # Errors
/// A path that cannot be read or holds no series, two series of one name, or `out` that fails.
pub fn detect_files(paths: &[PathBuf], form: Form, out: &mut impl Write) -> Result<()> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    let mut names = BTreeSet::new();
    let mut buffers = Buffers::default();
    for file in files {
        let Series { name, values } = read(&file)?;
        if names.contains(&name) {
            bail!("{}: another file holds a series called `{name}`", file.display());
        }
        let found = if form.online {
            steps_online(&values, form, &mut buffers)
        } else {
            steps(&values, form)
        };
        let before = if names.is_empty() { "{" } else { "," };
        let (key, found) = (serde_json::to_string(&name)?, serde_json::to_string(&found)?);
        write!(out, "{before}{key}:{found}").context("cannot write the steps")?;
        names.insert(name);
    }
    let end = if names.is_empty() { "{}" } else { "}" };
    writeln!(out, "{end}").context("cannot write the steps")
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .with_context(|| format!("cannot read the folder {}", path.display()))?;
    let mut entries: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|kind| kind == "json") {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Series> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} holds no series {{name, values}}", path.display()))
}

/// Places and values of what was measured.
fn measured(values: &[Option<f64>]) -> Vec<(usize, f64)> {
    let finite = |(i, value): (usize, &Option<f64>)| {
        value.filter(|value| value.is_finite()).map(|value| (i, value))
    };
    values.iter().enumerate().filter_map(finite).collect()
}

/// A bare series has no direction: a step is a step either way.
fn steps(values: &[Option<f64>], form: Form) -> Vec<Entry> {
    let measured = measured(values);
    let history: Vec<Observation> = (0..)
        .zip(&measured)
        .map(|(rank, (_, value))| Observation { rank, value: *value, within: None, n: 1 })
        .collect();
    stats::step::detect(&history, Direction::Higher, &policy::steps())
        .iter()
        .filter_map(|step| Some(entry(step, measured.get(step.index)?.0, None, form)))
        .collect()
}

fn steps_online(values: &[Option<f64>], form: Form, buffers: &mut Buffers) -> Vec<Entry> {
    let measured = measured(values);
    let mut series = Online::new(Direction::Higher, policy::steps());
    let mut found = Vec::new();
    for &(at, value) in &measured {
        if let Some(step) = series.push(value, buffers)
            && let Some(&(index, _)) = measured.get(step.index)
        {
            found.push(entry(&step, index, Some(at + 1), form));
        }
    }
    found
}

fn entry(step: &Step, index: usize, seen: Option<usize>, form: Form) -> Entry {
    if !form.explain {
        return seen.map_or(Entry::Index(index), |seen| Entry::Seen(index, seen));
    }
    let kind = match step.kind {
        Kind::Level => "level",
        Kind::Regime => "regime",
    };
    let evidence = Evidence::from(&step.evidence);
    let (before, after) = (step.before, step.after);
    Entry::Explained(Box::new(Explained { index, seen, kind, before, after, evidence }))
}
