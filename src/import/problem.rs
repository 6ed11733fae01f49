//! What is wrong with an imported file, and where.

use std::fmt;

/// Result of everything that reads an import.
pub type Result<T> = std::result::Result<T, Problem>;

/// Why something cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was given; empty where it is not about one.
    pub file: String,
    /// Line, column or path within it; empty where it is about all of it.
    pub place: String,
    /// What is wrong, with the limit or with what to do.
    pub problem: String,
}

impl Problem {
    /// Something wrong at a place of the file that is being read.
    pub fn at(place: impl Into<String>, problem: impl Into<String>) -> Problem {
        Problem { file: String::new(), place: place.into(), problem: problem.into() }
    }

    /// Something wrong with a line, counted from 1.
    pub fn line(number: u64, problem: impl Into<String>) -> Problem {
        Problem::at(format!("line {number}"), problem)
    }

    /// Something wrong with the whole.
    pub fn whole(problem: impl Into<String>) -> Problem {
        Problem::at("", problem)
    }

    /// The same, in this file, unless it has one already.
    pub fn of_file(mut self, file: &str) -> Problem {
        if self.file.is_empty() {
            file.clone_into(&mut self.file);
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.file, &self.place].into_iter().filter(|part| !part.is_empty()) {
            write!(f, "{part}: ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Problem {}
