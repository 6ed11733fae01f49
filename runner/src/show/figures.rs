//! Figures as tables show them: three significant digits, a real minus, the unit elsewhere.

/// `103 k`, `9.64`, `1.41 M`, `−0.0123`; an em dash for what is not a finite number.
pub fn short(value: f64) -> String {
    const PREFIXES: [&str; 6] = ["", " k", " M", " G", " T", " P"];
    if !value.is_finite() {
        return "—".into();
    }
    if value.abs() < 999.5 {
        return stats::words::figure(value);
    }
    // Rounding comes first, so that 999 600 is 1.00 M and not 1000 k.
    let rounded = format!("{:.2e}", value.abs());
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: usize = exponent.parse().unwrap_or(0);
    let group = (exponent / 3).min(PREFIXES.len() - 1);
    let shift = exponent - 3 * group;
    let scaled = mantissa.parse::<f64>().unwrap_or(0.0) * 10_f64.powi(shift as i32);
    let digits = 2_usize.saturating_sub(shift);
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{scaled:.digits$}{}", PREFIXES[group])
}

/// [`short`], or an em dash where there is nothing.
pub fn short_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "—".into(), short)
}

/// `1 task`, `2 tasks`.
pub fn counted(n: impl Into<u64>, word: &str) -> String {
    match n.into() {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_show_three_significant_digits_and_a_real_minus() {
        for (value, shown) in [
            (0.0, "0"),
            (9.637, "9.64"),
            (102_960.0, "103 k"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (999_600.0, "1.00 M"),
            (1_413_000.0, "1.41 M"),
            (-34.62, "−34.6"),
            (-20_049.0, "−20.0 k"),
            (0.9876, "0.988"),
            (0.01234, "0.0123"),
            (1e18, "1000 P"),
            (f64::NAN, "—"),
        ] {
            assert_eq!(short(value), shown, "{value}");
        }
        assert_eq!(short_or_dash(None), "—");
    }
}
