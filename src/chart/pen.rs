//! Marks on any plotters backend, in CSS pixels: the one drawing code behind SVG and PNG.
//!
//! Coordinates are multiplied by [`FINE`] so that both backends, which know whole pixels only,
//! place marks to a quarter of one.

use plotters::backend::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

/// Device units per CSS pixel.
pub(super) const FINE: u32 = 4;

/// Font family of all text: a CSS generic in SVG, the embedded font in PNG.
pub(super) const FONT: &str = "sans-serif";

/// Size of labels, CSS pixels.
pub(super) const TEXT_PX: f64 = 12.0;

/// Where text stands relative to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// How a backend sets text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Type {
    /// Size handed to the backend for labels, CSS pixels.
    pub(super) size: f64,
    /// How much lower than asked for text must be placed to look centred.
    pub(super) drop: f64,
}

/// Draws on a backend; the first failure is kept and everything after it is skipped.
pub(super) struct Pen<'a, DB: DrawingBackend> {
    backend: &'a mut DB,
    set: Type,
    failed: Option<String>,
}

impl<'a, DB: DrawingBackend> Pen<'a, DB> {
    pub(super) fn new(backend: &'a mut DB, set: Type) -> Self {
        Pen { backend, set, failed: None }
    }

    /// Presents the drawing, or says what failed first.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.failed {
            Some(failure) => Err(failure),
            None => self.backend.present().map_err(|error| error.to_string()),
        }
    }

    fn draw<E: std::fmt::Display>(&mut self, mark: impl FnOnce(&mut DB) -> Result<(), E>) {
        if self.failed.is_none() {
            self.failed = mark(self.backend).err().map(|error| error.to_string());
        }
    }

    /// A polyline.
    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: RGBColor, width: f64) {
        let path: Vec<_> = points.iter().map(|p| device(*p)).collect();
        let style = ShapeStyle {
            color: colour.to_rgba(),
            filled: false,
            stroke_width: (width * f64::from(FINE)).round() as u32,
        };
        self.draw(|backend| backend.draw_path(path, &style));
    }

    /// A polyline of dashes `on` long with gaps `off` long, continued around corners.
    pub(super) fn dashed(
        &mut self,
        points: &[(f64, f64)],
        colour: RGBColor,
        width: f64,
        (on, off): (f64, f64),
    ) {
        for dash in dashes(points, on, off) {
            self.line(&dash, colour, width);
        }
    }

    /// A filled rectangle.
    pub(super) fn fill(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBColor, alpha: f64) {
        let style = ShapeStyle { color: colour.mix(alpha), filled: true, stroke_width: 0 };
        self.draw(|backend| backend.draw_rect(device(from), device(to), &style, true));
    }

    /// A disc.
    pub(super) fn disc(&mut self, at: (f64, f64), radius: f64, colour: RGBColor, alpha: f64) {
        let style = ShapeStyle { color: colour.mix(alpha), filled: true, stroke_width: 0 };
        let radius = (radius * f64::from(FINE)).round() as u32;
        self.draw(|backend| backend.draw_circle(device(at), radius, &style, true));
    }

    /// A ring whose inside hides what is beneath it.
    pub(super) fn ring(&mut self, at: (f64, f64), radius: f64, colour: RGBColor, inside: RGBColor) {
        self.disc(at, radius, colour, 1.0);
        self.disc(at, radius - 1.5, inside, 1.0);
    }

    /// A diamond.
    pub(super) fn diamond(&mut self, (x, y): (f64, f64), radius: f64, colour: RGBColor) {
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
        let style = ShapeStyle { color: colour.to_rgba(), filled: true, stroke_width: 0 };
        self.draw(|backend| backend.fill_polygon(corners.map(device), &style));
    }

    /// One line of text, vertically centred on `at`.
    pub(super) fn text(&mut self, text: &str, at: (f64, f64), align: Align, colour: RGBColor) {
        let h_pos = match align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        let size = self.set.size * f64::from(FINE);
        let at = (at.0, at.1 + self.set.drop);
        let font = plotters::style::FontDesc::new(FontFamily::Name(FONT), size, FontStyle::Normal);
        let style: TextStyle<'_> =
            TextStyle::from(font).color(&colour).pos(Pos::new(h_pos, VPos::Center));
        self.draw(|backend| backend.draw_text(text, &style, device(at)));
    }
}

/// Width of a text at the size of labels, CSS pixels; an estimate that errs to the wide side.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii_punctuation() || c == ' ' { 0.4 } else { 0.6 }).sum::<f64>()
        * TEXT_PX
}

/// `text` cut to `width` pixels, with an ellipsis where it was cut.
pub(super) fn fit(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if text_width(&kept) + TEXT_PX > width {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

fn device((x, y): (f64, f64)) -> (i32, i32) {
    ((x * f64::from(FINE)).round() as i32, (y * f64::from(FINE)).round() as i32)
}

/// The pieces of a polyline that a dash pattern leaves.
fn dashes(points: &[(f64, f64)], on: f64, off: f64) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let mut current: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            length -= left;
            current.push(from);
            if drawing {
                pieces.push(std::mem::take(&mut current));
            }
            current = vec![from];
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length;
        current.push(to);
    }
    if drawing && current.len() > 1 {
        pieces.push(current);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_of_a_line_and_turn_corners() {
        let pieces = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], 4.0, 4.0);
        let length: f64 = pieces
            .iter()
            .flat_map(|piece| piece.windows(2))
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1))
            .sum();
        assert_eq!(pieces.len(), 3);
        assert!((length - 12.0).abs() < 1e-9);
        assert_eq!(pieces[1], [(8.0, 0.0), (10.0, 0.0), (10.0, 2.0)]);
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(fit("short", 100.0), "short");
        let cut = fit("a label that has no room at all", 60.0);
        assert!(cut.ends_with('…') && text_width(&cut) <= 60.0 + TEXT_PX);
    }
}
