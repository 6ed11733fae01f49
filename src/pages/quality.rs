//! `/alert-quality?project=`: how many of the alerts were real, by rule, machine and workload, from
//! what people decided about incidents.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::format;
use crate::model::quality::{Grouping, LEAST_DECIDED, Quality};

/// What can be chosen in the address.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    project: Option<String>,
}

/// The alerts of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityRow {
    /// Rule, machine or workload.
    pub name: String,
    /// Real changes.
    pub real: i64,
    /// False alarms.
    pub false_alarms: i64,
    /// Not decided.
    pub open: i64,
    /// Share of real ones with its interval, or why there is none.
    pub precision: String,
}

impl QualityRow {
    fn new(quality: &Quality) -> QualityRow {
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        QualityRow {
            name: quality.name.clone(),
            real: quality.real,
            false_alarms: quality.false_alarms,
            open: quality.open,
            precision: match quality.precision() {
                Some((share, low, high)) => {
                    format!("{} % ({} to {} %)", percent(share), percent(low), percent(high))
                }
                None => {
                    let decided = quality.real + quality.false_alarms;
                    format!("not enough data: {decided} of {LEAST_DECIDED} decisions")
                }
            },
        }
    }
}

/// The groups of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityTable {
    /// Id of the section.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Heading of the first column.
    pub of: &'static str,
    /// By name.
    pub rows: Vec<QualityRow>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/quality.html")]
pub struct QualityView {
    /// Frame.
    pub layout: Layout,
    /// The project it is of; none: every one that is visible.
    pub project: Option<String>,
    /// All alerts together; none where there is none.
    pub all: Option<QualityRow>,
    /// The same told apart.
    pub tables: Vec<QualityTable>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Html<String>, Failure> {
    shown(&view(&app, &visitor, choice.project.filter(|name| !name.is_empty())).await?)
}

async fn view(app: &App, visitor: &Visitor, project: Option<String>) -> Result<QualityView> {
    let id = match &project {
        None => None,
        Some(name) => {
            let found = db::project::find_by_name(&app.db, name).await?;
            let found = found.ok_or(Error::NotFound("project"))?;
            visitor.viewer.sees(found.id, "project")?;
            Some(found.id)
        }
    };
    let groups = db::quality::list(&app.db, visitor.viewer.visible(), id).await?;
    let rows = |grouping| -> Vec<QualityRow> {
        groups.iter().filter(|one| one.grouping == grouping).map(QualityRow::new).collect()
    };
    let table = |(grouping, title, of): (Grouping, _, _)| QualityTable {
        id: grouping.word(),
        title,
        of,
        rows: rows(grouping),
    };
    let tables = [
        (Grouping::Rule, "By the line that decided", "rule"),
        (Grouping::Machine, "By machine", "machine"),
        (Grouping::Workload, "By workload", "workload"),
    ];
    Ok(QualityView {
        layout: Layout::new("Alert quality", Section::Incidents).seen_by(visitor),
        project,
        all: rows(Grouping::All).into_iter().next(),
        tables: tables.map(table).into(),
    })
}

impl QualityView {
    /// `12 incidents decided, 3 open`.
    fn words(&self) -> String {
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        self.all.as_ref().map_or_else(String::new, |all| {
            let decided = format::count(count(all.real + all.false_alarms), "incident");
            format!("{decided} decided, {} open", all.open)
        })
    }
}
