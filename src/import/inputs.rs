//! Paths as they were given → what is read one after another.

use std::fs;
use std::path::{Path, PathBuf};

use super::Format;
use super::problem::{Problem, Result};
use super::source::Source;
use super::text;

/// Something to read.
#[derive(Debug, Clone)]
pub struct Input {
    /// The files.
    pub source: Source,
    /// Which of them; none where the format reads whole folders.
    pub file: Option<String>,
    /// The revision it is named for, where names are those of revisions.
    pub revision: Option<String>,
}

impl Input {
    /// As it is called in errors.
    pub fn shown(&self) -> String {
        match &self.file {
            Some(file) => self.source.shown(file),
            None => self.source.shown.clone(),
        }
    }
}

/// What these paths hold for a format. With `by_revision`, each file is named for a revision, as is
/// each entry of a folder that may be one. A folder given to a format of single files stands for its
/// files of that format.
///
/// # Errors
/// A path that cannot be read, or that holds nothing for the format.
pub fn inputs(format: Format, paths: &[PathBuf], by_revision: bool) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        let source = Source::on_disk(path)?;
        match (by_revision, source.is_folder()) {
            (false, _) => inputs.extend(of_source(format, source, None)?),
            (true, false) => {
                let name = text::stem(&source.name()).to_owned();
                inputs.extend(of_source(format, source, Some(&name))?);
            }
            (true, true) => {
                for entry in entries(path)? {
                    let source = Source::on_disk(&entry)?;
                    let whole = source.name();
                    if !is_one(format, &source, &whole) {
                        continue;
                    }
                    let name = if source.is_folder() { &whole } else { text::stem(&whole) };
                    inputs.extend(of_source(format, source, Some(name))?);
                }
            }
        }
    }
    Ok(inputs)
}

/// Whether an entry is named for a revision: a read-me beside the results is not.
fn is_one(format: Format, source: &Source, name: &str) -> bool {
    let fits = source.is_folder() || (!format.reads_folders() && format.names(name));
    fits && !name.starts_with('.')
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| {
        Problem::whole(format!("cannot be read: {error}")).of_file(&folder.display().to_string())
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry.map_err(unreadable)?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

fn of_source(format: Format, source: Source, revision: Option<&str>) -> Result<Vec<Input>> {
    let revision = revision.map(str::to_owned);
    if format.reads_folders() {
        return Ok(vec![Input { source, file: None, revision }]);
    }
    let mut files = source.files()?;
    if source.is_folder() {
        files.retain(|file| format.names(file));
    }
    if files.is_empty() {
        let endings = format.endings().join(" or ");
        let problem = format!("is a folder without a file that ends in {endings}");
        return Err(Problem::whole(problem).of_file(&source.shown));
    }
    let input =
        |file| Input { source: source.clone(), file: Some(file), revision: revision.clone() };
    Ok(files.into_iter().map(input).collect())
}
