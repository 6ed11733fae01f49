//! head ÷ base: one row a point, dot and interval on a shared axis of log ratios with 1 in the
//! middle, the noise floor as a band around it.

use plotters::backend::DrawingBackend;

use super::frame::LINE_PX;
use super::palette::{IMPROVEMENT, INK, MUTED, NOISE, REGRESSION, RULE};
use super::pen::{Align, Pen, TEXT_PX, fit, text_width};
use super::scale::round_step;
use super::{ComparePlot, CompareRow, Size};
use crate::format;

const ROW_PX: f64 = 22.0;

/// High enough for title, rows and axis.
pub(super) fn size(plot: &ComparePlot, width: u32) -> Size {
    Size { width, height: (plot.rows.len() as f64 * ROW_PX + 3.5 * LINE_PX) as u32 }
}

/// Draws the plot.
pub(super) fn draw<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, plot: &ComparePlot, size: Size) {
    let reach = reach(plot);
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(text_width).fold(0.0, f64::max);
    let left = widest(&mut plot.rows.iter().map(|row| row.label.as_str())) + 12.0;
    let notes = widest(&mut plot.rows.iter().map(|row| row.note.as_str())) + 12.0;
    let width = f64::from(size.width);
    let right = (width - notes).max(left + width * 0.25);
    let axis = Axis { centre: (left + right) / 2.0, half: (right - left) / 2.0 - 8.0, reach };
    let top = 1.5 * LINE_PX;
    let bottom = top + plot.rows.len() as f64 * ROW_PX;

    pen.text(&fit(&plot.title, width), (0.0, TEXT_PX / 2.0 + 1.0), Align::Left, MUTED);
    for (index, row) in plot.rows.iter().enumerate() {
        let from = top + index as f64 * ROW_PX;
        let floor = (1.0 + row.noise_floor).ln();
        if floor > 0.0 {
            let (low, high) = (axis.at(-floor), axis.at(floor));
            pen.fill((low, from), (high, from + ROW_PX), NOISE, 1.0);
        }
    }
    draw_axis(pen, &axis, (top, bottom));
    for (index, row) in plot.rows.iter().enumerate() {
        let y = top + (index as f64 + 0.5) * ROW_PX;
        pen.text(&row.label, (left - 10.0, y), Align::Right, INK);
        draw_row(pen, &axis, row, y);
        pen.text(&fit(&row.note, width - right - 4.0), (right + 8.0, y), Align::Left, INK);
    }
}

/// Log ratios on the page: `reach` is the largest, at either end.
struct Axis {
    centre: f64,
    half: f64,
    reach: f64,
}

impl Axis {
    fn at(&self, log: f64) -> f64 {
        self.centre + (log / self.reach).clamp(-1.0, 1.0) * self.half
    }
}

/// The largest log ratio an interval or a noise floor reaches, at least that of 2 %.
fn reach(plot: &ComparePlot) -> f64 {
    let logs = plot.rows.iter().flat_map(|row| {
        let (ratio, low, high) = row.ratio.unwrap_or((1.0, 1.0, 1.0));
        [ratio.ln().abs(), low.ln().abs(), high.ln().abs(), row.noise_floor.ln_1p()]
    });
    logs.filter(|log| log.is_finite()).fold(1.02_f64.ln(), f64::max) * 1.08
}

fn draw_axis<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, axis: &Axis, (top, bottom): (f64, f64)) {
    let steps: Vec<f64> = ticks(axis.reach);
    for ratio in &steps {
        let x = axis.at(ratio.ln());
        let (colour, width) = if *ratio == 1.0 { (MUTED, 1.25) } else { (RULE, 1.0) };
        pen.line(&[(x, top), (x, bottom + 3.0)], colour, width);
    }
    let mut free_from = f64::NEG_INFINITY;
    for ratio in steps {
        let text = if ratio == 1.0 { "0 %".into() } else { tick_label(ratio) };
        let (x, half) = (axis.at(ratio.ln()), text_width(&text) / 2.0);
        if x - half > free_from {
            pen.text(&text, (x, bottom + 4.0 + LINE_PX / 2.0), Align::Centre, MUTED);
            free_from = x + half + 8.0;
        }
    }
}

fn tick_label(ratio: f64) -> String {
    if ratio >= 2.0 || ratio <= 0.5 {
        return format!("{} ×", format::number(ratio));
    }
    format::change(ratio).replace(".0 %", " %")
}

/// Ratios symmetric about 1: percent steps for small reaches, doublings for large ones.
fn ticks(reach: f64) -> Vec<f64> {
    if reach > 1.2 {
        let doublings = (reach / std::f64::consts::LN_2).floor() as i32;
        let step = (doublings / 2).max(1);
        return (-doublings..=doublings)
            .filter(|power| power % step == 0)
            .map(|power| 2f64.powi(power))
            .collect();
    }
    let most = reach.exp_m1();
    let step = round_step(most / 2.5);
    let count = (most / step).floor() as i32;
    (-count..=count)
        .map(|i| 1.0 + f64::from(i) * step)
        .filter(|ratio| *ratio > 0.0 && ratio.ln().abs() <= reach)
        .collect()
}

fn draw_row<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, axis: &Axis, row: &CompareRow, y: f64) {
    let Some((ratio, low, high)) = row.ratio.filter(|(ratio, _, _)| *ratio > 0.0) else { return };
    let colour = match row.worse {
        Some(true) => REGRESSION,
        Some(false) => IMPROVEMENT,
        None => MUTED,
    };
    let (low, high) = (axis.at(low.max(f64::MIN_POSITIVE).ln()), axis.at(high.ln()));
    pen.line(&[(low, y), (high, y)], colour, 1.75);
    for x in [low, high] {
        pen.line(&[(x, y - 4.0), (x, y + 4.0)], colour, 1.25);
    }
    pen.disc((axis.at(ratio.ln()), y), 4.0, colour, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_hold_one_and_stay_within_reach() {
        for most in [1.005_f64, 1.02, 1.13, 1.6, 2.9, 15.0, 400.0] {
            let reach = most.ln();
            let ticks = ticks(reach);
            assert!(ticks.contains(&1.0), "{most}: {ticks:?}");
            assert!((2..=9).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(ticks.iter().all(|t| t.ln().abs() <= reach + 1e-9), "{most}: {ticks:?}");
        }
    }
}
