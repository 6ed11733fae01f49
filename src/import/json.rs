//! One JSON document → one of our types, with the path of what is wrong.

use std::io::{BufRead, Read as _};

use serde::de::DeserializeOwned;

use super::limits;
use super::problem::{Problem, Result};

/// Reads a whole document of at most [`limits::JSON_BYTES`].
///
/// # Errors
/// Where it breaks off or does not fit, by line, column and path.
pub fn read<T: DeserializeOwned>(input: &mut dyn BufRead) -> Result<T> {
    parse(&bytes(input)?)
}

/// All of an input of at most [`limits::JSON_BYTES`].
///
/// # Errors
/// When it cannot be read or is larger.
pub fn bytes(input: &mut dyn BufRead) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(limits::JSON_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Problem::whole(format!("cannot be read: {error}")))?;
    match bytes.len() {
        0 => Err(Problem::whole("is empty")),
        length if length > limits::JSON_BYTES => {
            Err(Problem::whole(format!("is larger than {} bytes", limits::JSON_BYTES)))
        }
        _ => Ok(bytes),
    }
}

/// As [`read`], of bytes.
///
/// # Errors
/// As [`read`].
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { format!("{path}: ") };
        wrong(&path, error.inner())
    })?;
    json.end().map_err(|error| wrong("", &error))?;
    Ok(value)
}

fn wrong(path: &str, error: &serde_json::Error) -> Problem {
    // serde_json ends its sentence with the place, which stands in front here.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let words = error.to_string();
    let words = words.strip_suffix(&place).unwrap_or(&words);
    Problem::at(
        format!("line {} column {}", error.line(), error.column()),
        format!("{path}{words}"),
    )
}
