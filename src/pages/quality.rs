//! `/alert-quality`: how often incidents were right, by rule, machine and workload.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::detect::quality;
use crate::model::quality::{ENOUGH, Group, Tally};

/// Incidents with something in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityRow {
    /// What they have in common.
    pub name: String,
    /// Where that leads.
    pub href: Option<String>,
    /// The share and its interval, or why none is said.
    pub words: String,
    /// Whether a share is said.
    pub is_enough: bool,
    /// Called confirmed, fixed or won't fix.
    pub confirmed: u64,
    /// Called invalid.
    pub invalid: u64,
    /// Not decided.
    pub undecided: u64,
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityTable {
    /// Its name in addresses.
    pub id: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// Head of its first column.
    pub column: &'static str,
    /// The most incidents first.
    pub rows: Vec<QualityRow>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/quality.html")]
pub struct QualityView {
    /// Frame.
    pub layout: Layout,
    /// All incidents in a sentence.
    pub words: String,
    /// How many must be decided.
    pub enough: u64,
    /// By rule, by machine, by workload; empty where there is no incident.
    pub tables: Vec<QualityTable>,
}

/// Shows the page.
pub async fn show(State(app): State<App>, visitor: Visitor) -> Result<Html<String>, Failure> {
    let tallies = db::quality::list(&app.db, visitor.viewer.visible()).await?;
    let of = |group| tallies.iter().filter(move |tally: &&Tally| tally.group == group);
    let table = |(group, id, heading, column)| QualityTable {
        id,
        heading,
        column,
        rows: of(group).map(row).collect(),
    };
    let tables = [
        (Group::Rule, "rules", "By rule", "rule"),
        (Group::Machine, "machines", "By machine", "machine"),
        (Group::Workload, "workloads", "By workload", "workload"),
    ]
    .map(table);
    shown(&QualityView {
        layout: Layout::new("Alert quality", Section::Incidents).seen_by(&visitor),
        words: of(Group::All).next().map(all_words).unwrap_or_default(),
        enough: ENOUGH,
        tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
    })
}

fn all_words(all: &Tally) -> String {
    let share = share_words(all);
    match quality::precision(all) {
        Some(_) => format!("People confirmed {share} of the incidents they decided about."),
        None => format!("Over all incidents: {share}."),
    }
}

fn row(tally: &Tally) -> QualityRow {
    QualityRow {
        name: tally.title().to_owned(),
        href: (tally.group == Group::Machine).then(|| format!("/machines/{}", tally.key)),
        words: share_words(tally),
        is_enough: quality::precision(tally).is_some(),
        confirmed: tally.confirmed,
        invalid: tally.invalid,
        undecided: tally.undecided(),
    }
}

/// `83.3 % [43.6, 97.0]`, or `not enough data: 2 of 5 decided`.
fn share_words(tally: &Tally) -> String {
    match quality::precision(tally) {
        Some((share, low, high)) => {
            format!("{:.1} % [{:.1}, {:.1}]", share * 100.0, low * 100.0, high * 100.0)
        }
        None => format!("not enough data: {} of {ENOUGH} decided", tally.decided()),
    }
}
