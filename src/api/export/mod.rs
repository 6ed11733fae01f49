//! Answers as CSV and as NDJSON: asked for by `format` or by `Accept`, sent in pieces, so that a
//! list of any length costs one page of memory.

mod table;

use std::fmt::Display;
use std::future::Future;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream, StreamExt as _};
use serde::Serialize;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::page::Asked;
use super::params::MOST_ROWS;
use super::{Answer, Params};
use crate::error::{Error, Result};

pub use table::Tabular;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// A table with a head.
    Csv,
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    const ALL: [Format; 3] = [Format::Json, Format::Csv, Format::Ndjson];

    const fn word(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Csv => "text/csv",
            Format::Ndjson => "application/x-ndjson",
        }
    }

    /// The one `format` names, else the one of `Accept` that is liked best, else JSON.
    ///
    /// # Errors
    /// A word that is none.
    pub fn asked(params: &mut Params) -> Result<Format> {
        let Some(word) = params.take::<String>("format")? else {
            return Ok(Format::accepted(params.accept()));
        };
        let found = Format::ALL.into_iter().find(|format| format.word() == word);
        found.ok_or_else(|| Error::query("format", "must be json, csv or ndjson"))
    }

    fn accepted(ranges: &str) -> Format {
        let (mut best, mut most) = (Format::Json, 0.0);
        for range in ranges.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let essence = parts.next().unwrap_or_default();
            let format = Format::ALL.into_iter().find(|one| {
                one.media_type().eq_ignore_ascii_case(essence)
                    || (*one == Format::Json && matches!(essence, "*/*" | "application/*"))
            });
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
            if let (Some(format), quality @ 0.0..=1.0) = (format, quality.unwrap_or(1.0_f32))
                && quality > most
            {
                (best, most) = (format, quality);
            }
        }
        best
    }
}

/// `format` of every answer that has several forms.
pub enum FormatParam {}

impl IntoParams for FormatParam {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let words = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Format::ALL.map(Format::word)))
            .build();
        let format = ParameterBuilder::new()
            .name("format")
            .parameter_in(ParameterIn::Query)
            .required(Required::False)
            .description(Some("Form of the answer; `Accept` says it too, JSON where neither does."))
            .schema(Some(words))
            .build();
        vec![format]
    }
}

/// A list in the form asked for: a page of it as JSON; as CSV or NDJSON everything from there on,
/// or `limit` rows where that is given. `fetch` gives at most so many rows behind a place, each with
/// its own place.
pub async fn list<P, T, F, Rows>(
    name: &'static str,
    format: Format,
    asked: Asked<P>,
    fetch: F,
) -> Answer<Response>
where
    P: Display + Clone + Send + 'static,
    T: Tabular + Send + 'static,
    F: Fn(Option<P>, i64) -> Rows + Send + 'static,
    Rows: Future<Output = Result<Vec<(P, T)>>> + Send + 'static,
{
    if format == Format::Json {
        let rows = fetch(asked.after.clone(), asked.rows()).await?;
        let page = asked.page(rows, |row| row.0.clone(), |row| row.1);
        return Ok(Json(page).into_response());
    }
    let left = asked.given.unwrap_or(i64::MAX);
    // The first rows are fetched before the answer begins: what fails by then is still a problem.
    let size = left.min(MOST_ROWS);
    let (first, rest) = batch(fetch(asked.after, size), size, left).await?;
    let state = (fetch, rest);
    let rest = stream::unfold(state, |(fetch, rest)| async move {
        let (after, left) = rest?;
        let size = left.min(MOST_ROWS);
        let rows = fetch(after, size);
        match batch(rows, size, left).await {
            Ok((rows, rest)) => Some((Ok(rows), (fetch, rest))),
            Err(error) => Some((Err(broken(&error)), (fetch, None))),
        }
    });
    Ok(streamed(name, format, stream::iter([Ok(first)]).chain(rest)))
}

/// Rows of an export, and where the next ones begin.
type Batch<P, T> = (Vec<T>, Option<(Option<P>, i64)>);

/// `size` rows were asked for, of `left` that are wanted.
async fn batch<P: Clone, T>(
    rows: impl Future<Output = Result<Vec<(P, T)>>>,
    size: i64,
    left: i64,
) -> Result<Batch<P, T>> {
    let rows = rows.await?;
    let is_full = rows.len() as i64 == size;
    let left = left - rows.len() as i64;
    let last = rows.last().map(|row| row.0.clone());
    let rest = (is_full && left > 0).then_some((last, left));
    Ok((rows.into_iter().map(|row| row.1).collect(), rest))
}

/// The head is out by now: the client learns of it by an answer that breaks off.
fn broken(error: &Error) -> std::io::Error {
    tracing::error!(%error, "an export broke off");
    std::io::Error::other("the export broke off")
}

/// Rows that are at hand, as CSV.
pub fn csv<T: Tabular + Send + 'static>(name: &'static str, rows: Vec<T>) -> Response {
    streamed(name, Format::Csv, in_batches(rows))
}

/// Rows that are at hand, one JSON object a line.
pub fn ndjson<T: Serialize + Send + 'static>(name: &'static str, rows: Vec<T>) -> Response {
    let lines = in_batches(rows).map(|batch| batch.and_then(|rows| table::lines(&rows)));
    answer(name, Format::Ndjson, lines)
}

fn in_batches<T: Send>(rows: Vec<T>) -> impl Stream<Item = std::io::Result<Vec<T>>> + Send {
    let mut rows = rows.into_iter();
    let batches = std::iter::from_fn(move || {
        let batch: Vec<T> = rows.by_ref().take(MOST_ROWS as usize).collect();
        (!batch.is_empty()).then_some(Ok(batch))
    });
    stream::iter(batches)
}

fn streamed<T: Tabular + Send + 'static>(
    name: &'static str,
    format: Format,
    batches: impl Stream<Item = std::io::Result<Vec<T>>> + Send + 'static,
) -> Response {
    match format {
        Format::Csv => {
            let head = stream::once(async { table::head::<T>() });
            let rows = batches.map(|batch| batch.and_then(|rows| table::rows(&rows)));
            answer(name, format, head.chain(rows))
        }
        _ => {
            let lines = batches.map(|batch| batch.and_then(|rows| table::lines(&rows)));
            answer(name, format, lines)
        }
    }
}

fn answer(
    name: &str,
    format: Format,
    pieces: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static,
) -> Response {
    let media_type = match format {
        Format::Csv => "text/csv; charset=utf-8; header=present",
        other => other.media_type(),
    };
    let file = format!("attachment; filename=\"{name}.{}\"", format.word());
    let headers =
        [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, file)];
    // A layer that compresses may ask once more after the end.
    (headers, Body::from_stream(pieces.fuse())).into_response()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[derive(Serialize)]
    struct Row {
        number: usize,
    }

    impl Tabular for Row {
        const COLUMNS: &'static [&'static str] = &["number"];
    }

    async fn exported(rows: usize, given: Option<i64>) -> Vec<String> {
        let asked = Asked { after: None, limit: given.unwrap_or(100), given };
        let answer = list("rows", Format::Csv, asked, move |after: Option<usize>, limit| {
            assert!(limit <= MOST_ROWS);
            let first = after.map_or(0, |after| after + 1);
            let row = |number| (number, Row { number });
            let batch = (first..rows).take(limit as usize).map(row).collect();
            std::future::ready(Ok(batch))
        });
        let body = answer.await.expect("an answer").into_body();
        let text = body.collect().await.expect("a whole body").to_bytes();
        String::from_utf8(text.to_vec()).expect("text").lines().skip(1).map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn an_export_holds_every_row_once_however_many_there_are() {
        for rows in [0, 1, 499, 500, 501, 1000, 1234] {
            let expected: Vec<String> = (0..rows).map(|number| number.to_string()).collect();
            assert_eq!(exported(rows, None).await, expected, "{rows}");
        }
        assert_eq!(exported(1234, Some(7)).await.len(), 7);
    }

    #[test]
    fn the_form_liked_best_is_taken() {
        for (accept, expected) in [
            ("text/csv", Format::Csv),
            ("application/x-ndjson, text/csv;q=0.5", Format::Ndjson),
            ("text/csv;q=0.5, application/json", Format::Json),
            ("text/csv;q=0", Format::Json),
            ("text/html, */*;q=0.8", Format::Json),
            ("image/png", Format::Json),
            ("text/csv;q=lots", Format::Csv),
            ("", Format::Json),
        ] {
            assert_eq!(Format::accepted(accept), expected, "{accept}");
        }
    }
}
