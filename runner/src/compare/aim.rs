//! The lines that AIM7 prints of loads of fixed work: one a load, each the mean of its windows.

use std::fmt::Write;

use wire::{Measured, Outcome, Point};

/// A table for each workload whose tasks did jobs; its setting above.
pub fn render(points: &[Point]) -> String {
    let mut loads: Vec<(String, u32, Load)> = points.iter().filter_map(load).collect();
    loads.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut out = String::new();
    for of_workload in loads.chunk_by(|a, b| a.0 == b.0) {
        let _ = writeln!(out, "{}", of_workload[0].0);
        out.push_str("Tasks    jobs/min  jti  jobs/min/task      real       cpu\n");
        for (_, tasks, load) in of_workload {
            let per_task = load.jobs_per_min / f64::from(*tasks);
            let _ = writeln!(
                out,
                "{tasks:>5}{:>12.2}{:>5.0}{per_task:>15.4}{:>10.2}{:>10.2}",
                load.jobs_per_min,
                load.timing_index * 100.0,
                load.real_s,
                load.cpu_s
            );
        }
        out.push('\n');
    }
    if out.is_empty() { "no load of fixed work was measured\n".into() } else { out }
}

struct Load {
    jobs_per_min: f64,
    timing_index: f64,
    real_s: f64,
    cpu_s: f64,
}

fn load(point: &Point) -> Option<(String, u32, Load)> {
    let Outcome::Measured(measured) = &point.outcome else { return None };
    let seconds = |ns: f64| ns / 1e9;
    let cpu_ns = measured.windows.iter().map(|w| w.cpu_ns.iter().map(|&ns| ns as f64).sum());
    let load = Load {
        jobs_per_min: mean_of(measured, "jobs_per_min")?,
        timing_index: mean_of(measured, "job_timing_index")?,
        real_s: seconds(mean(measured.windows.iter().map(|w| w.dt_ns as f64))?),
        cpu_s: seconds(mean(cpu_ns)?),
    };
    let setting = super::curves::parameters_in_words(&point.parameters);
    Some((format!("{} · {setting}", point.workload), point.tasks, load))
}

fn mean_of(measured: &Measured, metric: &str) -> Option<f64> {
    let metric = measured.metrics.iter().find(|m| m.name == metric)?;
    mean(measured.values(metric).into_iter())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
