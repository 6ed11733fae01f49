//! Rows as text. A cell is the field of the row's JSON that its column names by a dotted path:
//! numbers with all their digits, nothing for null, lists and maps as JSON.

use std::io;

use axum::body::Bytes;
use serde::Serialize;
use serde_json::Value;

/// A row of a table.
pub trait Tabular: Serialize {
    /// Dotted paths of its fields, in the order of the columns.
    const COLUMNS: &'static [&'static str];
}

/// The line of column names.
pub fn head<T: Tabular>() -> io::Result<Bytes> {
    written(|table| table.write_record(T::COLUMNS))
}

/// Lines of CSV.
pub fn rows<T: Tabular>(rows: &[T]) -> io::Result<Bytes> {
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        values.push(serde_json::to_value(row)?);
    }
    written(|table| {
        for value in &values {
            table.write_record(T::COLUMNS.iter().map(|column| cell(value, column)))?;
        }
        Ok(())
    })
}

/// Lines of JSON.
pub fn lines<T: Serialize>(rows: &[T]) -> io::Result<Bytes> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row)?;
        text.push(b'\n');
    }
    Ok(text.into())
}

fn written(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> io::Result<Bytes> {
    let mut table = csv::Writer::from_writer(Vec::new());
    write(&mut table)?;
    Ok(table.into_inner().map_err(csv::IntoInnerError::into_error)?.into())
}

fn cell(row: &Value, column: &str) -> String {
    let field = column.split('.').fold(row, |value, name| &value[name]);
    match field {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        Value::Array(_) | Value::Object(_) => harmless(&field.to_string()),
        Value::Bool(_) | Value::Number(_) => field.to_string(),
    }
}

/// Text that no spreadsheet takes for a formula: an apostrophe stands before one that would be, and
/// before one that begins with an apostrophe, so that taking one away gives the text back.
fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        return format!("'{text}");
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        inner: Value,
    }

    impl Tabular for Row {
        const COLUMNS: &'static [&'static str] = &["name", "inner.value", "inner.none.deep"];
    }

    fn table(row: &Row) -> String {
        String::from_utf8(rows(std::slice::from_ref(row)).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn cells_are_fields_by_path_with_all_their_digits() {
        let row = Row { name: "a", inner: json!({"value": -0.1234567890123456, "none": null}) };
        assert_eq!(head::<Row>().unwrap(), "name,inner.value,inner.none.deep\n");
        assert_eq!(table(&row), "a,-0.1234567890123456,\n");
        let list = Row { name: "a,\"b\"\n", inner: json!({"value": [1, 2]}) };
        assert_eq!(table(&list), "\"a,\"\"b\"\"\n\",\"[1,2]\",\n");
    }

    #[test]
    fn text_is_never_a_formula_and_comes_back_whole() {
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'x", "plain", "", "a=b", "''"] {
            let made = harmless(text);
            assert!(!made.starts_with(['=', '+', '-', '@', '\t', '\r']), "{made:?}");
            assert_eq!(made.strip_prefix('\'').unwrap_or(&made), text);
        }
    }
}
