//! The rectangle a plot is drawn in, its grid and its axis labels.

use plotters::backend::DrawingBackend;

use super::Size;
use super::palette::{MUTED, RULE};
use super::pen::{Align, Pen, TEXT_PX, fit, text_width};
use super::scale::Values;
use crate::format;

/// Distance between the baselines of two lines of text.
pub(super) const LINE_PX: f64 = 16.0;

/// Edges of the drawing area, CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// Room for `above` lines of text over the area, `below` under it, the labels of `y` at the
    /// left and `right` pixels at the right.
    pub(super) fn new(size: Size, y: &Values, (above, below): (usize, usize), right: f64) -> Frame {
        let labels = y.ticks.iter().map(|tick| text_width(&tick_label(y, *tick)));
        let left = labels.fold(0.0, f64::max) + 8.0;
        Frame {
            left,
            right: (f64::from(size.width) - right.max(10.0)).max(left + 40.0),
            top: above as f64 * LINE_PX + 6.0,
            bottom: f64::from(size.height) - below as f64 * LINE_PX - 6.0,
        }
    }

    /// Position of a share of the width.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// Position of a share of the height, from the bottom.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }

    /// The title at the top left, grid lines and their labels.
    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &mut Pen<'_, DB>, y: &Values, title: &str) {
        let room = self.right - 2.0;
        pen.text(&fit(title, room), (1.0, TEXT_PX / 2.0 + 1.0), Align::Left, MUTED);
        for tick in &y.ticks {
            let at = self.y(y.share(*tick));
            pen.line(&[(self.left, at), (self.right, at)], RULE, 1.0);
            pen.text(&tick_label(y, *tick), (self.left - 6.0, at), Align::Right, MUTED);
        }
    }

    /// Labels under the area at the given places, those skipped that would touch the one before;
    /// the last one always stands.
    pub(super) fn label_below<DB: DrawingBackend>(
        &self,
        pen: &mut Pen<'_, DB>,
        labels: &[(f64, String)],
        line: usize,
    ) {
        let y = self.bottom + 6.0 + (line as f64 + 0.5) * LINE_PX;
        let half = |text: &str| text_width(text) / 2.0 + 3.0;
        let last_left = labels.last().map_or(f64::INFINITY, |(x, text)| x - half(text));
        let mut free_from = f64::NEG_INFINITY;
        for (index, (x, text)) in labels.iter().enumerate() {
            let is_last = index + 1 == labels.len();
            let clear = x - half(text) >= free_from && x + half(text) <= last_left;
            if is_last || clear {
                pen.text(text, (*x, y), Align::Centre, MUTED);
                free_from = x + half(text);
            }
        }
    }
}

/// A tick's label, with digits enough to tell it from its neighbours.
fn tick_label(axis: &Values, tick: f64) -> String {
    if axis.is_log {
        return format::number(tick);
    }
    let step = (axis.high - axis.low) / (axis.ticks.len().max(2) - 1) as f64;
    if tick.abs() < step / 1e6 {
        return "0".into();
    }
    let (scale, prefix) = match axis.high.abs().max(axis.low.abs()) {
        m if m >= 1e9 => (1e9, " G"),
        m if m >= 1e6 => (1e6, " M"),
        m if m >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let step = step / scale;
    let decimals = (0..6).find(|d| is_whole(step * 10f64.powi(*d))).unwrap_or(6) as usize;
    if decimals == 6 {
        return format::number(tick);
    }
    let minus = if tick < 0.0 { "−" } else { "" };
    format!("{minus}{:.decimals$}{prefix}", tick.abs() / scale)
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6 && value.round() != 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_labels_tell_neighbours_apart() {
        for top in [0.4, 3.0, 12.0, 980.0, 12_500.0, 295_287.0, 3e9] {
            for axis in [
                Values::from_zero([top].into_iter()),
                Values::around([top, top * 0.99].into_iter()),
            ] {
                let labels: Vec<_> = axis.ticks.iter().map(|t| tick_label(&axis, *t)).collect();
                let mut distinct = labels.clone();
                distinct.dedup();
                assert_eq!(labels, distinct);
            }
        }
    }
}
