//! One JSON object a line, mapped by `--map`. A column `a.b` is the field `b` of the field `a`, unless
//! there is a field of that very name. A list of numbers is a list of samples.

use std::io::BufRead;

use serde_json::{Map, Value};

use super::super::format::{Ask, Each};
use super::super::problem::{Problem, Result};
use super::super::text::Lines;
use super::table::{Cell, Table};

/// Reads a file line by line.
///
/// # Errors
/// The line that is wrong.
pub fn read(content: &mut dyn BufRead, ask: &Ask, each: &mut Each<'_>) -> Result<()> {
    let mut table = Table::new(ask)?;
    let mut lines = Lines::of(content);
    let mut any = false;
    while let Some((number, text)) = lines.read()? {
        if text.trim().is_empty() {
            continue;
        }
        any = true;
        let object: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| Problem::line(number, format!("is not a JSON object: {error}")))?;
        let cell = |column: &str| Some(found(&object, column).map_or_else(nothing, cell_of));
        table.row(&format!("line {number}"), &cell, each)?;
    }
    match any {
        true => table.end(each),
        false => Err(Problem::whole("is empty")),
    }
}

fn nothing() -> Cell {
    Cell::Text(String::new())
}

fn found<'a>(object: &'a Map<String, Value>, column: &str) -> Option<&'a Value> {
    if let Some(value) = object.get(column) {
        return Some(value);
    }
    let (first, rest) = column.split_once('.')?;
    found(object.get(first)?.as_object()?, rest)
}

fn cell_of(value: &Value) -> Cell {
    match value {
        Value::Null => nothing(),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Array(list) => match list.iter().map(Value::as_f64).collect() {
            Some(numbers) => Cell::Numbers(numbers),
            // Its text is no number, which is said where one is needed.
            None => Cell::Text(value.to_string()),
        },
        other => Cell::Text(other.to_string()),
    }
}
