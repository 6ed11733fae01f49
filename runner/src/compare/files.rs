//! Result files: one report, several one after another, or the two sides of one paired run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use wire::Report;

/// Which side of a paired run a report belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What is compared with.
    Base,
    /// What is judged.
    Head,
}

/// One line of a paired run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SidedReport {
    /// The side.
    pub side: Side,
    /// The parameters that make this side what it is.
    pub given: BTreeMap<String, String>,
    /// One run of it.
    pub report: Report,
}

/// One side of a comparison: runs of one revision per project, or of one parameter set.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What people call it: a short commit, `base`, `head` or a file's name.
    pub name: String,
    /// The parameters that make this side, where both sides come from one paired run.
    pub given: BTreeMap<String, String>,
    /// The runs.
    pub reports: Vec<Report>,
    /// For each run the pair it was measured in, of a base and a head that took turns.
    pub pairs: Vec<Option<usize>>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Reports of one side.
    Plain(Vec<Report>),
    /// Both sides.
    Sided(Vec<SidedReport>),
}

impl Column {
    /// The revision of its first run.
    pub fn revision(&self) -> &wire::Revision {
        &self.reports[0].revision
    }

    /// `variant=rmw`, or nothing.
    pub fn given_in_words(&self) -> String {
        let words: Vec<String> = self.given.iter().map(|(k, v)| format!("{k}={v}")).collect();
        words.join(" ")
    }
}

/// The first ten digits of a commit id.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Reads the text of one file. `name` is for errors.
///
/// # Errors
/// Names the file, the report and the field that is wrong.
pub fn parse(name: &str, text: &str) -> anyhow::Result<Content> {
    let (mut plain, mut sided) = (Vec::new(), Vec::new());
    let values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    for (i, value) in values.enumerate() {
        let place = || format!("{name}: report {}", i + 1);
        let value = value.with_context(place)?;
        let report = if value.get("side").is_some() {
            sided.push(serde_json::from_value::<SidedReport>(value).with_context(place)?);
            sided.last().map(|line: &SidedReport| &line.report)
        } else {
            plain.push(serde_json::from_value::<Report>(value).with_context(place)?);
            plain.last()
        };
        report.map_or(Ok(()), Report::check).with_context(place)?;
    }
    match (plain.is_empty(), sided.is_empty()) {
        (true, true) => bail!("{name}: no report in it"),
        (false, true) => Ok(Content::Plain(plain)),
        (true, false) => Ok(Content::Sided(sided)),
        (false, false) => bail!("{name}: reports with a side and without one are mixed"),
    }
}

/// Reads files into columns, the base first.
///
/// # Errors
/// When a file cannot be read, or when the files do not make two sides.
pub fn read(paths: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Column>> {
    columns(contents(paths)?)
}

/// The same where one side is enough.
///
/// # Errors
/// When a file cannot be read, or when the files do not belong together.
pub fn read_one_or_more(paths: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Column>> {
    arranged(contents(paths)?)
}

fn contents(paths: &[impl AsRef<Path>]) -> anyhow::Result<Vec<(String, Content)>> {
    let stems: BTreeSet<String> = paths.iter().map(|path| stem(path.as_ref())).collect();
    let mut contents = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let content = parse(&name, &text)?;
        let short = if stems.len() == paths.len() { stem(path) } else { name };
        contents.push((short, content));
    }
    Ok(contents)
}

/// Arranges what files hold into columns; each content comes with the file's short name.
///
/// # Errors
/// When there are not two sides, or when one side mixes revisions.
pub fn columns(contents: Vec<(String, Content)>) -> anyhow::Result<Vec<Column>> {
    let columns = arranged(contents)?;
    ensure!(
        columns.len() >= 2,
        "two sides are needed: give two result files, or one made by `run --base … --head …`"
    );
    Ok(columns)
}

/// The same for formats that show each side by itself: one is enough.
fn arranged(contents: Vec<(String, Content)>) -> anyhow::Result<Vec<Column>> {
    let (mut plain, mut sided) = (Vec::new(), Vec::new());
    for (name, content) in contents {
        match content {
            Content::Plain(reports) => plain.push((name, reports)),
            Content::Sided(lines) => sided.extend(lines),
        }
    }
    ensure!(
        plain.is_empty() || sided.is_empty(),
        "files of a paired run cannot be compared with plain reports: give one kind"
    );
    let columns = if sided.is_empty() { by_file(plain) } else { by_side(sided)? };
    for column in &columns {
        one_revision(column)?;
    }
    distinct_runs(&columns)?;
    Ok(columns)
}

fn by_file(files: Vec<(String, Vec<Report>)>) -> Vec<Column> {
    let commits: BTreeSet<&str> =
        files.iter().map(|(_, reports)| reports[0].revision.commit.as_str()).collect();
    let telling = commits.len() == files.len();
    files
        .iter()
        .map(|(stem, reports)| Column {
            name: match telling {
                true => short_commit(&reports[0].revision.commit).to_owned(),
                false => stem.clone(),
            },
            given: BTreeMap::new(),
            reports: reports.clone(),
            pairs: vec![None; reports.len()],
        })
        .collect()
}

fn by_side(lines: Vec<SidedReport>) -> anyhow::Result<Vec<Column>> {
    let mut columns = Vec::new();
    let pairs = pairs(&lines);
    for (side, name) in [(Side::Base, "base"), (Side::Head, "head")] {
        let of_side: Vec<(&SidedReport, Option<usize>)> =
            lines.iter().zip(pairs.iter().copied()).filter(|(line, _)| line.side == side).collect();
        let Some((first, _)) = of_side.first() else {
            bail!("the paired run has no {name} report")
        };
        ensure!(
            of_side.iter().all(|(line, _)| line.given == first.given),
            "the {name} reports were made with different parameters"
        );
        columns.push(Column {
            name: name.into(),
            given: first.given.clone(),
            reports: of_side.iter().map(|(line, _)| line.report.clone()).collect(),
            pairs: of_side.iter().map(|(_, pair)| *pair).collect(),
        });
    }
    Ok(columns)
}

/// The pair of each line: a base is written before its head.
fn pairs(lines: &[SidedReport]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; lines.len()];
    for i in 1..lines.len() {
        if (lines[i - 1].side, lines[i].side) == (Side::Base, Side::Head) {
            (pairs[i - 1], pairs[i]) = (Some(i), Some(i));
        }
    }
    pairs
}

fn one_revision(column: &Column) -> anyhow::Result<()> {
    let mut commits: BTreeMap<&str, &str> = BTreeMap::new();
    for report in &column.reports {
        let commit = report.revision.commit.as_str();
        let known = *commits.entry(&report.project.name).or_insert(commit);
        ensure!(
            known == commit,
            "{} holds two revisions of {}, {} and {}: one side is one revision",
            column.name,
            report.project.name,
            short_commit(known),
            short_commit(commit)
        );
    }
    Ok(())
}

fn distinct_runs(columns: &[Column]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for report in columns.iter().flat_map(|column| &column.reports) {
        ensure!(seen.insert(&report.run), "run {} is given twice", report.run);
    }
    Ok(())
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| path.display().to_string(), |s| s.to_string_lossy().into())
}
