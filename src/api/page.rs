//! Lists come in pages: `limit` rows, then `next`, to be given as `after` for the rows that follow.
//! A page begins behind the last row of the one before, by that row's place in the order, so that
//! rows which arrive meanwhile neither repeat nor hide one.

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

/// One page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Page<T> {
    /// At most `limit` rows.
    pub items: Vec<T>,
    /// Where the next page starts; null on the last one.
    pub next: Option<String>,
}

/// The page that is asked for. `P` is the place of a row in the order of the list.
#[derive(Debug, Clone, Copy)]
pub struct Asked<P> {
    /// Place of the last row of the page before; none for the first page.
    pub after: Option<P>,
    /// Most rows.
    pub limit: i64,
    /// `limit` where the client said it.
    pub given: Option<i64>,
}

impl<P: Display> Asked<P> {
    /// How many rows to fetch: one more than the page holds tells whether another follows.
    pub fn rows(&self) -> i64 {
        self.limit + 1
    }

    /// The page of these rows, of which [`Asked::rows`] were asked for.
    pub fn page<R, T>(
        &self,
        mut rows: Vec<R>,
        place: impl Fn(&R) -> P,
        show: impl Fn(R) -> T,
    ) -> Page<T> {
        let limit = self.limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|last| sealed(&place(last)));
        Page { items: rows.into_iter().map(show).collect(), next }
    }
}

/// A place as clients get it: text without a meaning of its own.
pub fn sealed(place: &impl Display) -> String {
    URL_SAFE_NO_PAD.encode(place.to_string())
}

/// What was sealed; none of what was not.
pub fn opened(text: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: &[u32], limit: i64) -> Page<u32> {
        let asked = Asked { after: None, limit, given: None };
        asked.page(rows.to_vec(), |row| *row, |row| row)
    }

    #[test]
    fn a_page_is_followed_by_another_only_where_rows_are_left() {
        let first = page(&[1, 2, 3], 2);
        assert_eq!(first.items, [1, 2]);
        assert_eq!(opened(&first.next.unwrap()).as_deref(), Some("2"));
        let last = page(&[3, 4], 2);
        assert_eq!((last.items.len(), last.next), (2, None));
        assert_eq!(page(&[], 2).next, None);
    }

    #[test]
    fn what_was_not_sealed_here_is_not_opened() {
        for text in ["17", "x", "****", "_w"] {
            let number = opened(text).and_then(|place| place.parse::<i64>().ok());
            assert_eq!(number, None, "{text}");
        }
    }
}
