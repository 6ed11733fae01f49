//! Every sample of every point, one row a point, relative to the row's median: two modes are
//! visible as two clumps.

use plotters::backend::DrawingBackend;

use super::frame::LINE_PX;
use super::palette::{self, INK, MUTED, RULE};
use super::pen::{Align, Pen, TEXT_PX, fit, text_width};
use super::scale::round_step;
use super::{Size, StripPlot, StripRow};
use crate::format;

const ROW_PX: f64 = 26.0;

/// High enough for title, rows and axis.
pub(super) fn size(plot: &StripPlot, width: u32) -> Size {
    Size { width, height: (plot.rows.len() as f64 * ROW_PX + 3.5 * LINE_PX) as u32 }
}

impl StripRow {
    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        Some((sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0).filter(|median| *median > 0.0)
    }

    /// Values ÷ median; none where the median is not positive.
    fn relative(&self) -> Option<impl Iterator<Item = f64> + '_> {
        let median = self.median()?;
        Some(self.values.iter().filter(|v| v.is_finite()).map(move |v| v / median))
    }

    /// Least and greatest value ÷ median; none where the median is not positive.
    pub(super) fn relative_extent(&self) -> Option<(f64, f64)> {
        Some(super::scale::extent(self.relative()?))
    }
}

/// Draws the plot.
pub(super) fn draw<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, plot: &StripPlot, size: Size) {
    let width = f64::from(size.width);
    let labels = plot.rows.iter().map(|row| text_width(&row.label)).fold(0.0, f64::max);
    let (left, right) = (labels + 12.0, width - 20.0);
    let reach = reach(plot);
    let at = |ratio: f64| (left + right) / 2.0 + (ratio - 1.0) / reach * (right - left) / 2.0;
    let top = 1.5 * LINE_PX;
    let bottom = top + plot.rows.len() as f64 * ROW_PX;

    pen.text(&fit(&plot.title, width), (0.0, TEXT_PX / 2.0 + 1.0), Align::Left, MUTED);
    let step = round_step(reach / 2.0);
    let steps = (reach / step).floor() as i32;
    for i in -steps..=steps {
        let ratio = 1.0 + f64::from(i) * step;
        pen.line(&[(at(ratio), top), (at(ratio), bottom + 3.0)], RULE, 1.0);
        let label = if i == 0 { "median".into() } else { format::change(ratio) };
        pen.text(&label, (at(ratio), bottom + 4.0 + LINE_PX / 2.0), Align::Centre, MUTED);
    }
    for (index, row) in plot.rows.iter().enumerate() {
        let y = top + (index as f64 + 0.5) * ROW_PX;
        pen.text(&row.label, (left - 10.0, y), Align::Right, INK);
        pen.line(&[(at(1.0), y - 8.0), (at(1.0), y + 8.0)], INK, 1.5);
        let Some(values) = row.relative() else { continue };
        // Three heights in turn, so that neighbours in time do not hide each other.
        for (i, ratio) in values.enumerate() {
            let height = y + [0.0, -5.0, 5.0][i % 3];
            pen.disc((at(ratio), height), 3.0, palette::series(0), 0.6);
        }
    }
}

/// The largest distance of a value from its row's median, relative; at least 1 %.
fn reach(plot: &StripPlot) -> f64 {
    let distances = plot.rows.iter().filter_map(StripRow::relative_extent);
    distances.flat_map(|(low, high)| [1.0 - low, high - 1.0]).fold(0.01, f64::max) * 1.05
}
