//! Folded stacks → a flame graph or the difference of two, as SVG without scripts, by inferno.

use inferno::flamegraph::{self, Options};

/// Width of a graph, pixels.
const WIDTH: usize = 1200;

/// One profile: the width of a frame is its share of the samples. None where nothing can be drawn.
pub fn graph(folded: &str, title: &str) -> Option<String> {
    let mut options = options(title);
    options.hash = true;
    render(options, folded)
}

/// Two profiles: width is the share of the samples after; red took a larger share than before, blue
/// a smaller one. None where a side has nothing to draw.
pub fn difference(before: &str, after: &str, title: &str) -> Option<String> {
    if before.trim().is_empty() || after.trim().is_empty() {
        return None;
    }
    let normalise = inferno::differential::Options { normalize: true, strip_hex: false };
    let mut lines = Vec::new();
    inferno::differential::from_readers(normalise, before.as_bytes(), after.as_bytes(), &mut lines)
        .ok()?;
    render(options(title), &String::from_utf8(lines).ok()?)
}

fn options(title: &str) -> Options<'static> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.image_width = Some(WIDTH);
    options.font_type = "sans-serif".into();
    options.no_javascript = true;
    options.deterministic = true;
    options
}

fn render(mut options: Options<'_>, lines: &str) -> Option<String> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines, &mut svg).ok()?;
    // What serves the script that was left out.
    let svg = String::from_utf8(svg).ok()?.replacen(r#" onload="init(evt)""#, "", 1);
    Some(without(&without(&svg, "<script", "</script>"), r#"<text id="search""#, "</text>"))
}

/// The text without its first part from `begin` to `end`.
fn without(text: &str, begin: &str, end: &str) -> String {
    let cut = text.split_once(begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(end)?;
        Some(format!("{before}{after}"))
    });
    cut.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_named_with_their_share_and_nothing_in_it_runs() {
        let svg = graph("t;open64;<script>alert(1)</script> 30\nt;spin 70\n", "a <b>").unwrap();
        assert!(svg.contains("spin (70 samples, 70.00%)"), "{svg}");
        assert!(!svg.contains("<script") && !svg.contains("onload"), "{svg}");
        assert!(svg.contains("a &lt;b&gt;"), "{svg}");
        assert_eq!(graph("", "nothing"), None);
        assert_eq!(graph("no number", "nonsense"), None);
    }

    #[test]
    fn a_difference_is_one_of_shares() {
        let svg = difference("t;a 500\nt;b 500\n", "t;a 9\nt;b 1\n", "moved").unwrap();
        assert!(svg.contains("a (9 samples, 90.00%; +40.00%)"), "{svg}");
        assert_eq!(difference("", "t;a 9\n", "one side"), None);
    }
}
