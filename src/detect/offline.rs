//! Detection without a service: files of `{"name": …, "values": […]}` in, the indices at which each
//! series steps out. The rule is the service's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use stats::Direction;
use stats::step::Observation;

use super::policy;

/// A series as a file holds it; what else the file says is of no account.
#[derive(Debug, Deserialize)]
struct Series {
    name: String,
    /// In order; null where nothing was measured.
    values: Vec<Option<f64>>,
}

/// Indices of the first value of each new level, by name of the series. Folders are searched for
/// `.json` files, those in them too.
///
/// # Errors
/// A path that cannot be read or holds no series, or two series of one name.
pub fn detect_files(paths: &[PathBuf]) -> Result<BTreeMap<String, Vec<usize>>> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    let mut found = BTreeMap::new();
    for file in files {
        let series = read(&file)?;
        if found.insert(series.name.clone(), steps(&series.values)).is_some() {
            bail!("{}: another file holds a series called `{}`", file.display(), series.name);
        }
    }
    Ok(found)
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

/// A bare series has no direction: a step is a step either way.
fn steps(values: &[Option<f64>]) -> Vec<usize> {
    let measured: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(i, value)| Some((i, value.filter(|value| value.is_finite())?)))
        .collect();
    let history: Vec<Observation> = (0..)
        .zip(&measured)
        .map(|(rank, (_, value))| Observation { rank, value: *value, within: None, n: 1 })
        .collect();
    stats::step::detect(&history, Direction::Higher, &policy::steps())
        .iter()
        .filter_map(|step| measured.get(step.index).map(|(i, _)| *i))
        .collect()
}
