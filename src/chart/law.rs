//! A fitted law of scaling under its line: thin dots along it, a tick at the knee, a diamond at the
//! peak, where they lie among the measured task counts.

use plotters::backend::DrawingBackend;

use super::FittedLaw;
use super::curve::inset;
use super::frame::Frame;
use super::palette;
use super::pen::{Align, Pen, text_width};
use super::scale::{Tasks, Values};

/// Segments of the drawn path.
const STEPS: i32 = 64;

impl FittedLaw {
    /// A fit as it is drawn: knee and peak only where something was measured.
    pub fn of(fit: &stats::curve::Fit) -> FittedLaw {
        let measured = |tasks: &f64| *tasks <= f64::from(fit.largest);
        let (knee, peak) = (fit.law.knee().filter(measured), fit.law.peak().filter(measured));
        FittedLaw { law: fit.law, knee, peak }
    }
}

/// Draws the law of line `index` over the measured task counts.
pub(super) fn draw<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    frame: &Frame,
    (x, y): (&Tasks, &Values),
    (index, fitted): (usize, &FittedLaw),
    counts: &[u32],
) {
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else { return };
    let (first, last) = (f64::from(*first), f64::from(*last));
    let at = |tasks: f64| {
        let height = y.share(fitted.law.throughput(tasks)).clamp(0.0, 1.0);
        (inset(frame, x.share(tasks)), frame.y(height))
    };
    let colour = palette::series(index);
    let path: Vec<_> = (0..=STEPS)
        .map(|i| at(first * (last / first).powf(f64::from(i) / f64::from(STEPS))))
        .collect();
    pen.dashed(&path, colour, 1.0, (1.5, 2.5));
    let inside = |tasks: Option<f64>| tasks.filter(|tasks| (first..=last).contains(tasks));
    if let Some(tasks) = inside(fitted.peak) {
        let (x, y) = at(tasks);
        pen.diamond((x, y), 4.0, colour);
        let text = format!("peak {tasks:.0}");
        let half = text_width(&text) / 2.0;
        let centre = x.clamp(frame.left + half, (frame.right - half).max(frame.left + half));
        pen.text(&text, (centre, (y - 14.0).max(frame.top + 6.0)), Align::Centre, colour);
    }
    if let Some(tasks) = inside(fitted.knee) {
        let (x, y) = at(tasks);
        pen.line(&[(x, y - 6.0), (x, y + 6.0)], colour, 1.5);
        // Below and to the right of a curve that rises there is room.
        pen.text(&format!("knee {tasks:.0}"), (x + 7.0, y + 11.0), Align::Left, colour);
    }
}
