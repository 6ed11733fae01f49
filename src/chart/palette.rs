//! The light palette. SVG is drawn with exactly these colours, and `static/app.css` maps each of
//! them to its dark partner by attribute selectors; so a colour used here needs its line there.

use plotters::style::RGBColor;

/// Text and marks.
pub(super) const INK: RGBColor = RGBColor(0x1b, 0x1d, 0x20);
/// Axis labels and hints.
pub(super) const MUTED: RGBColor = RGBColor(0x57, 0x5d, 0x64);
/// Grid lines.
pub(super) const RULE: RGBColor = RGBColor(0xda, 0xdd, 0xe1);
/// What plots are drawn on, and the inside of hollow markers.
pub(super) const SURFACE: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// A change for the worse.
pub(super) const REGRESSION: RGBColor = RGBColor(0xb3, 0x26, 0x1e);
/// A change for the better.
pub(super) const IMPROVEMENT: RGBColor = RGBColor(0x1a, 0x6b, 0x3a);
/// Changes of the environment.
pub(super) const ENVIRONMENT: RGBColor = RGBColor(0x4b, 0x55, 0xa3);
/// The noise floor's band.
pub(super) const NOISE: RGBColor = RGBColor(0xe9, 0xeb, 0xee);

/// Lines in order: base is the first, head the second.
const SERIES: [RGBColor; 7] = [
    RGBColor(0x00, 0x68, 0xa6),
    RGBColor(0xc2, 0x4e, 0x00),
    RGBColor(0x00, 0x79, 0x5a),
    RGBColor(0xa8, 0x46, 0x7f),
    RGBColor(0x8a, 0x61, 0x00),
    RGBColor(0x5b, 0x4f, 0xc4),
    RGBColor(0x56, 0x60, 0x6a),
];

/// Colour of line `index`; the palette starts again after seven.
pub(super) fn series(index: usize) -> RGBColor {
    SERIES[index % SERIES.len()]
}
