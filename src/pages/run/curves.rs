//! The measured points of a run, by curve.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::super::metric::Metric;
use super::super::profile;
use super::super::view::{Figure, Value};
use crate::chart::{CurveLine, CurvePlot, CurvePoint, Size, StripPlot, StripRow, svg};
use crate::format;
use crate::model::{Artefact, Origin, RunId, RunMetric, RunPoint, RunValues};

const WIDE: Size = Size { width: 540, height: 260 };
const NARROW: Size = Size { width: 360, height: 240 };

/// One metric at one point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRow {
    /// Task count.
    pub tasks: i32,
    /// Name, unit and direction.
    pub metric: String,
    /// Median.
    pub median: Value,
    /// Least.
    pub min: Value,
    /// Greatest.
    pub max: Value,
    /// Sample standard deviation.
    pub sd: Value,
    /// Number of samples.
    pub n: usize,
}

/// One window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowRow {
    /// From 1.
    pub number: usize,
    /// Length, ms.
    pub dt_ms: String,
    /// All tasks.
    pub ops_per_s: Value,
    /// Per CPU time received.
    pub ops_per_cpu_s: Value,
    /// Operations of each task.
    pub ops: String,
    /// CPU time of each task, ms.
    pub cpu_ms: String,
}

/// One measured point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointView {
    /// `16 tasks`.
    pub tasks_words: String,
    /// Placement, start skew, warm-up and disturbance in words.
    pub words: String,
    /// In order of time; none where another tool measured.
    pub windows: Vec<WindowRow>,
}

/// What an operation cost, by counter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CounterTable {
    /// Task counts, one a column.
    pub tasks: Vec<i32>,
    /// Name, and value at each task count; times first, then the rest, most at the most tasks first.
    pub rows: Vec<(String, Vec<Value>)>,
}

/// A point's profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileView {
    /// `16 tasks`.
    pub tasks_words: String,
    /// Address of its flame graph.
    pub graph: String,
    /// Address of its folded stacks.
    pub stacks: String,
}

/// The points of one curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveView {
    /// Row of the curve.
    pub id: i64,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: Vec<(String, String)>,
    /// Throughput and every sample.
    pub figures: Vec<Figure>,
    /// Every metric of every point.
    pub summaries: Vec<SummaryRow>,
    /// What an operation cost.
    pub counters: CounterTable,
    /// Profiles of points.
    pub profiles: Vec<ProfileView>,
    /// Every window of every point.
    pub points: Vec<PointView>,
}

/// Measured points, grouped by the curve they lie on.
pub fn of(run: &RunId, points: &[RunPoint], artefacts: &[Artefact]) -> Vec<CurveView> {
    let groups = points.chunk_by(|a, b| a.curve == b.curve);
    groups.filter_map(|points| curve(run, points, artefacts)).collect()
}

fn curve(run: &RunId, points: &[RunPoint], artefacts: &[Artefact]) -> Option<CurveView> {
    let first = points.first()?;
    let measured: Vec<(i32, &RunValues)> = points
        .iter()
        .filter_map(|point| Some((point.tasks, point.outcome.as_ref().ok()?)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    Some(CurveView {
        id: first.curve.0,
        workload: first.workload.clone(),
        version: first.version,
        parameters: first.parameters.clone().into_iter().collect(),
        figures: figures(&measured),
        summaries: measured.iter().flat_map(|(tasks, values)| summaries(*tasks, values)).collect(),
        counters: counters(&measured),
        profiles: points.iter().filter_map(|point| profile_of(run, point, artefacts)).collect(),
        points: measured.iter().map(|(tasks, values)| point(*tasks, values)).collect(),
    })
}

/// Counters that any point has, what never happened left out.
fn counters(measured: &[(i32, &RunValues)]) -> CounterTable {
    let names: BTreeSet<&String> = measured.iter().flat_map(|(_, v)| v.counters.keys()).collect();
    let of = |name: &String| -> Vec<Option<f64>> {
        measured.iter().map(|(_, values)| values.counters.get(name).copied()).collect()
    };
    let mut rows: Vec<(&String, Vec<Option<f64>>)> =
        names.into_iter().map(|name| (name, of(name))).collect();
    rows.retain(|(_, values)| values.iter().flatten().any(|value| *value > 0.0));
    let rank = |(name, values): &(&String, Vec<Option<f64>>)| {
        (name.ends_with("_ns"), values.iter().rev().find_map(|value| *value).unwrap_or(0.0))
    };
    rows.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(Ordering::Equal));
    let shown = |values: Vec<Option<f64>>| values.into_iter().map(Value::maybe).collect();
    CounterTable {
        tasks: measured.iter().map(|(tasks, _)| *tasks).collect(),
        rows: rows.into_iter().map(|(name, values)| (name.clone(), shown(values))).collect(),
    }
}

fn profile_of(run: &RunId, point: &RunPoint, artefacts: &[Artefact]) -> Option<ProfileView> {
    let (version, tasks) = (u32::try_from(point.version).ok()?, u32::try_from(point.tasks).ok()?);
    let name = wire::profile_name(&point.workload, version, &point.parameters, tasks);
    artefacts.iter().any(|artefact| artefact.name == name).then(|| ProfileView {
        tasks_words: tasks_words(point.tasks),
        graph: profile::address(run, &name),
        stacks: format!("/api/v1/runs/{run}/artefacts/{name}"),
    })
}

fn metric_of(metric: &RunMetric) -> Metric {
    Metric { name: metric.name.clone(), unit: metric.unit, direction: metric.direction }
}

fn figures(measured: &[(i32, &RunValues)]) -> Vec<Figure> {
    let Some(first) = measured.iter().find_map(|(_, values)| values.metrics.first()) else {
        return Vec::new();
    };
    let metric = metric_of(first);
    let samples = |values: &RunValues| {
        let same = values.metrics.iter().find(|one| one.name == first.name);
        same.map(|one| one.samples.clone()).unwrap_or_default()
    };
    let points = measured
        .iter()
        .filter_map(|(tasks, values)| CurvePoint::of(tasks.unsigned_abs(), &samples(values)));
    let line = CurveLine { label: String::new(), points: points.collect() };
    let curve = CurvePlot { y_title: metric.axis(), lines: vec![line], ..CurvePlot::default() };
    let strip = StripPlot {
        title: format!("{}, relative to the median of the point", metric.unit.symbol()),
        rows: measured
            .iter()
            .map(|(tasks, values)| StripRow { label: tasks_words(*tasks), values: samples(values) })
            .collect(),
    };
    let caption = format!("{}: medians with 95 % intervals.", metric.title());
    vec![
        Figure::two(caption, (WIDE, NARROW), |size| svg::curve(&curve, size)),
        Figure::two("Every sample; two clumps are two modes.", (WIDE, NARROW), |size| {
            svg::strip(&strip, size.width)
        }),
    ]
}

fn summaries(tasks: i32, values: &RunValues) -> Vec<SummaryRow> {
    let row = |metric: &RunMetric| SummaryRow {
        tasks,
        metric: metric_of(metric).full(),
        median: Value::new(metric.summary.median),
        min: Value::new(metric.summary.min),
        max: Value::new(metric.summary.max),
        sd: Value::maybe(metric.summary.sd),
        n: metric.summary.n,
    };
    values.metrics.iter().map(row).collect()
}

fn point(tasks: i32, values: &RunValues) -> PointView {
    let window = |(index, window): (usize, &wire::Window)| WindowRow {
        number: index + 1,
        dt_ms: format!("{:.3}", window.dt_ns as f64 / 1e6),
        ops_per_s: Value::new(window.ops_per_s()),
        ops_per_cpu_s: Value::maybe(window.ops_per_cpu_s()),
        ops: joined(window.ops.iter().map(u64::to_string)),
        cpu_ms: joined(window.cpu_ns.iter().map(|ns| format!("{:.1}", *ns as f64 / 1e6))),
    };
    PointView {
        tasks_words: tasks_words(tasks),
        words: point_words(values),
        windows: values.windows.iter().enumerate().map(window).collect(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" ")
}

fn point_words(values: &RunValues) -> String {
    if let Some(origin) = &values.origin {
        return origin_words(origin);
    }
    let placement = match values.placement.as_slice() {
        [] => "Tasks were not placed".to_owned(),
        places => {
            let cpus = |place: &Vec<u32>| joined_with(place.iter().map(u32::to_string), "+");
            format!("Tasks were placed on CPUs {}", joined_with(places.iter().map(cpus), ", "))
        }
    };
    let disturbance = &values.disturbance;
    let ms = |what: &str, ns: Option<u64>| Some(format!("{what} {:.1} ms", ns? as f64 / 1e6));
    let times = |what: &str, count: Option<u64>| Some(format!("{what} {}", count?));
    let disturbed: Vec<String> = [
        ms("stolen", disturbance.steal_ns),
        ms("other programs", disturbance.other_cpu_ns),
        ms("waiting for a CPU", disturbance.cpu_pressure_ns),
        times("involuntary switches", disturbance.involuntary_switches),
        times("voluntary switches", disturbance.voluntary_switches),
        times("throttled for heat", disturbance.throttled.filter(|times| *times > 0)),
        times("pages swapped", disturbance.swapped_pages.filter(|pages| *pages > 0)),
        disturbance.frequency_khz.map(|khz| format!("mean frequency {} MHz", khz / 1000)),
    ]
    .into_iter()
    .flatten()
    .chain(windows_words(disturbance))
    .collect();
    format!(
        "{placement}; started within {:.1} µs of each other; {} before. {}",
        values.start_skew_ns as f64 / 1e3,
        format::count(values.warmup_windows.unsigned_abs() as usize, "warm-up window"),
        if disturbed.is_empty() { String::new() } else { disturbed.join(", ") + "." }
    )
}

/// Who measured, and the spread of samples that were not told.
fn origin_words(origin: &Origin) -> String {
    let spread = |(metric, spread): (&String, &wire::Spread)| {
        let told = [
            spread.samples.map(|samples| format!("of {samples} samples")),
            spread.sd.map(|sd| format!("sd {}", Value::new(sd).shown)),
            spread.low.map(|low| format!("from {}", Value::new(low).shown)),
            spread.high.map(|high| format!("to {}", Value::new(high).shown)),
        ];
        format!("{metric}: {}", told.into_iter().flatten().collect::<Vec<_>>().join(", "))
    };
    let told: Vec<String> = origin.spread.iter().map(spread).collect();
    let told = if told.is_empty() { String::new() } else { format!(" {}.", told.join("; ")) };
    format!("Measured by {}: values without windows.{told}", origin.tool)
}

/// Windows measured again, and those kept although something disturbed them.
fn windows_words(disturbance: &wire::Disturbance) -> Vec<String> {
    let again = disturbance.remeasured_windows as usize;
    let again = (again > 0).then(|| format!("{} measured again", format::count(again, "window")));
    let kept = disturbance
        .windows
        .iter()
        .map(|disturbed| format!("window {} disturbed: {}", disturbed.window + 1, disturbed.why));
    again.into_iter().chain(kept).collect()
}

fn joined_with(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn tasks_words(tasks: i32) -> String {
    format::count(tasks.unsigned_abs() as usize, "task")
}
