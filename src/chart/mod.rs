//! Points → SVG (pages) or PNG (mails), by plotters; pure, the same marks in both. Profiles → flame
//! graphs.
//!
//! A plot is plain data with a sentence that says what it shows ([`CurvePlot::sentence`] …);
//! [`svg`] and [`png`] draw it. Values are drawn as given: what cannot be drawn (not finite) is
//! left out.

pub mod badge;
mod compare;
mod curve;
pub mod flame;
mod frame;
mod history;
mod law;
mod palette;
mod pen;
pub mod png;
pub mod points;
mod scale;
mod strip;
pub mod svg;
mod topology;
mod words;

/// Size of a plot, CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Where a plot has points: what a cursor stands on and says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// CSS pixels from the left.
    pub x: f64,
    /// The same in every plot of a page for the same task count or revision.
    pub key: String,
    /// All figures there, all digits.
    pub words: String,
}

/// One measured point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Task count (x, log₂).
    pub tasks: u32,
    /// Median (y).
    pub value: f64,
    /// 95 % interval, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// One line of a curve plot; base comes first with hollow markers, head second with filled ones.
/// A line that stands alone has filled markers.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveLine {
    /// Written at the line's end.
    pub label: String,
    /// In order of task count.
    pub points: Vec<CurvePoint>,
}

/// The law of scaling fitted to a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedLaw {
    /// The law.
    pub law: stats::curve::Law,
    /// Task count at which perfect scaling would reach the greatest throughput; none beyond what was
    /// measured.
    pub knee: Option<f64>,
    /// Task count of the greatest throughput; none beyond what was measured.
    pub peak: Option<f64>,
}

/// The parts of a machine, of which only the numbers are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopologyPlot {
    /// Physical packages.
    pub sockets: u32,
    /// NUMA nodes.
    pub nodes: u32,
    /// Physical cores.
    pub cores: u32,
    /// Hardware threads.
    pub threads: u32,
}

/// A metric against tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurvePlot {
    /// What y is, with its unit, e.g. `ops/s, higher is better`.
    pub y_title: String,
    /// Lines; at most seven.
    pub lines: Vec<CurveLine>,
    /// Task counts at which the topology changes, with a label (`cores full`, `SMT`).
    pub topology: Vec<(u32, String)>,
    /// Value of one task on the ideal line, which grows with the task count; none for no line.
    pub ideal: Option<f64>,
    /// Whether y is logarithmic.
    pub log: bool,
    /// Laws fitted to the lines, each with the index of its line; drawn thin, with marks where they
    /// bend and peak.
    pub laws: Vec<(usize, FittedLaw)>,
}

/// One run in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryDot {
    /// Median of the run.
    pub value: f64,
    /// 95 % interval of the median, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// One revision of a history, with its runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HistoryColumn {
    /// The commit, shortened.
    pub commit: String,
    /// The day, written under the axis where it changes.
    pub date: Option<String>,
    /// Measured runs; empty when all failed.
    pub dots: Vec<HistoryDot>,
    /// How many runs failed.
    pub failed: usize,
}

/// A level between two steps: the median of columns `from..=to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// First column.
    pub from: usize,
    /// Last column.
    pub to: usize,
    /// Height.
    pub value: f64,
}

/// A change found in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Last column before the change.
    pub from: usize,
    /// First column after it.
    pub to: usize,
    /// E.g. `incident 3, −11.8 %`.
    pub label: String,
    /// For the worse.
    pub worse: bool,
}

/// A metric against revisions, evenly spaced in their order, the newest on the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HistoryPlot {
    /// What y is, with its unit, e.g. `ops/s, higher is better`.
    pub y_title: String,
    /// Revisions in order.
    pub columns: Vec<HistoryColumn>,
    /// Levels in order.
    pub levels: Vec<Level>,
    /// Changes, labelled.
    pub bands: Vec<Band>,
    /// Columns before which the environment changed, with the reason.
    pub environments: Vec<(usize, String)>,
}

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRow {
    /// E.g. `16 tasks`.
    pub label: String,
    /// head ÷ base and its interval; none where there is no ratio.
    pub ratio: Option<(f64, f64, f64)>,
    /// Noise floor, relative; 0 when unknown.
    pub noise_floor: f64,
    /// For the worse, for the better, or undecided.
    pub worse: Option<bool>,
    /// Written at the row's right end, e.g. `−11.8 %`.
    pub note: String,
}

/// head ÷ base, one row a point, on a shared axis of log ratios.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComparePlot {
    /// What is compared, e.g. `head ÷ base, ops/s, higher is better`.
    pub title: String,
    /// Rows from top to bottom.
    pub rows: Vec<CompareRow>,
}

/// All samples of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct StripRow {
    /// E.g. `16 tasks`.
    pub label: String,
    /// Every sample, in order of time.
    pub values: Vec<f64>,
}

/// Every sample of every point, each relative to the median of its row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StripPlot {
    /// What is shown, e.g. `ops/s, relative to the point's median`.
    pub title: String,
    /// Rows from top to bottom.
    pub rows: Vec<StripRow>,
}
