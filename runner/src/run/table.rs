//! The result table of a run: ops per second and per CPU-second beside each other, per task, the
//! scalability, and whatever else the workload measures; failed points are said.

use std::collections::BTreeMap;
use std::fmt::Write;

use wire::{Measured, Outcome, Point};

use crate::compare::curves::parameters_in_words;
use crate::compare::scaling;
use crate::show::figures::{counted, short, short_or_dash};
use crate::show::text_table::{self, Head, number};

/// All curves of a run.
pub fn render(points: &[Point]) -> String {
    let mut curves: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        let same = |curve: &&mut Vec<&Point>| {
            (&curve[0].workload, &curve[0].parameters) == (&point.workload, &point.parameters)
        };
        match curves.iter_mut().find(same) {
            Some(curve) => curve.push(point),
            None => curves.push(vec![point]),
        }
    }
    curves.into_iter().map(curve).collect::<Vec<_>>().join("\n")
}

/// The median of values; none of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    stats::Sample::new(values).map(|sample| stats::summary::summarise(sample).median)
}

fn curve(mut points: Vec<&Point>) -> String {
    points.sort_by_key(|point| point.tasks);
    let first = points[0];
    let mut out = format!("{} · {}\n", first.workload, parameters_in_words(&first.parameters));
    let measured: Vec<(u32, &Measured)> = points
        .iter()
        .filter_map(|point| match &point.outcome {
            Outcome::Measured(measured) => Some((point.tasks, measured)),
            Outcome::Imported(_) | Outcome::Failed(_) => None,
        })
        .collect();
    if !measured.is_empty() {
        let (heads, rows) = figures_of(&measured);
        out.push_str(&text_table::render(&heads, rows));
        if let Some(words) = scaling::in_words(&totals(&measured)) {
            let _ = writeln!(out, "{words}");
        }
    }
    for point in points {
        if let Outcome::Failed(failure) = &point.outcome {
            let tasks = counted(point.tasks, "task");
            let _ = writeln!(out, "  {tasks} failed: {}: {}", failure.call, failure.detail);
        }
    }
    out
}

/// The values of the total at each task count, where it counts work of all tasks together.
fn totals(measured: &[(u32, &Measured)]) -> Vec<stats::curve::Point> {
    let of = |(tasks, m): &(u32, &Measured)| {
        let metric = m.metrics.iter().find(|metric| metric.name == TOTAL)?;
        let applies = scaling::applies(metric.unit, metric.direction);
        applies.then(|| stats::curve::Point { tasks: *tasks, runs: vec![m.values(metric)] })
    };
    measured.iter().filter_map(of).collect()
}

fn figures_of(measured: &[(u32, &Measured)]) -> (Vec<Head>, Vec<Vec<String>>) {
    let mut heads: Vec<Head> =
        ["tasks", "ops/s", "least … most", "ops/cpu-s", "ops/s per task", "scalability"]
            .map(number)
            .to_vec();
    let side = side_metrics(measured);
    heads.extend(side.iter().map(|(name, unit)| number(format!("{name}\n{unit}"))));
    let single = measured.iter().find(|(tasks, _)| *tasks == 1).and_then(|(_, m)| of(m, TOTAL));
    let row = |(tasks, m): &(u32, &Measured)| {
        let total = of(m, TOTAL);
        let per_task = total.map(|total| total / f64::from(*tasks));
        let scalability = per_task.zip(single.filter(|s| *s > 0.0)).map(|(t, s)| t / s);
        let mut row = vec![
            tasks.to_string(),
            short_or_dash(total),
            range(m),
            short_or_dash(of(m, PER_CPU)),
            short_or_dash(per_task),
            short_or_dash(scalability),
        ];
        row.extend(side.iter().map(|(name, _)| short_or_dash(of(m, name))));
        row
    };
    (heads, measured.iter().map(row).collect())
}

const TOTAL: &str = "ops_per_s_total";
const PER_CPU: &str = "ops_per_cpu_s";

/// Names and units of everything but the two rates, in the order of their first appearance.
fn side_metrics(measured: &[(u32, &Measured)]) -> Vec<(String, &'static str)> {
    let mut seen = BTreeMap::new();
    let all = measured.iter().flat_map(|(_, m)| &m.metrics);
    let others = all.filter(|metric| metric.name != TOTAL && metric.name != PER_CPU);
    for (at, metric) in others.enumerate() {
        seen.entry(metric.name.clone()).or_insert((at, metric.unit.symbol()));
    }
    let mut metrics: Vec<_> = seen.into_iter().collect();
    metrics.sort_by_key(|(_, (at, _))| *at);
    metrics.into_iter().map(|(name, (_, unit))| (name, unit)).collect()
}

fn of(measured: &Measured, name: &str) -> Option<f64> {
    let metric = measured.metrics.iter().find(|metric| metric.name == name)?;
    median(&measured.values(metric))
}

fn range(measured: &Measured) -> String {
    let Some(metric) = measured.metrics.iter().find(|metric| metric.name == TOTAL) else {
        return short_or_dash(None);
    };
    let values = measured.values(metric);
    stats::Sample::new(&values)
        .map(stats::summary::summarise)
        .map_or_else(|| short_or_dash(None), |s| format!("{} … {}", short(s.min), short(s.max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(tasks: u32, ops: u64) -> Point {
        let window = |ops| wire::Window {
            dt_ns: 1_000_000_000,
            ops: vec![ops; tasks as usize],
            cpu_ns: vec![500_000_000; tasks as usize],
        };
        Point {
            workload: "sys/getppid".into(),
            version: 1,
            parameters: BTreeMap::from([("mode".into(), "process".into())]),
            tasks,
            outcome: Outcome::Measured(Measured {
                placement: Vec::new(),
                start_skew_ns: 0,
                warmup_windows: 0,
                windows: vec![window(ops - 1000), window(ops), window(ops + 1000)],
                metrics: vec![wire::Metric::ops_per_s_total(), wire::Metric::ops_per_cpu_s()],
                disturbance: wire::Disturbance::default(),
                counters: BTreeMap::new(),
            }),
        }
    }

    #[test]
    fn rates_stand_beside_each_other_with_per_task_and_scalability() {
        let text = render(&[point(2, 80_000), point(1, 100_000)]);
        let expected = "\
sys/getppid · mode=process
  tasks  ops/s    least … most  ops/cpu-s  ops/s per task  scalability
      1  100 k  99.0 k … 101 k      200 k           100 k         1.00
      2  160 k   158 k … 162 k      160 k          80.0 k        0.800
";
        assert_eq!(text, expected);
    }

    #[test]
    fn failed_points_are_said_and_other_settings_are_another_table() {
        let mut failed = point(4, 1000);
        failed.outcome = Outcome::Failed(wire::Failure {
            call: "fallocate".into(),
            errno: Some(28),
            task: Some(3),
            detail: "No space left on device".into(),
        });
        let mut thread = point(1, 2000);
        thread.parameters.insert("mode".into(), "thread".into());
        let text = render(&[point(1, 2000), failed, thread]);
        assert!(text.contains("  4 tasks failed: fallocate: No space left on device\n"), "{text}");
        assert!(text.contains("\n\nsys/getppid · mode=thread\n"), "{text}");
        assert!(text.contains("scalability"), "{text}");
    }
}
