//! Every view with nothing, one and many of everything, and with markup in every text.

mod accounts;
mod curves;
mod incidents;
mod overview;
mod runs;
mod sample;

use askama::Template;

use sample::Sample;

const MARKUP: &str = "<script>alert(\"x\")</script>&'";

#[test]
fn every_page_renders_with_nothing_one_and_many() {
    for n in [0, 1, 7] {
        for (name, html) in every_page(Sample(n, "plain")) {
            assert_well_formed(name, &html);
            assert!(html.contains("plain"), "{name}");
        }
    }
}

#[test]
fn markup_in_any_text_is_shown_and_never_obeyed() {
    for (name, html) in every_page(Sample(2, MARKUP)) {
        assert_well_formed(name, &html);
        assert!(!html.contains("<script>"), "{name}");
        assert!(html.contains("&#60;script&#62;"), "{name} shows it");
    }
}

/// Tags that are opened are closed; tables have captions and headers scopes; ids are unique;
/// nothing needs a style attribute.
fn assert_well_formed(name: &str, html: &str) {
    for tag in ["table", "tr", "section", "details", "figure", "svg", "form", "main", "ul"] {
        let opened =
            html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "<{tag}> in {name}");
    }
    assert_eq!(html.matches("<table").count(), html.matches("<caption").count(), "{name}");
    assert_eq!(
        html.matches("<th ").count() + html.matches("<th>").count(),
        html.matches("scope=\"").count(),
        "{name}"
    );
    assert!(!html.contains("style="), "{name}");
    let mut ids: Vec<_> =
        html.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(all, ids.len(), "{name} repeats an id");
    assert!(html.contains("<main id=\"content\">") && html.contains("href=\"#content\""), "{name}");
}

fn every_page(sample: Sample<'_>) -> Vec<(&'static str, String)> {
    let rendered = |view: &dyn askama::DynTemplate| view.dyn_render().expect("the view renders");
    vec![
        ("overview", rendered(&sample.overview())),
        ("curves", rendered(&sample.curves())),
        ("curve", rendered(&sample.curve())),
        ("compare", rendered(&sample.compare())),
        ("incidents", rendered(&sample.incidents())),
        ("incident", rendered(&sample.incident())),
        ("quality", rendered(&sample.quality())),
        ("why", rendered(&sample.why())),
        ("machine", rendered(&sample.machine())),
        ("branches", rendered(&sample.branches())),
        ("revision", rendered(&sample.revision())),
        ("jobs", rendered(&sample.jobs())),
        ("job", rendered(&sample.job())),
        ("project compare", rendered(&sample.project_compare())),
        ("run", rendered(&sample.run())),
        ("search", rendered(&sample.search())),
        ("api", rendered(&sample.api())),
        ("login", rendered(&sample.login())),
        ("going", rendered(&sample.going())),
        ("welcome", rendered(&sample.welcome())),
        ("account", rendered(&sample.account())),
        ("people", rendered(&sample.people())),
        ("audit", rendered(&sample.audit())),
        ("failure", sample.failure().render().expect("the view renders")),
    ]
}
