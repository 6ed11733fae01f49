//! Plots as PNG for mails, which show no SVG: drawn twice as fine as they are kept, so that edges
//! are smooth, and kept at two device pixels a CSS pixel.

use std::sync::Once;

use plotters::backend::BitMapBackend;
use plotters::style::{FontStyle, register_font};

use super::pen::{FINE, FONT, Pen, Type};
use super::{CurvePlot, Size};

/// Size of a plot in a mail, CSS pixels.
pub const MAIL: Size = Size { width: 560, height: 300 };

/// The embedded font runs wide: 10.6 px of it take the room of [`super::pen::TEXT_PX`] elsewhere.
const TYPE: Type = Type { size: 12.3, drop: 1.6 };

/// Device pixels a CSS pixel in the file.
const KEPT: u32 = 2;

/// A metric against tasks, as a PNG file.
pub fn curve(plot: &CurvePlot, size: Size) -> Vec<u8> {
    let fine = (size.width * FINE, size.height * FINE);
    let mut pixels = vec![0xff_u8; fine.0 as usize * fine.1 as usize * 3];
    register_embedded_font();
    {
        let mut backend = BitMapBackend::with_buffer(&mut pixels, fine);
        let mut pen = Pen::new(&mut backend, TYPE);
        super::curve::draw(&mut pen, plot, size);
        pen.finish().expect("the buffer fits the size and the font is registered");
    }
    encoded(&halved(&pixels, fine), (size.width * KEPT, size.height * KEPT))
}

fn register_embedded_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let font = include_bytes!("../../static/fonts/DejaVuSans-latin.ttf");
        let registered = register_font(FONT, FontStyle::Normal, font);
        assert!(registered.is_ok(), "the embedded font is a font");
    });
}

/// Each pixel the mean of four.
fn halved(pixels: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let row = width as usize * 3;
    let mut half = Vec::with_capacity(pixels.len() / 4);
    for y in (0..height as usize).step_by(2) {
        for x in (0..row).step_by(6) {
            for channel in 0..3 {
                let at = y * row + x + channel;
                let sum: u32 = [at, at + 3, at + row, at + row + 3]
                    .iter()
                    .map(|i| u32::from(pixels[*i]))
                    .sum();
                half.push(((sum + 2) / 4) as u8);
            }
        }
    }
    half
}

fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, width, height);
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("writing to memory cannot fail");
    writer.write_image_data(pixels).expect("the buffer is width × height pixels");
    writer.finish().expect("writing to memory cannot fail");
    file
}
