//! Plots as inline SVG: `role="img"` with the sentence as its label, a view box instead of a fixed
//! size, no style attribute, colours of the light palette for `app.css` to map.

use plotters::backend::SVGBackend;

use super::pen::{FINE, Pen, TEXT_PX, Type};
use super::{ComparePlot, CurvePlot, HistoryPlot, Mark, Size, StripPlot, TopologyPlot};

/// The backend takes the height of a line, 1.24 em.
const TYPE: Type = Type { size: TEXT_PX * 1.24, drop: 0.0 };

/// A metric against tasks.
pub fn curve(plot: &CurvePlot, size: Size) -> String {
    let marks = super::curve::marks(plot, size);
    drawn(size, &plot.sentence(), &marks, |pen| super::curve::draw(pen, plot, size))
}

/// A metric against revisions.
pub fn history(plot: &HistoryPlot, size: Size) -> String {
    let marks = super::history::marks(plot, size);
    drawn(size, &plot.sentence(), &marks, |pen| super::history::draw(pen, plot, size))
}

/// head ÷ base, one row a point; as high as its rows need.
pub fn compare(plot: &ComparePlot, width: u32) -> String {
    let size = super::compare::size(plot, width);
    drawn(size, &plot.sentence(), &[], |pen| super::compare::draw(pen, plot, size))
}

/// Every sample of every point; as high as its rows need.
pub fn strip(plot: &StripPlot, width: u32) -> String {
    let size = super::strip::size(plot, width);
    drawn(size, &plot.sentence(), &[], |pen| super::strip::draw(pen, plot, size))
}

/// Sockets, NUMA nodes, cores and threads; as high as they need. Only for what is drawable.
pub fn topology(plot: &TopologyPlot, width: u32) -> String {
    let size = super::topology::size(plot, width);
    drawn(size, &plot.sentence(), &[], |pen| super::topology::draw(pen, plot, size))
}

fn drawn(
    size: Size,
    sentence: &str,
    marks: &[Mark],
    draw: impl FnOnce(&mut Pen<'_, SVGBackend<'_>>),
) -> String {
    let mut text = String::new();
    {
        let fine = (size.width * FINE, size.height * FINE);
        let mut backend = SVGBackend::with_string(&mut text, fine);
        let mut pen = Pen::new(&mut backend, TYPE);
        draw(&mut pen);
        pen.finish().expect("drawing into a String cannot fail");
    }
    finished(&text, size, sentence, marks)
}

/// The drawing with its own opening tag, and without what every mark repeats.
fn finished(text: &str, size: Size, sentence: &str, marks: &[Mark]) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let body = body
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
        .replace(" font-family=\"sans-serif\"", "");
    let sentence = escaped(sentence);
    let (width, height) = (size.width, size.height);
    let (fine_width, fine_height) = (width * FINE, height * FINE);
    let marks = listed(marks);
    format!(
        "<svg class=\"plot\" role=\"img\" aria-label=\"{sentence}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {fine_width} {fine_height}\" \
         font-family=\"sans-serif\" xmlns=\"http://www.w3.org/2000/svg\"{marks}>\
         <title>{sentence}</title>{body}"
    )
}

/// The points for the script, as an attribute: `[[x, key, words], …]`.
fn listed(marks: &[Mark]) -> String {
    if marks.is_empty() {
        return String::new();
    }
    let tenths = |x: f64| (x * 10.0).round() / 10.0;
    let list: Vec<_> = marks.iter().map(|mark| (tenths(mark.x), &mark.key, &mark.words)).collect();
    let list = serde_json::to_string(&list).expect("numbers and texts are JSON");
    format!(" data-marks=\"{}\"", escaped(&list))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::{
        Band, CompareRow, CurveLine, CurvePoint, HistoryColumn, HistoryDot, Level, StripRow, png,
    };
    use super::*;

    const SIZE: Size = Size { width: 640, height: 320 };

    fn a_curve(labels: &[&str]) -> CurvePlot {
        let line = |(index, label): (usize, &&str)| CurveLine {
            label: (*label).into(),
            points: [1, 2, 4, 8, 16, 64]
                .into_iter()
                .map(|tasks| {
                    let value = 295e3 / f64::from(tasks).powf(0.1) * (1.0 - 0.06 * index as f64);
                    CurvePoint { tasks, value, interval: Some((value * 0.97, value * 1.02)) }
                })
                .collect(),
        };
        CurvePlot {
            y_title: "ops/s, higher is better".into(),
            lines: labels.iter().enumerate().map(line).collect(),
            topology: vec![(32, "cores full".into()), (64, "SMT".into())],
            ideal: Some(295e3),
            laws: vec![(0, a_law())],
            log: false,
        }
    }

    fn a_law() -> crate::chart::FittedLaw {
        let law = stats::curve::Law { one: 295e3, contention: 0.9, coherency: 0.001 };
        crate::chart::FittedLaw { law, knee: law.knee(), peak: law.peak() }
    }

    fn a_history() -> HistoryPlot {
        let column = |index: usize| {
            let value = if index < 14 { 103e3 } else { 91e3 } + (index * 7919 % 13) as f64 * 150.0;
            let dot = HistoryDot { value, interval: Some((value - 900.0, value + 700.0)) };
            HistoryColumn {
                commit: format!("{:010x}", index * 123_456_789),
                date: index.is_multiple_of(5).then(|| format!("2026-02-{:02}", index + 1)),
                dots: if index == 9 { vec![] } else { vec![dot.clone(), dot] },
                failed: usize::from(index == 9),
            }
        };
        HistoryPlot {
            y_title: "ops/s at 16 tasks, higher is better".into(),
            columns: (0..24).map(column).collect(),
            levels: vec![
                Level { from: 0, to: 13, value: 103.9e3 },
                Level { from: 14, to: 23, value: 91.8e3 },
            ],
            bands: vec![Band {
                from: 13,
                to: 14,
                label: "incident 3, −11.8 %".into(),
                worse: true,
            }],
            environments: vec![(6, "kernel.release 6.9 → 6.10".into())],
        }
    }

    fn a_comparison() -> ComparePlot {
        let row = |(tasks, ratio, worse)| CompareRow {
            label: format!("{tasks} tasks"),
            ratio: Some((ratio, ratio * 0.985, ratio * 1.014)),
            noise_floor: 0.012,
            worse,
            note: crate::format::change(ratio),
        };
        ComparePlot {
            title: "head ÷ base, ops/s, higher is better".into(),
            rows: [(1, 1.163, Some(false)), (8, 1.003, None), (80, 0.974, Some(true))]
                .map(row)
                .into(),
        }
    }

    fn a_strip() -> StripPlot {
        let row = |tasks: u32| StripRow {
            label: format!("{tasks} tasks"),
            values: (0..20).map(|i| 1e5 + f64::from(i * 37 % 11 * 90 * tasks)).collect(),
        };
        StripPlot {
            title: "ops/s, relative to the point's median".into(),
            rows: vec![row(1), row(2), row(8)],
        }
    }

    #[test]
    fn every_plot_is_an_image_with_a_sentence_and_no_style() {
        let drawings = [
            curve(&a_curve(&["base", "head"]), SIZE),
            history(&a_history(), SIZE),
            compare(&a_comparison(), 640),
            strip(&a_strip(), 640),
        ];
        for drawing in drawings {
            assert!(drawing.starts_with("<svg class=\"plot\" role=\"img\" aria-label=\""));
            assert!(drawing.contains("<title>") && drawing.trim_end().ends_with("</svg>"));
            assert!(!drawing.contains("style=") && !drawing.contains("NaN"), "{drawing}");
        }
    }

    #[test]
    fn labels_from_outside_cannot_become_markup() {
        let mut plot = a_curve(&["<script>alert(1)</script>\"", "head"]);
        plot.topology = vec![(64, "<b>&".into())];
        let drawing = curve(&plot, SIZE);
        assert!(!drawing.contains("<script") && !drawing.contains("<b>"), "{drawing}");
    }

    #[test]
    fn nothing_one_and_what_is_not_finite_can_be_drawn() {
        let one = |value| CurvePlot {
            lines: vec![CurveLine {
                label: "only".into(),
                points: vec![CurvePoint { tasks: 1, value, interval: None }],
            }],
            ..CurvePlot::default()
        };
        for plot in [CurvePlot::default(), one(0.0), one(-3.0), one(f64::NAN), one(1e300)] {
            assert!(!curve(&plot, SIZE).contains("NaN"), "{plot:?}");
        }
        let empty_column = HistoryPlot {
            columns: vec![HistoryColumn { failed: 1, ..HistoryColumn::default() }],
            ..HistoryPlot::default()
        };
        for plot in [HistoryPlot::default(), empty_column] {
            assert!(!history(&plot, SIZE).contains("NaN"), "{plot:?}");
        }
        let no_ratio = ComparePlot {
            rows: vec![CompareRow {
                label: "1 task".into(),
                ratio: None,
                noise_floor: 0.0,
                worse: None,
                note: "not comparable".into(),
            }],
            ..ComparePlot::default()
        };
        assert!(compare(&no_ratio, 640).contains("not comparable"));
        let zeros = StripRow { label: "1 task".into(), values: vec![0.0, 0.0] };
        assert!(
            strip(&StripPlot { rows: vec![zeros], ..StripPlot::default() }, 640).contains("1 task")
        );
    }

    #[test]
    fn a_plot_for_mail_is_a_png_of_twice_its_size() {
        let file = png::curve(&a_curve(&["05c2c00f37", "8a1f0c2d3e"]), png::MAIL);
        let mut decoder = ::png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        let mut pixels = vec![0; decoder.output_buffer_size()];
        let frame = decoder.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height), (2 * png::MAIL.width, 2 * png::MAIL.height));
        let has = |colour: [u8; 3]| pixels.as_chunks::<3>().0.contains(&colour);
        assert!(has([0x00, 0x68, 0xa6]) && has([0xc2, 0x4e, 0x00]), "both lines are there");
    }
}
