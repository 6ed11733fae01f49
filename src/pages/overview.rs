//! `/`: open incidents, the last change of everything, machines, latest runs.

use askama::Template;
use axum::extract::State;
use axum::response::Html;
use time::OffsetDateTime;

use super::failure::Failure;
use super::heat::HeatView;
use super::incidents::IncidentRows;
use super::shown;
use super::view::{Layout, RunRows, Section, When};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::db::incident::Filter;
use crate::detect::{policy, severity};
use crate::error::Result;
use crate::format;
use crate::model::Machine;
use crate::model::heat::HeatMap;
use crate::model::incident::{Incident, State as IncidentState};

/// Incidents and runs shown.
const SHOWN: i64 = 20;

/// One machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineRow {
    /// Id in addresses.
    pub id: String,
    /// Its name.
    pub name: String,
    /// CPU and memory in words.
    pub hardware: String,
    /// Physical cores.
    pub cores: u32,
    /// Hardware threads.
    pub threads: u32,
    /// When its last report came.
    pub last_seen: Option<When>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/overview.html")]
pub struct OverviewView {
    /// Frame.
    pub layout: Layout,
    /// How many incidents stand open.
    pub heading: String,
    /// `2 machines`.
    pub machines_count: String,
    /// `12 curves`.
    pub curves_count: String,
    /// `40 runs`.
    pub runs_count: String,
    /// Curves that wait to be judged.
    pub due: i64,
    /// Whether any run was uploaded.
    pub has_runs: bool,
    /// Where the service is reached, for commands.
    pub public_url: String,
    /// Open incidents.
    pub incidents: IncidentRows,
    /// The last change of everything.
    pub heat: HeatView,
    /// Machines by name.
    pub machines: Vec<MachineRow>,
    /// Latest runs.
    pub runs: RunRows,
}

/// Shows the page.
pub async fn show(State(app): State<App>, visitor: Visitor) -> Result<Html<String>, Failure> {
    shown(&view(&app, &visitor).await?)
}

async fn view(app: &App, visitor: &Visitor) -> Result<OverviewView> {
    let now = app.clock.now();
    let visible = visitor.viewer.visible();
    let counts = db::pages_machine::count(&app.db, visible).await?;
    let open = Filter::of_states(&IncidentState::OPEN);
    let mut incidents = db::incident::list(&app.db, visible, &open, SHOWN).await?;
    let severities = severity::list(&app.db, &incidents).await?;
    let score = |incident: &Incident| severities.get(&incident.id).map_or(0.0, |one| one.score);
    incidents.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let latest = db::heat::list(&app.db, visible, None, policy::steps().least_effect).await?;
    let mut machines = db::machine::list(&app.db).await?;
    machines.retain(|machine| machine.retired_at.is_none());
    let runs = db::run::list(&app.db, visible, &db::run::Filter::default(), SHOWN).await?;
    let words = |n: i64, noun| format::count(usize::try_from(n).unwrap_or(0), noun);
    Ok(OverviewView {
        layout: Layout::new("Overview", Section::Overview).seen_by(visitor),
        heading: heading(incidents.len()),
        machines_count: words(counts.machines, "machine"),
        curves_count: words(counts.curves, "curve"),
        runs_count: words(counts.runs, "run"),
        due: counts.due,
        has_runs: counts.runs > 0,
        public_url: app.config.public_url.clone(),
        incidents: IncidentRows::new("Gravest first", &incidents, &severities, now),
        heat: HeatView::new(&HeatMap::new(&latest)),
        machines: machines.iter().map(|machine| machine_row(machine, now)).collect(),
        runs: RunRows::new("Latest reports first", &runs, now),
    })
}

fn heading(open: usize) -> String {
    match open {
        0 => "No open incident".into(),
        n if n as i64 >= SHOWN => format!("{SHOWN} or more open incidents"),
        n => format::count(n, "open incident"),
    }
}

fn machine_row(machine: &Machine, now: OffsetDateTime) -> MachineRow {
    let identity = &machine.identity;
    MachineRow {
        id: machine.public_id.clone(),
        name: machine.name.clone(),
        hardware: format!("{}, {}", identity.cpu_model, identity.memory_class),
        cores: identity.cores,
        threads: identity.threads,
        last_seen: machine.last_seen_at.map(|at| When::new(at, now)),
    }
}
