//! A metric against tasks: log₂ x with ticks at the measured counts, y from 0, intervals, straight
//! segments, each line's label at its end.

use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::frame::{Frame, LINE_PX};
use super::palette::{self, MUTED, SURFACE};
use super::pen::{Align, Pen, fit, text_width};
use super::scale::{Tasks, Values};
use super::{CurveLine, CurvePlot, CurvePoint, Mark, Size, law};
use crate::format;

/// Dash patterns by line; none is a solid line. Base is dashed, head solid.
const DASHES: [Option<(f64, f64)>; 4] =
    [Some((7.0, 4.0)), None, Some((2.0, 3.0)), Some((12.0, 4.0))];

/// Draws the plot.
pub(super) fn draw<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, plot: &CurvePlot, size: Size) {
    let Layout { counts, x, y, widest, frame } = Layout::of(plot, size);
    frame.draw(pen, &y, &plot.y_title);
    draw_tasks_axis(pen, &frame, &x, &counts);
    draw_topology(pen, &frame, &x, plot);
    if let Some(slope) = plot.ideal.filter(|slope| *slope > 0.0) {
        draw_ideal(pen, &frame, (&x, &y), slope, &counts);
    }
    for (index, fitted) in &plot.laws {
        law::draw(pen, &frame, (&x, &y), (*index, fitted), &counts);
    }
    for index in 0..plot.lines.len() {
        draw_line(pen, &frame, (&x, &y), plot, index);
    }
    draw_end_labels(pen, &frame, (&x, &y), plot, widest);
}

/// What follows from the plot and its size.
struct Layout {
    /// Measured task counts, ascending.
    counts: Vec<u32>,
    x: Tasks,
    y: Values,
    /// Width of the widest label at a line's end.
    widest: f64,
    frame: Frame,
}

impl Layout {
    fn of(plot: &CurvePlot, size: Size) -> Layout {
        let counts = task_counts(plot);
        let x = Tasks::over(&counts);
        let values = plot.lines.iter().flat_map(line_values);
        let y = if plot.log { Values::log(values) } else { Values::from_zero(values) };
        let label_room = f64::from(size.width) * 0.3;
        let labels = plot.lines.iter().map(|line| text_width(&line.label).min(label_room));
        let widest = labels.fold(0.0, f64::max);
        let above = if plot.topology.is_empty() { 1 } else { 2 };
        let frame = Frame::new(size, &y, (above, 2), widest + 4.0);
        Layout { counts, x, y, widest, frame }
    }
}

/// One mark a task count, with the figure of every line.
pub(super) fn marks(plot: &CurvePlot, size: Size) -> Vec<Mark> {
    let Layout { counts, x, frame, .. } = Layout::of(plot, size);
    let figure = |line: &CurveLine, tasks: u32| {
        let drawn = |point: &&CurvePoint| point.tasks == tasks && point.value.is_finite();
        let point = line.points.iter().find(drawn)?;
        let interval = point.interval.map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", format::exact(low), format::exact(high))
        });
        Some(format!("{} {}{interval}", line.label, format::exact(point.value)))
    };
    let mark = |&tasks: &u32| {
        let figures: Vec<_> = plot.lines.iter().filter_map(|line| figure(line, tasks)).collect();
        (!figures.is_empty()).then(|| Mark {
            x: inset(&frame, x.share(f64::from(tasks))),
            key: format!("tasks {tasks}"),
            words: format!("{}\n{}", format::count(tasks as usize, "task"), figures.join("\n")),
        })
    };
    counts.iter().filter_map(mark).collect()
}

fn line_values(line: &CurveLine) -> impl Iterator<Item = f64> + '_ {
    line.points.iter().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.value, point.value));
        [point.value, low, high]
    })
}

fn task_counts(plot: &CurvePlot) -> Vec<u32> {
    let mut counts: Vec<u32> =
        plot.lines.iter().flat_map(|line| line.points.iter().map(|point| point.tasks)).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Position of a task count: the first and the last stand clear of the edges.
pub(super) fn inset(frame: &Frame, share: f64) -> f64 {
    let margin = 12.0 / (frame.right - frame.left);
    frame.x(margin + share * (1.0 - 2.0 * margin))
}

fn draw_tasks_axis<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    x: &Tasks,
    counts: &[u32],
) {
    let at = |tasks: u32| inset(frame, x.share(f64::from(tasks)));
    for tasks in counts {
        let from = (at(*tasks), frame.bottom);
        pen.line(&[from, (from.0, from.1 + 4.0)], MUTED, 1.0);
    }
    let labels: Vec<_> = counts.iter().map(|tasks| (at(*tasks), tasks.to_string())).collect();
    frame.label_below(pen, &labels, 0);
    let title_y = frame.bottom + 6.0 + 1.5 * LINE_PX;
    pen.text("tasks", (frame.right, title_y), Align::Right, MUTED);
}

fn draw_topology<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    x: &Tasks,
    plot: &CurvePlot,
) {
    let mut free_from = f64::NEG_INFINITY;
    for (tasks, label) in &plot.topology {
        let share = x.share(f64::from(*tasks));
        if !(0.0..=1.0).contains(&share) {
            continue;
        }
        let at = inset(frame, share);
        let from = (at, frame.top - 4.0);
        pen.dashed(&[from, (at, frame.bottom)], palette::ENVIRONMENT, 0.75, (2.0, 3.0));
        let half = text_width(label) / 2.0;
        let centre = at.clamp(frame.left + half, (frame.right - half).max(frame.left + half));
        if centre - half > free_from {
            let label_y = frame.top - 4.0 - LINE_PX / 2.0;
            pen.text(label, (centre, label_y), Align::Centre, palette::ENVIRONMENT);
            free_from = centre + half + 6.0;
        }
    }
}

fn draw_ideal<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    (x, y): (&Tasks, &Values),
    slope: f64,
    counts: &[u32],
) {
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else { return };
    let end = f64::from(*last).min(y.high / slope);
    let start = f64::from(*first);
    // A line that leaves the plot at once says nothing.
    if end <= start * 1.3 {
        return;
    }
    let steps = 48;
    let path: Vec<_> = (0..=steps)
        .map(|i| start * (end / start).powf(f64::from(i) / f64::from(steps)))
        .map(|tasks| (inset(frame, x.share(tasks)), frame.y(y.share(slope * tasks))))
        .collect();
    pen.dashed(&path, MUTED, 1.25, (1.5, 3.5));
    let (end_x, end_y) = path[path.len() - 1];
    let text_y = (end_y + 8.0).max(frame.top + 8.0);
    pen.text("ideal", (end_x + 6.0, text_y), Align::Left, MUTED);
}

fn draw_line<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    (x, y): (&Tasks, &Values),
    plot: &CurvePlot,
    index: usize,
) {
    let line = &plot.lines[index];
    let colour = palette::series(index);
    // Lines stand side by side so that their whiskers do not hide each other.
    let nudge = (index as f64 - (plot.lines.len() - 1) as f64 / 2.0) * 4.0;
    let at = |tasks: u32, value: f64| {
        (inset(frame, x.share(f64::from(tasks))) + nudge, frame.y(y.share(value)))
    };
    let drawn = || line.points.iter().filter(|point| y.has_place(point.value));
    let path: Vec<_> = drawn().map(|point| at(point.tasks, point.value)).collect();
    let dash = if plot.lines.len() == 1 { None } else { DASHES[index % DASHES.len()] };
    match dash {
        Some(pattern) => pen.dashed(&path, colour, 1.5, pattern),
        None if path.len() > 1 => pen.line(&path, colour, 1.75),
        None => {}
    }
    for point in drawn() {
        if let Some((low, high)) = point.interval {
            whisker(pen, at(point.tasks, low), at(point.tasks, high), colour);
        }
        marker(pen, at(point.tasks, point.value), index, plot.lines.len() == 1);
    }
}

/// An interval: a vertical line with short caps.
pub(super) fn whisker<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    low: (f64, f64),
    high: (f64, f64),
    colour: RGBColor,
) {
    pen.line(&[low, high], colour, 1.25);
    for (x, y) in [low, high] {
        pen.line(&[(x - 3.0, y), (x + 3.0, y)], colour, 1.25);
    }
}

fn marker<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, at: (f64, f64), index: usize, alone: bool) {
    let colour = palette::series(index);
    match index % 4 {
        0 if !alone => pen.ring(at, 4.25, colour, SURFACE),
        0 | 1 => pen.disc(at, 4.0, colour, 1.0),
        2 => pen.diamond(at, 5.0, colour),
        _ => {
            pen.diamond(at, 5.0, colour);
            pen.diamond(at, 3.0, SURFACE);
        }
    }
}

/// Labels beside the last points, moved apart where they would touch.
fn draw_end_labels<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    (x, y): (&Tasks, &Values),
    plot: &CurvePlot,
    room: f64,
) {
    let ends = plot.lines.iter().enumerate().filter_map(|(index, line)| {
        let last = line.points.iter().rev().find(|point| y.has_place(point.value))?;
        let at = (inset(frame, x.share(f64::from(last.tasks))), frame.y(y.share(last.value)));
        Some((index, at))
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
    let heights = spread(ends.iter().map(|(_, at)| at.1), LINE_PX - 2.0, frame.bottom);
    for ((index, at), height) in ends.iter().zip(heights) {
        let label = fit(&plot.lines[*index].label, room);
        pen.text(&label, (at.0 + 12.0, height), Align::Left, palette::series(*index));
    }
}

/// Heights in ascending order, at least `gap` apart, none below `bottom`.
fn spread(heights: impl Iterator<Item = f64>, gap: f64, bottom: f64) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::new();
    for height in heights {
        let least = placed.last().map_or(f64::NEG_INFINITY, |last| last + gap);
        placed.push(height.max(least));
    }
    let mut limit = bottom;
    for height in placed.iter_mut().rev() {
        *height = height.min(limit);
        limit = *height - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_labels_keep_their_distance_and_stay_above_the_axis() {
        let placed = spread([10.0, 12.0, 98.0, 99.0].into_iter(), 14.0, 100.0);
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= 14.0), "{placed:?}");
        assert!(placed[3] <= 100.0 && placed[0] == 10.0);
    }
}
