//! Pairs the points of the columns into curves, and says what has no counterpart and why.
//!
//! Only what differs in nothing but the task count shares a curve, and only curves of one machine,
//! project, workload version, parameters, unit and direction are paired. Parameters that make a
//! side of a paired run are what is compared, so they do not part the sides.

use std::collections::{BTreeMap, BTreeSet};

use wire::{Direction, Environment, Outcome, Unit};

use super::files::Column;

/// Which metrics to pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metrics {
    /// The first of each point, and `ops_per_cpu_s`, which always stands beside it.
    Usual,
    /// Every one.
    All,
    /// One by name.
    Named(String),
}

/// What two curves must share to be paired.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Workload id.
    pub workload: String,
    /// Parameters, without those that make a side.
    pub parameters: BTreeMap<String, String>,
    /// Project.
    pub project: String,
    /// Machine id.
    pub machine: String,
    /// Version of the workload.
    pub version: u32,
}

/// One metric of one curve over all columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the columns share.
    pub key: Key,
    /// Name of the machine.
    pub machine_name: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of every value, in every column.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Whether this is the metric people look at first.
    pub primary: bool,
    /// By task count, ascending.
    pub points: Vec<CurvePoint>,
}

/// One task count.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Number of tasks.
    pub tasks: u32,
    /// One per column.
    pub cells: Vec<Cell>,
}

/// One column at one point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// The runs that measured it, in the order given.
    pub runs: Vec<Run>,
    /// Why the other runs have no value, in sentences.
    pub failures: Vec<String>,
}

/// The values of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Where it ran.
    pub environment: Environment,
    /// The pair it was measured in, where two sides took turns.
    pub pair: Option<usize>,
    /// One value a window, or one in all.
    pub values: Vec<f64>,
    /// What an operation cost.
    pub counters: BTreeMap<String, f64>,
}

/// Something that cannot be compared, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaired {
    /// What: workload, parameters and perhaps the metric.
    pub what: String,
    /// Why, in a sentence.
    pub why: String,
    /// `true` when it stands on both sides but may not be compared; `false` when a side lacks it.
    pub not_comparable: bool,
}

/// What pairing found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paired {
    /// What can be judged.
    pub curves: Vec<Curve>,
    /// What cannot.
    pub unpaired: Vec<Unpaired>,
}

/// A point of a run.
#[derive(Clone, Copy)]
struct Place<'a> {
    report: &'a wire::Report,
    pair: Option<usize>,
    point: &'a wire::Point,
}

type Side<'a> = BTreeMap<Key, Vec<Place<'a>>>;

/// Pairs the columns, the first of which is the base.
pub fn pair(columns: &[Column], metrics: &Metrics) -> Paired {
    let dropped: BTreeSet<&String> = columns.iter().flat_map(|c| c.given.keys()).collect();
    let sides: Vec<Side<'_>> = columns.iter().map(|column| index(column, &dropped)).collect();
    let mut paired = Paired::default();
    let keys: BTreeSet<&Key> = sides.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let there: Vec<bool> = sides.iter().map(|side| side.contains_key(key)).collect();
        if there[0] && there[1..].contains(&true) {
            pair_metrics(key, &sides, metrics, &mut paired);
        }
        if there[0] {
            let lacking = (1..columns.len()).filter(|&column| !there[column]);
            paired.unpaired.extend(lacking.map(|column| missing(key, &sides, columns, column)));
        } else if !said_already(key, &sides) {
            paired.unpaired.push(Unpaired {
                what: in_words(key),
                why: format!("{} has nothing to compare it with", columns[0].name),
                not_comparable: false,
            });
        }
    }
    paired
}

/// `fallocate/append-truncate, chunk=8192 mode=process`.
pub fn in_words(key: &Key) -> String {
    let parameters = parameters_in_words(&key.parameters);
    let gap = if parameters.is_empty() { "" } else { ", " };
    format!("{}{gap}{parameters}", key.workload)
}

/// `chunk=8192 mode=process`.
pub fn parameters_in_words(parameters: &BTreeMap<String, String>) -> String {
    let words: Vec<String> = parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
    words.join(" ")
}

fn index<'a>(column: &'a Column, dropped: &BTreeSet<&String>) -> Side<'a> {
    let mut side = Side::new();
    for (report, &pair) in column.reports.iter().zip(&column.pairs) {
        for point in &report.points {
            let kept = point.parameters.iter().filter(|(name, _)| !dropped.contains(name));
            let key = Key {
                workload: point.workload.clone(),
                parameters: kept.map(|(k, v)| (k.clone(), v.clone())).collect(),
                project: report.project.name.clone(),
                machine: report.machine.id.clone(),
                version: point.version,
            };
            side.entry(key).or_default().push(Place { report, pair, point });
        }
    }
    side
}

/// The same workload and parameters under another machine, project or version.
fn counterpart<'a>(key: &Key, side: &'a Side<'_>) -> Option<&'a Key> {
    side.keys().find(|k| k.workload == key.workload && k.parameters == key.parameters)
}

/// Whether the base has it under another machine, project or version that a head lacks: then that
/// one was said to be not comparable, and saying it from this side too would say it twice.
fn said_already(key: &Key, sides: &[Side<'_>]) -> bool {
    sides[0].keys().any(|k| {
        k.workload == key.workload
            && k.parameters == key.parameters
            && sides[1..].iter().any(|side| !side.contains_key(k))
    })
}

fn missing(key: &Key, sides: &[Side<'_>], columns: &[Column], at: usize) -> Unpaired {
    let Some(other) = counterpart(key, &sides[at]) else {
        let why = format!("{} did not measure it", columns[at].name);
        return Unpaired { what: in_words(key), why, not_comparable: false };
    };
    let mut differs = Vec::new();
    if key.machine != other.machine {
        differs.push(format!(
            "machines differ: {} against {}",
            machine_name(key, &sides[0]),
            machine_name(other, &sides[at])
        ));
    }
    if key.project != other.project {
        differs.push(format!("projects differ: {} against {}", key.project, other.project));
    }
    if key.version != other.version {
        differs
            .push(format!("workload versions differ: {} against {}", key.version, other.version));
    }
    Unpaired { what: in_words(key), why: differs.join("; "), not_comparable: true }
}

fn machine_name(key: &Key, side: &Side<'_>) -> String {
    let machine =
        side.get(key).and_then(|places| places.first()).map(|place| &place.report.machine);
    machine.map_or_else(|| key.machine.clone(), |m| format!("{} ({:.10})", m.name, m.id))
}

/// The metrics of each point that has values.
fn measured<'a>(places: &[Place<'a>]) -> impl Iterator<Item = &'a [wire::Metric]> {
    places.iter().map(|place| place.point.outcome.metrics()).filter(|metrics| !metrics.is_empty())
}

fn pair_metrics(key: &Key, sides: &[Side<'_>], wanted: &Metrics, paired: &mut Paired) {
    let empty = Vec::new();
    let places: Vec<&Vec<Place<'_>>> =
        sides.iter().map(|side| side.get(key).unwrap_or(&empty)).collect();
    let all: Vec<Place<'_>> = places.iter().flat_map(|side| side.iter().copied()).collect();
    let primary = measured(&all).next().map(|metrics| metrics[0].name.clone());
    let mut names: Vec<&str> = Vec::new();
    for metric in measured(&all).flatten() {
        if !names.contains(&metric.name.as_str()) {
            names.push(&metric.name);
        }
    }
    names.retain(|name| match wanted {
        Metrics::All => true,
        Metrics::Named(one) => one == name,
        Metrics::Usual => primary.as_deref() == Some(name) || *name == "ops_per_cpu_s",
    });
    for name in names {
        let kinds: BTreeSet<(&str, &str)> = measured(&all)
            .flatten()
            .filter(|metric| metric.name == name)
            .map(|metric| (metric.unit.symbol(), metric.direction.word()))
            .collect();
        if kinds.len() > 1 {
            let kinds: Vec<String> = kinds.iter().map(|(u, d)| format!("{u}, {d}")).collect();
            paired.unpaired.push(Unpaired {
                what: format!("{}, {name}", in_words(key)),
                why: format!("units or directions differ: {}", kinds.join(" against ")),
                not_comparable: true,
            });
            continue;
        }
        paired.curves.extend(curve(key, &places, name, primary.as_deref() == Some(name)));
    }
    if primary.is_none() {
        paired.unpaired.push(Unpaired {
            what: in_words(key),
            why: "every run of it failed".into(),
            not_comparable: false,
        });
    }
}

fn curve(key: &Key, places: &[&Vec<Place<'_>>], name: &str, primary: bool) -> Option<Curve> {
    let all = || places.iter().flat_map(|side| side.iter());
    let metric = all().find_map(|place| metric_of(place.point, name))?;
    let tasks: BTreeSet<u32> = all()
        .map(|place| place.point)
        .filter(|point| metric_of(point, name).is_some() || failure_of(point).is_some())
        .map(|point| point.tasks)
        .collect();
    let points = tasks
        .into_iter()
        .map(|tasks| CurvePoint {
            tasks,
            cells: places.iter().map(|side| cell(side, tasks, name)).collect(),
        })
        .collect();
    let machine_name =
        all().next().map_or_else(String::new, |place| place.report.machine.name.clone());
    Some(Curve {
        key: key.clone(),
        machine_name,
        metric: name.to_owned(),
        unit: metric.unit,
        direction: metric.direction,
        primary,
        points,
    })
}

fn cell(side: &[Place<'_>], tasks: u32, name: &str) -> Cell {
    let mut cell = Cell::default();
    for Place { report, pair, point } in side.iter().filter(|place| place.point.tasks == tasks) {
        match &point.outcome {
            Outcome::Failed(failure) => cell.failures.push(failure.detail.clone()),
            outcome => {
                if let Some(metric) = metric_of(point, name) {
                    let values = outcome.values(metric);
                    let counters = match outcome {
                        Outcome::Measured(measured) => measured.counters.clone(),
                        _ => BTreeMap::new(),
                    };
                    let environment = report.environment.clone();
                    cell.runs.push(Run { environment, pair: *pair, values, counters });
                }
            }
        }
    }
    cell
}

fn metric_of<'a>(point: &'a wire::Point, name: &str) -> Option<&'a wire::Metric> {
    point.outcome.metrics().iter().find(|metric| metric.name == name)
}

fn failure_of(point: &wire::Point) -> Option<&wire::Failure> {
    match &point.outcome {
        Outcome::Failed(failure) => Some(failure),
        Outcome::Measured(_) | Outcome::Imported(_) => None,
    }
}
