//! Lists come in pages: `limit` rows, then `next`, to be given as `after` for the rows that follow.

use std::fmt::Display;

use serde::Serialize;

/// One page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Page<T> {
    /// At most `limit` rows.
    pub items: Vec<T>,
    /// Where the next page starts; null on the last one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// A page of at most `limit` of these rows, of which one more than `limit` was asked for.
    pub fn of<R, C: Display>(
        mut rows: Vec<R>,
        limit: i64,
        cursor: impl Fn(&R) -> C,
        show: impl Fn(R) -> T,
    ) -> Page<T> {
        let limit = limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|last| cursor(last).to_string());
        Page { items: rows.into_iter().map(show).collect(), next }
    }
}
