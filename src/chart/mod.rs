//! Points → SVG (pages) or PNG (mails), by plotters; pure, the same marks in both.

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
#[derive(Debug, Clone, PartialEq)]
pub struct CurveLine {
    /// Written at the line's end.
    pub label: String,
    /// In order of task count.
    pub points: Vec<CurvePoint>,
}

/// Throughput against tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePlot {
    /// What y is, with its unit, e.g. `ops/s, higher is better`.
    pub y_title: String,
    /// Lines; at most seven.
    pub lines: Vec<CurveLine>,
    /// Task counts at which the topology changes, with a label (`cores full`, `SMT`).
    pub topology: Vec<(u32, String)>,
}
