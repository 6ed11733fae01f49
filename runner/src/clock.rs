//! The runner's only look at the wall clock; everything else gets time as an argument.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Now, as RFC 3339 in UTC.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
pub fn now() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).expect("a present-day UTC time has an RFC 3339 form")
}
