//! Query parameters. Each is asked for by name; one that nobody asked for is refused, so that a
//! misspelt filter is an error and never a filter that is silently missing.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::header;
use axum::http::request::Parts;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::page::{self, Asked};
use crate::error::{Error, Result};

/// Most rows of one page of a list.
pub const MOST_ROWS: i64 = 500;

/// Rows of a page when the client does not say.
pub const ROWS: i64 = 100;

/// The parameters that were not asked for yet.
#[derive(Debug)]
pub struct Params {
    left: Vec<(String, String)>,
    known: Vec<&'static str>,
    accept: String,
}

impl Params {
    /// The value of a parameter, if it is given.
    ///
    /// # Errors
    /// When it is given twice or cannot be read.
    pub fn take<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Option<T>> {
        self.known.push(name);
        let mut values = self.left.extract_if(.., |(key, _)| key == name).map(|(_, value)| value);
        let (first, second) = (values.next(), values.next());
        drop(values);
        if second.is_some() {
            return Err(Error::query(name, "is given twice"));
        }
        let Some(text) = first else { return Ok(None) };
        let problem = |error| Error::query(name, format!("`{text}` cannot be read: {error}"));
        text.parse().map(Some).map_err(problem)
    }

    /// The value of a parameter that must be given.
    ///
    /// # Errors
    /// As [`Params::take`], and when it is not given.
    pub fn require<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<T> {
        self.take(name)?.ok_or_else(|| Error::query(name, "must be given"))
    }

    /// The media types of `Accept`.
    pub fn accept(&self) -> &str {
        &self.accept
    }

    /// A time with its zone.
    ///
    /// # Errors
    /// As [`Params::take`], and when it is none.
    pub fn time(&mut self, name: &'static str) -> Result<Option<OffsetDateTime>> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let problem = "must be a time of RFC 3339 with its zone, such as 2026-03-01T12:00:00Z; a + \
                       is written %2B in an address";
        OffsetDateTime::parse(&text, &Rfc3339).map(Some).map_err(|_| Error::query(name, problem))
    }

    /// `after` and `limit`: the page of a list, of 1 to `MOST_ROWS` rows.
    ///
    /// # Errors
    /// As [`Params::take`], and when `after` is not the `next` of a page of this list, or `limit`
    /// is out of range.
    pub fn page<P: FromStr>(&mut self) -> Result<Asked<P>> {
        let foreign = || Error::query("after", "is not the `next` of a page of this list");
        let after = match self.take::<String>("after")? {
            None => None,
            Some(text) => {
                let place = page::opened(&text).ok_or_else(foreign)?;
                Some(place.parse().map_err(|_| foreign())?)
            }
        };
        let given = self.take("limit")?;
        let limit = given.unwrap_or(ROWS);
        if (1..=MOST_ROWS).contains(&limit) {
            return Ok(Asked { after, limit, given });
        }
        Err(Error::query("limit", format!("must be 1 to {MOST_ROWS}")))
    }

    /// Refuses what nobody asked for.
    ///
    /// # Errors
    /// The first unknown parameter, with the known ones.
    pub fn finish(self) -> Result<()> {
        match self.left.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(Error::query(
                name,
                match self.known.as_slice() {
                    [] => "is not known: this path takes no parameters".to_owned(),
                    known => format!("is not known: this path takes {}", known.join(", ")),
                },
            )),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = super::Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Params, super::Failure> {
        let Query::<Vec<(String, String)>>(left) = Query::try_from_uri(&parts.uri)
            .map_err(|error| Error::query("query", error.body_text()))?;
        // Postgres keeps no text with it.
        if let Some((name, _)) = left.iter().find(|(_, value)| value.contains('\0')) {
            return Err(Error::query(name, "must not contain a NUL character").into());
        }
        let accept = parts.headers.get_all(header::ACCEPT).iter();
        let accept: Vec<&str> = accept.filter_map(|value| value.to_str().ok()).collect();
        Ok(Params { left, known: Vec::new(), accept: accept.join(",") })
    }
}
