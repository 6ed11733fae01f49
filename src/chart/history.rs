//! A metric against revisions: evenly spaced in their order, each run a dot with its whisker,
//! levels as a stepped line, incidents as bands, environment changes as dashed verticals, failed
//! runs as hollow marks on the base line.

use plotters::backend::DrawingBackend;

use super::curve::whisker;
use super::frame::Frame;
use super::palette::{self, ENVIRONMENT, IMPROVEMENT, INK, MUTED, REGRESSION, SURFACE};
use super::pen::{Align, Pen, fit, text_width};
use super::scale::Values;
use super::{HistoryColumn, HistoryPlot, Mark, Size};
use crate::format;

/// Draws the plot.
pub(super) fn draw<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, plot: &HistoryPlot, size: Size) {
    let (y, frame) = layout(plot, size);
    draw_bands(pen, &frame, plot);
    frame.draw(pen, &y, &plot.y_title);
    draw_environments(pen, &frame, plot);
    draw_levels(pen, &frame, &y, plot);
    for (index, column) in plot.columns.iter().enumerate() {
        draw_column(pen, &frame, &y, plot, (index, column));
    }
    draw_revisions(pen, &frame, plot);
}

fn layout(plot: &HistoryPlot, size: Size) -> (Values, Frame) {
    let y = Values::around(values(plot));
    let frame = Frame::new(size, &y, (2, 2), 16.0);
    (y, frame)
}

/// One mark a revision, with the median of every run.
pub(super) fn marks(plot: &HistoryPlot, size: Size) -> Vec<Mark> {
    let (_, frame) = layout(plot, size);
    let mark = |(index, column): (usize, &HistoryColumn)| {
        let runs = column.dots.iter().map(|dot| format::exact(dot.value));
        let failed = (column.failed > 0).then(|| format!("{} failed", column.failed));
        Mark {
            x: middle(&frame, plot, index as f64),
            key: format!("revision {}", column.commit),
            words: format!(
                "{}\n{}",
                column.commit,
                runs.chain(failed).collect::<Vec<_>>().join("\n")
            ),
        }
    };
    plot.columns.iter().enumerate().map(mark).collect()
}

fn values(plot: &HistoryPlot) -> impl Iterator<Item = f64> + '_ {
    plot.columns.iter().flat_map(|column| &column.dots).flat_map(|dot| {
        let (low, high) = dot.interval.unwrap_or((dot.value, dot.value));
        [dot.value, low, high]
    })
}

/// Middle of a column; columns are as wide as each other.
fn middle(frame: &Frame, plot: &HistoryPlot, column: f64) -> f64 {
    frame.x((column + 0.5) / plot.columns.len().max(1) as f64)
}

fn draw_bands<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, frame: &Frame, plot: &HistoryPlot) {
    let mut free_from = f64::NEG_INFINITY;
    for band in &plot.bands {
        let colour = if band.worse { REGRESSION } else { IMPROVEMENT };
        let from = middle(frame, plot, band.from as f64);
        let to = middle(frame, plot, band.to as f64);
        pen.fill((from, frame.top - 4.0), (to, frame.bottom), colour, 0.14);
        let half = text_width(&band.label) / 2.0;
        let room = frame.right - frame.left;
        let centre = ((from + to) / 2.0).clamp(
            (frame.left + half).min(frame.left + room / 2.0),
            (frame.right - half).max(frame.left + room / 2.0),
        );
        if centre - half > free_from {
            let label = fit(&band.label, room);
            pen.text(&label, (centre, frame.top - 12.0), Align::Centre, colour);
            free_from = centre + half + 6.0;
        }
    }
}

fn draw_environments<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, frame: &Frame, plot: &HistoryPlot) {
    for (column, reason) in &plot.environments {
        let x = middle(frame, plot, *column as f64 - 0.5);
        pen.dashed(&[(x, frame.top - 4.0), (x, frame.bottom)], ENVIRONMENT, 1.0, (4.0, 3.0));
        let (room_left, room_right) = (x - frame.left - 8.0, frame.right - x - 8.0);
        let y = frame.bottom - 9.0;
        if room_right >= room_left {
            pen.text(&fit(reason, room_right), (x + 4.0, y), Align::Left, ENVIRONMENT);
        } else {
            pen.text(&fit(reason, room_left), (x - 4.0, y), Align::Right, ENVIRONMENT);
        }
    }
}

fn draw_levels<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    y: &Values,
    plot: &HistoryPlot,
) {
    let mut path = Vec::new();
    for level in &plot.levels {
        let height = frame.y(y.share(level.value));
        path.push((middle(frame, plot, level.from as f64 - 0.5), height));
        path.push((middle(frame, plot, level.to as f64 + 0.5), height));
    }
    if path.len() > 1 {
        pen.line(&path, INK, 1.25);
    }
}

fn draw_column<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    y: &Values,
    plot: &HistoryPlot,
    (index, column): (usize, &HistoryColumn),
) {
    let centre = middle(frame, plot, index as f64);
    let width = (frame.right - frame.left) / plot.columns.len() as f64;
    let spacing = (width * 0.7 / column.dots.len() as f64).min(8.0);
    let radius = (width * 0.3).clamp(1.5, 3.25);
    for (i, dot) in column.dots.iter().enumerate() {
        let x = centre + (i as f64 - (column.dots.len() - 1) as f64 / 2.0) * spacing;
        let at = |value: f64| (x, frame.y(y.share(value)));
        if let Some((low, high)) = dot.interval {
            if width > 12.0 {
                whisker(pen, at(low), at(high), palette::series(0));
            } else {
                pen.line(&[at(low), at(high)], palette::series(0), 1.0);
            }
        }
        pen.disc(at(dot.value), radius, palette::series(0), 1.0);
    }
    if column.failed > 0 || column.dots.is_empty() {
        pen.ring((centre, frame.bottom), 4.0, MUTED, SURFACE);
    }
}

/// Dates where there are any, else commits; and what the axis is.
fn draw_revisions<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, frame: &Frame, plot: &HistoryPlot) {
    let place = |index: usize| middle(frame, plot, index as f64);
    let commits: Vec<_> = plot
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| (place(index), column.commit.chars().take(7).collect()))
        .collect();
    frame.label_below(pen, &commits, 0);
    let dates: Vec<_> = plot
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| Some((place(index), column.date.clone()?)))
        .collect();
    frame.label_below(pen, &dates, 1);
}
