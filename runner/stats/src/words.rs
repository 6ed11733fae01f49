//! Figures as people read them: `+16.3 %`, `−2.6 %`, `12.3 ×`. The minus is the real one (U+2212).

/// A change given as after ÷ before: `−11.8 %` with one decimal; beyond 1000 % the ratio, `12.3 ×`.
pub fn change(ratio: f64) -> String {
    if ratio >= 11.0 { format!("{ratio:.1} ×") } else { format!("{} %", percent_figure(ratio)) }
}

/// As [`change`] with its interval: `−11.8 % [−13.1, −10.4]`, `12.3 × [11.9, 12.8]`.
pub fn change_with_interval(ratio: f64, low: f64, high: f64) -> String {
    let ends = |f: &dyn Fn(f64) -> String| format!("{} [{}, {}]", change(ratio), f(low), f(high));
    if ratio >= 11.0 { ends(&|r| format!("{r:.1}")) } else { ends(&percent_figure) }
}

/// `within ±1.2 %`: the wider side of an interval of after ÷ before.
pub fn within(low: f64, high: f64) -> String {
    let bound = (low - 1.0).abs().max((high - 1.0).abs());
    if bound >= 10.0 {
        return format!("within a factor of {:.1}", high.max(1.0 / low));
    }
    // Rounded up: a bound must not promise more than was shown.
    format!("within ±{:.1} %", (bound * 1000.0).ceil() / 10.0)
}

/// A share as a percentage with two significant digits: `0.44 %`, `12 %`.
pub fn share(value: f64) -> String {
    let percent = 100.0 * value;
    let digits = if percent.abs() >= 10.0 || percent == 0.0 {
        0
    } else {
        (1 - percent.abs().log10().floor() as i64).clamp(0, 6) as usize
    };
    format!("{percent:.digits$} %")
}

fn percent_figure(ratio: f64) -> String {
    let tenths = ((ratio - 1.0) * 1000.0).round();
    let sign = match tenths {
        t if t > 0.0 => "+",
        t if t < 0.0 => "−",
        _ => "",
    };
    format!("{sign}{:.1}", tenths.abs() / 10.0)
}

/// A plain figure with three significant digits and the real minus.
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    let digits = if magnitude == 0.0 || !magnitude.is_finite() {
        0
    } else {
        (2 - magnitude.log10().floor() as i64).clamp(0, 12) as usize
    };
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{magnitude:.digits$}")
}

/// Six significant digits, to be computed with: `351.835`, `0.000889654`, `1.20000e-12`.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-6.0..9.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let decimals = (5.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// `1 run`, `3 runs`.
pub fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
