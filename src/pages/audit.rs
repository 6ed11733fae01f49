//! `/admin/audit`: what was done, by whom and from where.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section, When};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::person::Deed;

/// Lines on one page.
const SHOWN: i64 = 100;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeedRow {
    /// When.
    pub at: When,
    /// Who.
    pub who: String,
    /// Where from.
    pub origin: String,
    /// What.
    pub what: String,
    /// To whom or what.
    pub about: String,
    /// What changed, in words.
    pub change: String,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/audit.html")]
pub struct AuditView {
    /// Frame.
    pub layout: Layout,
    /// The newest first.
    pub rows: Vec<DeedRow>,
    /// Address of the lines before these.
    pub older: Option<String>,
}

/// Where the page begins.
#[derive(Debug, Deserialize)]
pub struct Before {
    before: Option<String>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(before): Query<Before>,
) -> Result<Html<String>, Failure> {
    visitor.viewer.require_site_admin()?;
    let before = before.before.map(|text| {
        let problem = |_| Error::query("before", format!("`{text}` is not the number of a line"));
        text.parse::<i64>().map_err(problem)
    });
    let mut deeds = db::audit::list(&app.db, before.transpose()?, SHOWN + 1).await?;
    let more = deeds.len() as i64 > SHOWN;
    deeds.truncate(SHOWN as usize);
    let now = app.clock.now();
    let last = deeds.last().filter(|_| more);
    shown(&AuditView {
        layout: Layout::new("What was done", Section::None).seen_by(&visitor),
        older: last.map(|deed| format!("/admin/audit?before={}", deed.id)),
        rows: deeds.into_iter().map(|deed| row(deed, now)).collect(),
    })
}

fn row(deed: Deed, now: OffsetDateTime) -> DeedRow {
    DeedRow {
        at: When::new(deed.at, now),
        who: deed.who,
        origin: deed.origin,
        what: deed.what.replace('_', " "),
        about: deed.about,
        change: match (deed.was, deed.became) {
            (None, None) => String::new(),
            (None, Some(became)) => words(&became),
            (Some(was), None) => format!("was {}", words(&was)),
            (Some(was), Some(became)) => format!("{} → {}", words(&was), words(&became)),
        },
    }
}

/// `project linux, role triager`.
fn words(value: &Value) -> String {
    let Value::Object(fields) = value else { return value.to_string() };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let field =
        |(key, value): (&String, &Value)| format!("{} {}", key.replace('_', " "), text(value));
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}
