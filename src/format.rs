//! Numbers and times as people read them, one way on pages, plots and in mails: three significant
//! digits, a true minus, percentages with one decimal, times as "3 h ago".

use time::{Duration, OffsetDateTime, UtcOffset};

/// Three significant digits with a decimal prefix: `103 k`, `9.64`, `1.2 M`, `0.0321`.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    let magnitude = round_to_three_digits(value.abs());
    let (scaled, prefix) = match magnitude {
        m if m >= 1e12 => (m / 1e12, " T"),
        m if m >= 1e9 => (m / 1e9, " G"),
        m if m >= 1e6 => (m / 1e6, " M"),
        m if m >= 1e4 => (m / 1e3, " k"),
        m => (m, ""),
    };
    let whole = prefix.is_empty() && value.fract() == 0.0;
    let digits = if whole { format!("{scaled:.0}") } else { significant(scaled) };
    format!("{}{digits}{prefix}", sign(value))
}

/// A share as a percentage with three significant digits: 0.0312 → `3.12 %`.
pub fn share(value: f64) -> String {
    format!("{} %", number(100.0 * value))
}

/// A limit as it was set, where it has few digits: `0.005`, `3`; else as [`number`].
pub fn limit(value: f64) -> String {
    let set = value.abs().to_string();
    if value.is_finite() && set.len() <= 7 && value.abs() < 1e4 {
        return format!("{}{set}", sign(value));
    }
    number(value)
}

/// All digits, for titles and copied text, grouped by thin spaces: `103 482.5`.
pub fn exact(value: f64) -> String {
    let text = format!("{:.*}", if value.abs() >= 1000.0 { 1 } else { 6 }, value.abs());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{grouped}{point}{fraction}", sign(value))
}

/// A ratio as a change: 0.882 → `−11.8 %`, 7.5 → `+650.0 %`, 12.3 → `12.3 ×`.
pub fn change(ratio: f64) -> String {
    if ratio > 11.0 {
        return format!("{} ×", significant(ratio));
    }
    let percent = (ratio - 1.0) * 100.0;
    format!("{} %", signed_tenths(percent))
}

/// A ratio with its interval as changes: `−11.8 % [−13.1, −10.4]`.
pub fn change_with_interval((ratio, low, high): (f64, f64, f64)) -> String {
    if ratio > 11.0 {
        let digits = |value: f64| significant(value.max(0.0));
        return format!("{} [{}, {}]", change(ratio), digits(low), digits(high));
    }
    let percent = |value: f64| signed_tenths((value - 1.0) * 100.0);
    format!("{} [{}, {}]", change(ratio), percent(low), percent(high))
}

/// How long before `now`, in one unit: `just now`, `5 min ago`, `3 h ago`, `2 d ago`; the date
/// past 60 days and for times that have not come yet.
pub fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let past = now - at;
    match past {
        p if p < Duration::minutes(-1) || p >= Duration::days(60) => date(at),
        p if p < Duration::minutes(1) => "just now".into(),
        p if p < Duration::hours(1) => format!("{} min ago", p.whole_minutes()),
        p if p < Duration::hours(48) => format!("{} h ago", p.whole_hours()),
        p => format!("{} d ago", p.whole_days()),
    }
}

/// `2026-02-03 04:05:06 UTC`.
pub fn full_time(at: OffsetDateTime) -> String {
    let at = at.to_offset(UtcOffset::UTC);
    format!("{} {:02}:{:02}:{:02} UTC", date(at), at.hour(), at.minute(), at.second())
}

/// `2026-02-03`.
pub fn date(at: OffsetDateTime) -> String {
    let at = at.to_offset(UtcOffset::UTC);
    format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day())
}

/// The first ten digits of a commit.
pub fn commit(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// `1 run`, `2 runs`; for nouns that take an s.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "−" } else { "" }
}

/// One decimal with its sign always said; a value that rounds to nothing has none.
fn signed_tenths(value: f64) -> String {
    let text = format!("{:.1}", value.abs());
    match text.as_str() {
        "0.0" => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

fn round_to_three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Three significant digits of a value that is not negative.
fn significant(value: f64) -> String {
    let value = round_to_three_digits(value);
    if value >= 100.0 {
        return format!("{value:.0}");
    }
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2 - value.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn numbers_have_three_significant_digits_and_a_prefix() {
        let cases = [
            (0.0, "0"),
            (0.03214, "0.0321"),
            (9.6412, "9.64"),
            (42.0, "42"),
            (588.4, "588"),
            (1234.5, "1230"),
            (9999.9, "10.0 k"),
            (103_482.5, "103 k"),
            (295_287.0, "295 k"),
            (-2_667_000.0, "−2.67 M"),
            (999_999.0, "1.00 M"),
            (12_000.0, "12.0 k"),
            (4.2e9, "4.20 G"),
        ];
        for (value, shown) in cases {
            assert_eq!(number(value), shown, "{value}");
        }
    }

    #[test]
    fn limits_read_as_they_were_set() {
        assert_eq!(limit(0.005), "0.005");
        assert_eq!(limit(-5.0), "−5");
        assert_eq!(limit(0.883_912_4), "0.884");
    }

    #[test]
    fn all_digits_are_kept_where_they_are_asked_for() {
        assert_eq!(exact(103_482.5), "103\u{202f}482.5");
        assert_eq!(exact(-0.032_14), "−0.03214");
        assert_eq!(exact(12.0), "12");
    }

    #[test]
    fn changes_are_percentages_until_they_are_multiples() {
        assert_eq!(change(0.882), "−11.8 %");
        assert_eq!(change(1.163), "+16.3 %");
        assert_eq!(change(1.0001), "0.0 %");
        assert_eq!(change(12.34), "12.3 ×");
        assert_eq!(change_with_interval((0.882, 0.869, 0.896)), "−11.8 % [−13.1, −10.4]");
    }

    #[test]
    fn times_are_said_in_one_unit_and_dates_when_far() {
        let now = datetime!(2026-03-01 12:00 UTC);
        assert_eq!(ago(now - Duration::seconds(20), now), "just now");
        assert_eq!(ago(now - Duration::minutes(5), now), "5 min ago");
        assert_eq!(ago(now - Duration::hours(3), now), "3 h ago");
        assert_eq!(ago(now - Duration::days(4), now), "4 d ago");
        assert_eq!(ago(now - Duration::days(100), now), "2025-11-21");
        assert_eq!(ago(now + Duration::hours(1), now), "2026-03-01");
        assert_eq!(full_time(datetime!(2026-03-01 01:02:03 +2)), "2026-02-28 23:02:03 UTC");
    }

    #[test]
    fn commits_are_ten_digits() {
        assert_eq!(commit("05c2c00f37d4e5a6b7c8"), "05c2c00f37");
        assert_eq!(commit("05c2c0"), "05c2c0");
    }
}
