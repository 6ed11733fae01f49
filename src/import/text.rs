//! Lines and numbers of text files.

use std::io::{BufRead, Read as _};

use super::limits;
use super::problem::{Problem, Result};

/// The lines of a file, one at a time, numbered from 1.
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
}

impl<'a> Lines<'a> {
    /// The lines of this input.
    pub fn of(input: &'a mut dyn BufRead) -> Lines<'a> {
        Lines { input, number: 0 }
    }

    /// The next line without its end, and its number; none at the end of the file.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not UTF-8.
    pub fn read(&mut self) -> Result<Option<(u64, String)>> {
        let mut bytes = Vec::new();
        let mut limited = (&mut *self.input).take(limits::LINE_BYTES as u64 + 1);
        let read = limited.read_until(b'\n', &mut bytes);
        self.number += 1;
        let problem = |problem: String| Problem::line(self.number, problem);
        if read.map_err(|error| problem(format!("cannot be read: {error}")))? == 0 {
            return Ok(None);
        }
        if bytes.len() > limits::LINE_BYTES {
            return Err(problem(format!("is longer than {} bytes", limits::LINE_BYTES)));
        }
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        let text = String::from_utf8(bytes).map_err(|_| problem("is not UTF-8".into()))?;
        Ok(Some((self.number, text)))
    }
}

/// A finite number.
///
/// # Errors
/// What is wrong with it, without a place.
pub fn number(text: &str) -> std::result::Result<f64, String> {
    let shown: String = text.chars().take(40).collect();
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("`{shown}` is not a finite number")),
        Err(_) => Err(format!("`{shown}` is not a number")),
    }
}

/// A task count.
///
/// # Errors
/// What is wrong with it, without a place.
pub fn tasks(text: &str) -> std::result::Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(count) if (1..=wire::limits::TASKS).contains(&count) => Ok(count),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(format!("`{shown}` is not a number of tasks, 1 to {}", wire::limits::TASKS))
        }
    }
}

/// Lower case, with `-` for whatever is neither letter nor digit: `System Call Overhead` →
/// `system-call-overhead`.
pub fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let words: String = text.chars().map(plain).collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// A file's name without its folders, `.gz` and what follows its last point.
pub fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}
