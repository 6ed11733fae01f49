//! Flame graphs as SVG by inferno, without scripts: they are read in a document as in a page.

use anyhow::{Context, ensure};
use inferno::flamegraph::{self, Options};

use super::Folded;

/// Width of a graph, pixels.
const WIDTH: usize = 1200;

/// One profile: width is the share of samples.
///
/// # Errors
/// When the profile holds no sample.
pub fn graph(profile: &Folded, title: &str) -> anyhow::Result<String> {
    ensure!(profile.samples() > 0, "there is no sample to draw");
    let mut options = options(title);
    options.hash = true;
    render(options, &profile.text())
}

/// Two profiles, each pair of one point: width is the share of the head's samples, red what has a
/// larger share there than in the base, blue what has a smaller one. Each base is scaled to its head.
///
/// # Errors
/// When no pair has samples on both sides.
pub fn difference(
    pairs: &[(Option<&str>, &Folded, &Folded)],
    title: &str,
) -> anyhow::Result<String> {
    let mut lines = String::new();
    for (root, base, head) in pairs.iter().filter(|(_, b, h)| b.samples() * h.samples() > 0) {
        let mut sides = [Folded::default(), Folded::default()];
        sides[0].add_all(base, *root);
        sides[1].add_all(head, *root);
        let [base, head] = sides.map(|side| side.text());
        let mut text = Vec::new();
        let normalise = inferno::differential::Options { normalize: true, strip_hex: false };
        inferno::differential::from_readers(normalise, base.as_bytes(), head.as_bytes(), &mut text)
            .context("the profiles cannot be held together")?;
        lines.push_str(&String::from_utf8_lossy(&text));
    }
    ensure!(!lines.is_empty(), "no point has samples on both sides");
    render(options(title), &lines)
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

fn render(mut options: Options<'_>, lines: &str) -> anyhow::Result<String> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines, &mut svg).context("the graph cannot be drawn")?;
    let svg = String::from_utf8(svg).context("the graph is no text")?;
    // What serves the script that was left out.
    let svg = svg.replacen(r#" onload="init(evt)""#, "", 1);
    Ok(without(&without(&svg, "<script", "</script>"), r#"<text id="search""#, "</text>"))
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

    fn folded(text: &str) -> Folded {
        Folded::parse(text).expect("folded stacks")
    }

    #[test]
    fn a_graph_names_every_wide_frame_and_runs_no_script() {
        let svg =
            graph(&folded("task;open64;do_filp_open 30\ntask;spin 70\n"), "file/open").unwrap();
        for word in ["file/open", "do_filp_open (30 samples, 30.00%)", "spin (70 samples, 70.00%)"]
        {
            assert!(svg.contains(word), "no {word} in {svg}");
        }
        assert!(!svg.contains("<script") && !svg.contains("onload"));
        assert!(graph(&Folded::default(), "nothing").is_err());
    }

    #[test]
    fn a_difference_shows_shares_however_long_each_side_was_watched() {
        let (base, head) = (folded("t;a 500\nt;b 500\n"), folded("t;a 5\nt;b 5\n"));
        let alike = difference(&[(None, &base, &head)], "same").unwrap();
        assert!(alike.contains("a (5 samples, 50.00%; 0.00%)"), "{alike}");
        let moved =
            difference(&[(Some("x 2 tasks"), &base, &folded("t;a 9\nt;b 1\n"))], "m").unwrap();
        assert!(moved.contains("a (9 samples, 90.00%; +40.00%)"), "{moved}");
        assert!(moved.contains("x 2 tasks"), "{moved}");
        assert!(difference(&[(None, &base, &Folded::default())], "none").is_err());
    }
}
