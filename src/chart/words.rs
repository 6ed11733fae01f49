//! What each plot shows, as a sentence: for those who do not see it, and for its label.

use super::{ComparePlot, CurveLine, CurvePlot, HistoryPlot, StripPlot};
use crate::format;

impl CurvePlot {
    /// E.g. `ops/s against tasks. base rises from 103 k at 1 to 230 k at 8 tasks, then falls to
    /// 141 k at 64. head is 11.8 % below base at 16 tasks, where they differ most.`
    pub fn sentence(&self) -> String {
        let mut text = format!("{}, against tasks.", self.y_title);
        for (index, line) in self.lines.iter().enumerate() {
            text += &line_sentence(line);
            let fitted = self.laws.iter().find(|(of, _)| *of == index);
            text += &fitted.map_or_else(String::new, |(_, fitted)| law_sentence(fitted));
        }
        if let [base, head, ..] = self.lines.as_slice() {
            text += &difference_sentence(base, head);
        }
        text
    }
}

/// E.g. ` By the law fitted it bends at 9 and peaks at 14 tasks.`
fn law_sentence(fitted: &super::FittedLaw) -> String {
    let at = |word: &str, tasks: f64| format!("{word} at {tasks:.0}");
    let marks: Vec<String> = [("bends", fitted.knee), ("peaks", fitted.peak)]
        .into_iter()
        .filter_map(|(word, tasks)| tasks.map(|tasks| at(word, tasks)))
        .collect();
    match marks.is_empty() {
        true => String::new(),
        false => format!(" By the law fitted it {} tasks.", marks.join(" and ")),
    }
}

fn line_sentence(line: &CurveLine) -> String {
    let name = if line.label.is_empty() { "The line" } else { &line.label };
    let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else {
        return format!(" {name} has no points.");
    };
    let at = |point: &super::CurvePoint| {
        format!(
            "{} at {}",
            format::number(point.value),
            format::count(point.tasks as usize, "task")
        )
    };
    if line.points.len() == 1 {
        return format!(" {name} is {}.", at(first));
    }
    let peak =
        line.points.iter().fold(first, |best, p| if p.value > best.value { p } else { best });
    if peak.tasks == first.tasks {
        return format!(" {name} falls from {} to {}.", at(first), at(last));
    }
    if peak.tasks == last.tasks {
        return format!(" {name} rises from {} to {}.", at(first), at(last));
    }
    format!(" {name} rises from {} to {}, then falls to {}.", at(first), at(peak), at(last))
}

fn difference_sentence(base: &CurveLine, head: &CurveLine) -> String {
    let ratios = head.points.iter().filter_map(|point| {
        let other = base.points.iter().find(|other| other.tasks == point.tasks)?;
        (other.value > 0.0 && point.value > 0.0).then(|| (point.tasks, point.value / other.value))
    });
    let most = ratios.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()));
    match most {
        None => " The lines have no point in common.".into(),
        Some((tasks, ratio)) => format!(
            " They differ most at {}: {} against {} is {}.",
            format::count(tasks as usize, "task"),
            head.label,
            base.label,
            format::change(ratio),
        ),
    }
}

impl HistoryPlot {
    /// E.g. `ops/s over 12 revisions, 05c2c00f37 to 8a1f0c2d3e. The level changes from 103 k to
    /// 91.2 k. 1 run failed.`
    pub fn sentence(&self) -> String {
        let mut text =
            format!("{}, over {}", self.y_title, format::count(self.columns.len(), "revision"));
        if let [first, .., last] = self.columns.as_slice() {
            text += &format!(", {} to {}", first.commit, last.commit);
        }
        text += ".";
        match self.levels.as_slice() {
            [] => {}
            [one] => text += &format!(" One level, {}.", format::number(one.value)),
            levels => {
                let values: Vec<_> =
                    levels.iter().map(|level| format::number(level.value)).collect();
                text += &format!(" The level changes: {}.", values.join(", then "));
            }
        }
        let failed: usize = self.columns.iter().map(|column| column.failed).sum();
        if failed > 0 {
            text += &format!(" {} failed.", format::count(failed, "run"));
        }
        for (_, reason) in &self.environments {
            text += &format!(" Environment changed: {reason}.");
        }
        text
    }
}

impl ComparePlot {
    /// E.g. `head ÷ base, ops/s. 1 task: +16.3 %. 80 tasks: −2.6 %.`
    pub fn sentence(&self) -> String {
        let rows = self.rows.iter().map(|row| match row.ratio {
            Some(ratio) => format!(" {}: {}.", row.label, format::change_with_interval(ratio)),
            None => format!(" {}: {}.", row.label, row.note),
        });
        format!("{}.{}", self.title, rows.collect::<String>())
    }
}

impl StripPlot {
    /// E.g. `ops/s, relative to the median. 1 task: 10 samples within −0.4 % and +0.9 %.`
    pub fn sentence(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let samples = format::count(row.values.len(), "sample");
            match row.relative_extent() {
                Some((low, high)) => format!(
                    " {}: {samples} between {} and {}.",
                    row.label,
                    format::change(low),
                    format::change(high)
                ),
                None => format!(" {}: {samples}.", row.label),
            }
        });
        format!("{}.{}", self.title, rows.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::CurvePoint;

    fn line(label: &str, values: &[(u32, f64)]) -> CurveLine {
        let point = |(tasks, value): &(u32, f64)| CurvePoint {
            tasks: *tasks,
            value: *value,
            interval: None,
        };
        CurveLine { label: label.into(), points: values.iter().map(point).collect() }
    }

    #[test]
    fn a_curve_says_where_it_turns_and_where_the_sides_differ_most() {
        let plot = CurvePlot {
            y_title: "ops/s, higher is better".into(),
            lines: vec![
                line("base", &[(1, 100.0), (8, 200.0), (64, 150.0)]),
                line("head", &[(1, 101.0), (8, 176.4), (64, 150.0)]),
            ],
            ..CurvePlot::default()
        };
        assert_eq!(
            plot.sentence(),
            "ops/s, higher is better, against tasks. base rises from 100 at 1 task to 200 at 8 \
             tasks, then falls to 150 at 64 tasks. head rises from 101 at 1 task to 176 at 8 \
             tasks, then falls to 150 at 64 tasks. They differ most at 8 tasks: head against base \
             is −11.8 %."
        );
    }

    #[test]
    fn lines_without_common_points_are_not_compared() {
        let plot = CurvePlot {
            y_title: "ops/s".into(),
            lines: vec![line("base", &[(1, 1.0)]), line("head", &[(2, 1.0)]), line("third", &[])],
            ..CurvePlot::default()
        };
        let sentence = plot.sentence();
        assert!(sentence.contains("no point in common"), "{sentence}");
        assert!(sentence.contains("third has no points"), "{sentence}");
    }
}
