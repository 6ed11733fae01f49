//! Loads of fixed work as AIM7 prints them on the screen and as re-AIM writes them into its csv: a
//! line a load, each figure the mean of its windows.

use std::fmt::Write;

use wire::{Measured, Outcome, Point};

/// What both say of nothing.
const NONE: &str = "no load of fixed work was measured\n";

/// AIM7's table for each workload whose tasks did jobs; its setting above.
pub fn render(points: &[Point]) -> String {
    let mut out = String::new();
    for of_workload in by_workload(&loads(points)) {
        let _ = writeln!(out, "{}", of_workload[0].setting);
        out.push_str("Tasks    jobs/min  jti  jobs/min/task      real       cpu\n");
        for load in of_workload {
            let _ = writeln!(
                out,
                "{:>5}{:>12.2}{:>5.0}{:>15.4}{:>10.2}{:>10.2}",
                load.tasks,
                load.jobs_per_min,
                load.timing_index * 100.0,
                load.jobs_per_min / f64::from(load.tasks),
                load.real_s,
                load.cpu_s
            );
        }
        out.push('\n');
    }
    if out.is_empty() { NONE.into() } else { out }
}

/// re-AIM's csv; where there is more than one workload, one below the other with its setting above.
/// A field that is not known is empty. Times are in seconds, the timing index in percent.
pub fn csv(points: &[Point]) -> String {
    let loads = loads(points);
    let tables: Vec<&[Load]> = by_workload(&loads).collect();
    let mut out = Vec::new();
    for of_workload in &tables {
        let mut table = String::new();
        if tables.len() > 1 {
            let _ = writeln!(table, "{}", of_workload[0].setting);
        }
        table.push_str(
            "Forks,JPM,JPM_C,JPS_C,parent_tm,childU_tm,childS_tm,std_dev,JTI,max_c,min_c\n",
        );
        of_workload.iter().for_each(|load| table.push_str(&load.csv_line()));
        out.push(table);
    }
    if out.is_empty() { NONE.into() } else { out.join("\n") }
}

struct Load {
    /// Workload and parameters, in words.
    setting: String,
    tasks: u32,
    jobs_per_min: f64,
    /// 1 − relative deviation of the finish times.
    timing_index: f64,
    /// From the release to the last finish.
    real_s: f64,
    cpu_s: f64,
    /// What of it was spent in user space; none where it was not counted.
    user_share: Option<f64>,
    /// Deviation of the finish times, and the first of them; none in results from before they were
    /// kept.
    finish_sd_s: Option<f64>,
    first_finish_s: Option<f64>,
}

impl Load {
    fn csv_line(&self) -> String {
        let per_child = self.jobs_per_min / f64::from(self.tasks);
        let user_s = self.user_share.map(|share| self.cpu_s * share);
        let fields = [
            Some(self.jobs_per_min),
            Some(per_child),
            Some(per_child / 60.0),
            Some(self.real_s),
            user_s,
            user_s.map(|user_s| self.cpu_s - user_s),
            self.finish_sd_s,
            Some(self.timing_index * 100.0),
            Some(self.real_s),
            self.first_finish_s,
        ];
        let shown = |field: Option<f64>| field.map_or_else(String::new, |f| format!("{f:.2}"));
        format!("{},{}\n", self.tasks, fields.map(shown).join(","))
    }
}

fn loads(points: &[Point]) -> Vec<Load> {
    let mut loads: Vec<Load> = points.iter().filter_map(load).collect();
    loads.sort_by(|a, b| (&a.setting, a.tasks).cmp(&(&b.setting, b.tasks)));
    loads
}

fn by_workload(loads: &[Load]) -> impl Iterator<Item = &[Load]> {
    loads.chunk_by(|a, b| a.setting == b.setting)
}

fn load(point: &Point) -> Option<Load> {
    let Outcome::Measured(measured) = &point.outcome else { return None };
    let cpu_ns = measured.windows.iter().map(|w| w.cpu_ns.iter().map(|&ns| ns as f64).sum());
    let parameters = super::curves::parameters_in_words(&point.parameters);
    let counted = |name: &str| measured.counters.get(name).copied();
    let share = |(user, system): (f64, f64)| (user + system > 0.0).then(|| user / (user + system));
    Some(Load {
        setting: format!("{} · {parameters}", point.workload),
        tasks: point.tasks,
        jobs_per_min: mean_of(measured, "jobs_per_min")?,
        timing_index: mean_of(measured, "job_timing_index")?,
        real_s: mean(measured.windows.iter().map(|w| w.dt_ns as f64))? / 1e9,
        cpu_s: mean(cpu_ns)? / 1e9,
        user_share: counted("rusage.user_ns").zip(counted("rusage.system_ns")).and_then(share),
        finish_sd_s: mean_of(measured, "finish_sd_s"),
        first_finish_s: mean_of(measured, "first_finish_s"),
    })
}

fn mean_of(measured: &Measured, metric: &str) -> Option<f64> {
    let metric = measured.metrics.iter().find(|m| m.name == metric)?;
    mean(measured.values(metric).into_iter())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
