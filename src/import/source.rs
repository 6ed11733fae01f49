//! A file or a folder of files to import, on disk or in memory. Files that end in `.gz` are
//! decompressed as they are read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::limits;
use super::problem::{Problem, Result};

/// What is imported: files by their paths below one folder.
#[derive(Debug, Clone)]
pub struct Source {
    /// As it was given, for errors.
    pub shown: String,
    root: Root,
}

#[derive(Debug, Clone)]
enum Root {
    File(PathBuf),
    Folder(PathBuf),
    Memory(BTreeMap<String, Vec<u8>>),
}

impl Source {
    /// A file or folder on disk.
    ///
    /// # Errors
    /// When it is not there or is something else.
    pub fn on_disk(path: &Path) -> Result<Source> {
        let shown = path.display().to_string();
        let problem = |problem: String| Problem::whole(problem).of_file(&shown);
        let found =
            fs::metadata(path).map_err(|error| problem(format!("cannot be read: {error}")))?;
        let root = match (found.is_dir(), found.is_file()) {
            (true, _) => Root::Folder(path.to_owned()),
            (_, true) => Root::File(path.to_owned()),
            _ => return Err(problem("is neither a file nor a folder".into())),
        };
        Ok(Source { shown, root })
    }

    /// Files in memory, by their paths.
    pub fn in_memory(files: BTreeMap<String, Vec<u8>>) -> Source {
        Source { shown: "memory".into(), root: Root::Memory(files) }
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        !matches!(self.root, Root::File(_))
    }

    /// Its last name: `6.9.0` of `results/6.9.0/`.
    pub fn name(&self) -> String {
        // `.` and `..` have no name of their own; a link has one, whatever it points to.
        let name = |path: &Path| {
            let own = path.file_name().map(ToOwned::to_owned);
            let whole = || Some(path.canonicalize().ok()?.file_name()?.to_owned());
            let name = own.or_else(whole).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        match &self.root {
            Root::File(path) | Root::Folder(path) => name(path),
            Root::Memory(files) => files.keys().next().cloned().unwrap_or_default(),
        }
    }

    /// Paths of all files below, sorted; of a file, its own name. Links to folders are not followed.
    ///
    /// # Errors
    /// When a folder cannot be read, or there are too many files, too deep.
    pub fn files(&self) -> Result<Vec<String>> {
        match &self.root {
            Root::File(_) => Ok(vec![self.name()]),
            Root::Memory(files) => Ok(files.keys().cloned().collect()),
            Root::Folder(root) => {
                let mut found = Vec::new();
                walk(root, "", 0, &mut found).map_err(|problem| problem.of_file(&self.shown))?;
                found.sort();
                Ok(found)
            }
        }
    }

    /// The content of one of [`Source::files`].
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self, file: &str) -> Result<Box<dyn BufRead + '_>> {
        let opened = |path: &Path| {
            let file = File::open(path);
            let file = file.map_err(|error| Problem::whole(format!("cannot be read: {error}")))?;
            Ok(Box::new(BufReader::with_capacity(64 << 10, file)) as Box<dyn BufRead>)
        };
        let plain: Box<dyn BufRead + '_> = match &self.root {
            Root::File(path) => opened(path)?,
            Root::Folder(root) => opened(&root.join(file))?,
            Root::Memory(files) => {
                let bytes = files.get(file).ok_or_else(|| Problem::whole("is not there"))?;
                Box::new(Cursor::new(bytes))
            }
        };
        Ok(match file.ends_with(".gz") {
            true => Box::new(BufReader::new(MultiGzDecoder::new(plain))),
            false => plain,
        })
    }

    /// How a file is called in errors.
    pub fn shown(&self, file: &str) -> String {
        match &self.root {
            Root::File(_) => self.shown.clone(),
            Root::Folder(root) => root.join(file).display().to_string(),
            Root::Memory(_) => file.to_owned(),
        }
    }
}

fn walk(folder: &Path, below: &str, depth: usize, found: &mut Vec<String>) -> Result<()> {
    if depth > limits::DEPTH {
        let problem = format!("{below} lies deeper than {} folders", limits::DEPTH);
        return Err(Problem::whole(problem));
    }
    let unreadable = |error| Problem::whole(format!("{below} cannot be read: {error}"));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            let name = name.to_string_lossy();
            return Err(Problem::whole(format!("the name {below}{name} is not UTF-8")));
        };
        let kind = entry.file_type().map_err(unreadable)?;
        let path = format!("{below}{name}");
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), depth + 1, found)?;
        } else if kind.is_file() || fs::metadata(entry.path()).is_ok_and(|target| target.is_file())
        {
            if found.len() >= limits::FILES {
                return Err(Problem::whole(format!("holds more than {} files", limits::FILES)));
            }
            found.push(path);
        }
    }
    Ok(())
}
