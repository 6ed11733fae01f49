//! The plots of a curve page: the metric people look at first large, what follows from it beside,
//! every other metric small, all on the same x.

use std::collections::BTreeMap;

use super::{Figure, Metric};
use crate::chart::{CurveLine, CurvePlot, FittedLaw, Size, svg};
use crate::pages::sides::line;

const WIDE: Size = Size { width: 660, height: 372 };
const NARROW: Size = Size { width: 360, height: 280 };
const SMALL: Size = Size { width: 400, height: 180 };

/// Every sample of a metric by task count, labelled, on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// Hollow markers; none with one revision.
    pub base: Option<(String, BTreeMap<u32, Vec<f64>>)>,
    /// Filled markers.
    pub head: (String, BTreeMap<u32, Vec<f64>>),
    /// Where parts of the machine are full.
    pub topology: Vec<(u32, String)>,
    /// Whether y is logarithmic.
    pub log: bool,
    /// Laws of scaling fitted to the metric people look at first, by side.
    pub laws: Vec<(usize, FittedLaw)>,
}

impl Sides {
    /// Base first.
    pub fn each(&self) -> impl Iterator<Item = &(String, BTreeMap<u32, Vec<f64>>)> {
        self.base.iter().chain([&self.head])
    }

    fn lines(&self, scale: impl Fn(u32) -> f64) -> Vec<CurveLine> {
        self.each().map(|(label, pooled)| line(label, pooled, &scale)).collect()
    }
}

/// The metric people look at first, with the ideal line where it is a total.
pub fn main(metric: &Metric, sides: &Sides) -> Figure {
    let lines = sides.lines(|_| 1.0);
    let at_one = |line: &CurveLine| line.points.first().filter(|p| p.tasks == 1).map(|p| p.value);
    let ideal = lines.first().and_then(at_one).filter(|_| is_total(metric));
    let topology = sides.topology.clone();
    let laws = sides.laws.clone();
    let caption = match laws.is_empty() {
        true => "Against tasks; points are medians of all windows with 95 % intervals.",
        false => {
            "Against tasks; points are medians of all windows with 95 % intervals. Dotted: the law \
             of scaling fitted, with its knee and its peak."
        }
    };
    let plot = CurvePlot { y_title: metric.axis(), lines, topology, ideal, laws, log: sides.log };
    Figure::two(caption, (WIDE, NARROW), |size| svg::curve(&plot, size))
}

/// What follows from a total: the share of each task, and how much of ideal scaling is reached.
pub fn derived(metric: &Metric, sides: &Sides) -> Vec<Figure> {
    if !is_total(metric) {
        return Vec::new();
    }
    let unit = metric.unit.symbol();
    let per_task = CurvePlot {
        y_title: format!("{unit} per task, {} is better", metric.direction.word()),
        lines: sides.lines(|tasks| 1.0 / f64::from(tasks)),
        log: sides.log,
        ..CurvePlot::default()
    };
    let mut figures = vec![small_figure("Per task.", &per_task)];
    let scalability: Vec<CurveLine> = sides.each().filter_map(scalability_line).collect();
    if scalability.len() == sides.each().count() {
        let plot = CurvePlot {
            y_title: "total ÷ (tasks × total at 1), higher is better".into(),
            lines: scalability,
            log: sides.log,
            ..CurvePlot::default()
        };
        figures.push(small_figure("Scalability; 1 is ideal.", &plot));
    }
    figures
}

/// One of the other metrics.
pub fn small(metric: &Metric, sides: &Sides) -> Figure {
    let lines = sides.lines(|_| 1.0);
    let plot = CurvePlot { y_title: metric.axis(), lines, log: sides.log, ..CurvePlot::default() };
    small_figure(&format!("{}.", metric.title()), &plot)
}

fn small_figure(caption: &str, plot: &CurvePlot) -> Figure {
    Figure::one(caption, svg::curve(plot, SMALL))
}

fn scalability_line((label, pooled): &(String, BTreeMap<u32, Vec<f64>>)) -> Option<CurveLine> {
    let one = line(label, pooled, |_| 1.0).points.first().filter(|p| p.tasks == 1)?.value;
    (one > 0.0).then(|| line(label, pooled, |tasks| 1.0 / (f64::from(tasks) * one)))
}

fn is_total(metric: &Metric) -> bool {
    use wire::Unit::{JobsPerMinute, LoopsPerSecond, MebibytesPerSecond, OpsPerSecond};
    matches!(metric.unit, OpsPerSecond | JobsPerMinute | LoopsPerSecond | MebibytesPerSecond)
}
