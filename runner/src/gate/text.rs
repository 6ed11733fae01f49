//! A verdict as plain text, for a terminal and a log.

use std::fmt::Write;

use wire::ProjectComparison;

use super::{change, parameters, verdict};
use crate::show::figures::short_or_dash;
use crate::show::text_table::{number, render, words};

/// Every curve with its points, and the verdict last, where a log is read first. With `explain` each
/// curve is followed by everything its verdict rests on.
pub fn text(compared: &ProjectComparison, explain: bool) -> String {
    let mut out = format!(
        "{}: {:.10} against {:.10}\n",
        compared.project, compared.base.asked, compared.head.asked
    );
    for curve in &compared.curves {
        let _ = writeln!(
            out,
            "\n{} on {}, {}\n{}, {}, {} is better: {}",
            curve.workload,
            curve.machine_name,
            parameters(curve),
            curve.metric,
            curve.unit.symbol(),
            curve.direction.word(),
            curve.words
        );
        let heads =
            [number("tasks"), number("base"), number("head"), number("change"), words("verdict")];
        let rows = curve.points.iter().map(|point| {
            vec![
                point.tasks.to_string(),
                short_or_dash(point.base),
                short_or_dash(point.head),
                change(point),
                verdict(point),
            ]
        });
        out += &render(&heads, rows.collect());
        for failed in &curve.failed {
            let _ = writeln!(out, "  failed at {} tasks: {}", failed.tasks, failed.detail);
        }
        for sentence in &curve.set_aside {
            let _ = writeln!(out, "  {sentence}");
        }
        if let Some(why) = curve.why.as_ref().filter(|_| explain) {
            let _ = writeln!(out, "\n{}", why.trim_end());
        }
    }
    if !compared.unpaired.is_empty() {
        out += "\nNot compared:\n";
        for curve in &compared.unpaired {
            let _ = writeln!(out, "  {} on {}: {}", curve.workload, curve.machine_name, curve.why);
        }
    }
    if explain {
        let _ = writeln!(out, "\n{}", compared.rule);
    }
    let _ = writeln!(out, "\nWhole table: {}\ngate: {}", compared.url, compared.words);
    out
}

#[cfg(test)]
mod tests {
    use super::super::samples::mixed;
    use super::*;

    #[test]
    fn the_verdict_is_the_last_line_and_explanations_come_when_asked() {
        let short = text(&mixed(), false);
        assert!(short.ends_with("gate: regression on 1 curve\n"), "{short}");
        assert!(short.contains("     16  100 k  65.4 k  −34.6 % [−35.6, −33.6]  regression\n"));
        assert!(short.contains("  failed at 4 tasks: no space <left>"), "{short}");
        assert!(short.contains("  file/dup on box-a: not measured at the head\n"));
        assert!(!short.contains("1. a line"));
        let long = text(&mixed(), true);
        assert!(long.contains("1. a line") && long.contains("A point is called"), "{long}");
    }
}
