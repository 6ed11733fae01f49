//! Names that somebody chose to break pages: every page that is linked stands, shows them, and obeys
//! none.

use std::collections::BTreeSet;

use axum::http::header;
use scalewatch::db::Pool;

use super::read::read;
use crate::support::Service;
use crate::support::history::{FAST, SLOW, a_run, work};

/// Markup, quotes, right to left with an override, as long as may be, outside the basic plane, and
/// what an address or a query would take for its own.
fn names() -> Vec<String> {
    vec![
        "<script>alert('x')</script>".into(),
        "\"><img src=x onerror=alert(1)>'`".into(),
        "\u{202e}\u{645}\u{631}\u{62d}\u{628}\u{627}".into(),
        "x".repeat(200),
        "🐢🔥👩‍💻".into(),
        "a/b?c=d&e=f#g%20h+i;{{ j }}".into(),
    ]
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn no_name_breaks_a_page_or_becomes_markup(pool: Pool) {
    let service = Service::on(pool);
    for name in names() {
        let machine = service.registered(&name).await;
        for position in 1..=11 {
            let level = if position < 7 { FAST } else { SLOW };
            let hostile = |report: &mut wire::Report| {
                report.project.name = name.clone();
                report.revision.branch = name.clone();
                report.revision.subject = name.clone();
                report.environment.0.insert("x".into(), format!("{name}{}", position / 7));
                for point in &mut report.points {
                    point.workload = name.clone();
                    point.parameters.insert("p".into(), name.clone());
                }
            };
            service.accept(&machine, &a_run(&machine, position, level).with(hostile).build()).await;
        }
    }
    work(&service.app).await;

    let mut seen = BTreeSet::new();
    let mut to_read: Vec<String> =
        ["/", "/incidents?state=all", "/alert-quality", "/jobs"].map(str::to_owned).into();
    let mut shown = String::new();
    while let Some(address) = to_read.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let answer = service.get(&address).await;
        assert_eq!(answer.status, 200, "{address}: {}", answer.text());
        if !answer.headers[header::CONTENT_TYPE].as_bytes().starts_with(b"text/html") {
            continue;
        }
        let html = answer.text();
        for markup in ["<script>", "<img src=x", "onerror=alert(1)>"] {
            assert!(!html.contains(markup), "{markup} in {address}");
        }
        let page = read(&html);
        shown += &page.text;
        let links = page.links.iter().filter_map(|link| link.split('#').next());
        to_read.extend(links.filter(|link| !link.is_empty()).map(str::to_owned));
    }
    assert!(seen.len() > 100, "only {} pages were read", seen.len());
    for name in names() {
        assert!(shown.contains(&name), "{name} is shown");
    }
}
