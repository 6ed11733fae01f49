//! `/curves`: every curve, or those of one machine, project or workload.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;

use super::failure::Failure;
use super::shown;
use super::view::{Layout, Section, parameter_words};
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::format;
use crate::model::Curve;

/// Curves on one page.
const SHOWN: i64 = 500;

/// What can be chosen in the address.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    machine: Option<String>,
    project: Option<String>,
    workload: Option<String>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveRow {
    /// Row, and its address.
    pub id: i64,
    /// Workload id.
    pub workload: String,
    /// Parameters in words.
    pub parameters: String,
    /// Whose code.
    pub project: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Task counts in words.
    pub tasks: String,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/curves.html")]
pub struct CurvesView {
    /// Frame.
    pub layout: Layout,
    /// Choices in force, each with the address without it.
    pub filters: Vec<(String, String)>,
    /// How many.
    pub caption: String,
    /// Curves by workload.
    pub rows: Vec<CurveRow>,
}

/// Shows the page.
pub async fn list(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Html<String>, Failure> {
    shown(&view(&app, &visitor, &choice).await?)
}

async fn view(app: &App, visitor: &Visitor, choice: &Choice) -> Result<CurvesView> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let mut filter = db::curve::Filter { workload: given(&choice.workload), ..Default::default() };
    let mut filters = Vec::new();
    if let Some(workload) = &filter.workload {
        filters.push((format!("workload {workload}"), "/curves".into()));
    }
    if let Some(id) = given(&choice.machine) {
        let machine = db::machine::find_by_public_id(&app.db, &id).await?;
        let machine = machine.ok_or(Error::NotFound("machine"))?;
        filter.machine = Some(machine.id);
        filters.push((format!("machine {}", machine.name), "/curves".into()));
    }
    if let Some(name) = given(&choice.project) {
        filter.project = Some(lookup::project(app, &visitor.viewer, &name).await?.id);
        filters.push((format!("project {name}"), "/curves".into()));
    }
    let mut curves = db::curve::list(&app.db, visitor.viewer.visible(), &filter, SHOWN).await?;
    let caption = match curves.len() as i64 {
        n if n >= SHOWN => format!("The first {SHOWN}; choose a machine, project or workload"),
        n => format::count(n as usize, "curve"),
    };
    curves.sort_by(|a, b| {
        (&a.workload, &a.machine_name, a.id).cmp(&(&b.workload, &b.machine_name, b.id))
    });
    Ok(CurvesView {
        layout: Layout::new("Curves", Section::Curves).seen_by(visitor),
        filters,
        caption,
        rows: curves.iter().map(row).collect(),
    })
}

fn row(curve: &Curve) -> CurveRow {
    let tasks = match curve.tasks.as_slice() {
        [] => "all points failed".into(),
        [one] => one.to_string(),
        [first, .., last] if curve.tasks.len() > 6 => format!("{first} … {last}"),
        all => all.iter().map(i32::to_string).collect::<Vec<_>>().join(", "),
    };
    CurveRow {
        id: curve.id.0,
        workload: curve.workload.clone(),
        parameters: parameter_words(&curve.parameters),
        project: curve.project_name.clone(),
        machine_id: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        tasks,
    }
}
