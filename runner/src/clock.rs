//! The runner's only look at the wall clock; everything else gets time as an argument.

use std::time::Instant;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Now, as RFC 3339 in UTC.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
pub fn now() -> String {
    in_words(OffsetDateTime::now_utc())
}

/// A span of time that a wall clock set meanwhile neither shortens nor turns round.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    started_at: OffsetDateTime,
    began: Instant,
}

impl Span {
    /// Begins now.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the wall clock"
    )]
    pub fn begin() -> Span {
        Span { started_at: OffsetDateTime::now_utc(), began: Instant::now() }
    }

    /// When it began, and its end if it ended now: RFC 3339, the second never before the first.
    pub fn ends(&self) -> (String, String) {
        let finished_at = self.started_at + self.began.elapsed();
        (in_words(self.started_at), in_words(finished_at))
    }
}

fn in_words(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).expect("a present-day UTC time has an RFC 3339 form")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_span_never_ends_before_it_began_whatever_the_wall_clock_does() {
        // As if the wall clock had been set back by a day since.
        let ahead = Duration::from_secs(86_400);
        let span = Span { started_at: OffsetDateTime::UNIX_EPOCH + ahead, began: Instant::now() };
        let (started_at, finished_at) = span.ends();
        assert!(started_at.starts_with("1970-01-02T00:00:00"), "{started_at}");
        assert!(finished_at.starts_with("1970-01-02T00:0"), "{finished_at}");
    }
}
