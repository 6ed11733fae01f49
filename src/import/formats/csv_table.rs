//! A csv with a header, mapped by `--map`.

use std::cell::Cell as Counter;
use std::io::{self, BufRead, Read};

use csv::{ReaderBuilder, StringRecord};

use super::super::format::{Ask, Each};
use super::super::limits;
use super::super::problem::{Problem, Result};
use super::table::{Cell, Table};

/// Reads a table row by row.
///
/// # Errors
/// The line that is wrong, and columns of the mapping that the header lacks.
pub fn read(content: &mut dyn BufRead, ask: &Ask, each: &mut Each<'_>) -> Result<()> {
    let left = Counter::new(limits::LINE_BYTES);
    let mut reader = reader(Bounded { content, left: &left }, ask.mapping.delimiter);
    let header = reader.headers().map_err(problem)?.clone();
    if header.is_empty() {
        return Err(Problem::whole("is empty: the first line names the columns"));
    }
    check_header(&header, ask)?;
    let mut table = Table::new(ask)?;
    let mut record = StringRecord::new();
    loop {
        left.set(limits::LINE_BYTES);
        if !reader.read_record(&mut record).map_err(problem)? {
            break;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |column: &str| {
            let at = header.iter().position(|name| name.trim() == column)?;
            Some(Cell::Text(record.get(at)?.trim().to_owned()))
        };
        table.row(&format!("line {line}"), &cell, each)?;
    }
    table.end(each)
}

/// A reader that trusts no quote to be closed: what is left is set anew for each record.
fn reader<R: Read>(content: R, delimiter: u8) -> csv::Reader<R> {
    ReaderBuilder::new().delimiter(delimiter).from_reader(content)
}

fn check_header(header: &StringRecord, ask: &Ask) -> Result<()> {
    for (at, name) in header.iter().enumerate() {
        if header.iter().skip(at + 1).any(|other| other.trim() == name.trim()) {
            return Err(Problem::line(1, format!("there are two columns `{}`", name.trim())));
        }
    }
    let lacking = ask
        .mapping
        .columns
        .iter()
        .find(|(_, column)| !header.iter().any(|name| name.trim() == column));
    match lacking {
        None => Ok(()),
        Some((_, column)) => {
            let there: Vec<&str> = header.iter().map(str::trim).collect();
            let there = there.join(", ");
            Err(Problem::line(1, format!("there is no column `{column}`; there are: {there}")))
        }
    }
}

/// What the csv crate says, by line.
pub fn problem(error: csv::Error) -> Problem {
    let line = |position: Option<&csv::Position>| position.map(csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Utf8 { pos, .. } => at(line(pos.as_ref()), "is not UTF-8".into()),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            at(line(pos.as_ref()), format!("has {len} columns, but the header has {expected_len}"))
        }
        _ => at(line(error.position()), format!("cannot be read: {error}")),
    }
}

fn at(line: Option<u64>, problem: String) -> Problem {
    line.map_or_else(|| Problem::whole(&problem), |line| Problem::line(line, &problem))
}

/// Ends with an error when one record takes more than it may.
struct Bounded<'a> {
    content: &'a mut dyn BufRead,
    left: &'a Counter<usize>,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            let most = format!("a record is longer than {} bytes", limits::LINE_BYTES);
            return Err(io::Error::other(most));
        }
        let read = self.content.read(buffer)?;
        self.left.set(left.saturating_sub(read));
        Ok(read)
    }
}
