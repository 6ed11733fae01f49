//! `/incidents/{id}/why`: for each step every inequality with its numbers, and the line that
//! decided.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::failure::Failure;
use super::incidents::{change_words, class, tasks_words, what};
use super::moved::{address, metric_of};
use super::shown;
use super::view::{Evidence, Layout, Section};
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::detect::explain;
use crate::error::Result;
use crate::format;
use crate::model::incident::{Incident, IncidentStep};

/// What the machine did meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The reasoning in a sentence.
    pub words: String,
    /// Its inequalities.
    pub evidence: Evidence,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepView {
    /// Workload, metric, tasks, machine.
    pub title: String,
    /// Address of the curve at this step.
    pub href: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// Verdict, levels and range.
    pub words: String,
    /// Late data disproved it.
    pub retracted: bool,
    /// Why.
    pub evidence: Evidence,
    /// What the machine did meanwhile, where that bears on the verdict.
    pub neighbour: Option<Neighbour>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/why.html")]
pub struct WhyView {
    /// Frame.
    pub layout: Layout,
    /// Row of the incident.
    pub id: i64,
    /// What moved most, in words.
    pub heading: String,
    /// The rule in a sentence, from its limits.
    pub rule: String,
    /// Steps, largest first.
    pub steps: Vec<StepView>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Html<String>, Failure> {
    let incident = lookup::incident(&app, &visitor.viewer, &id).await?;
    shown(&view(&app, &visitor, &incident).await?)
}

async fn view(app: &App, visitor: &Visitor, incident: &Incident) -> Result<WhyView> {
    let steps = db::incident_step::list(&app.db, incident.id).await?;
    Ok(WhyView {
        layout: Layout::new(format!("Why incident {}", incident.id), Section::Incidents)
            .seen_by(visitor),
        id: incident.id.0,
        heading: what(&incident.headline),
        rule: explain::rules(&steps),
        steps: steps.iter().map(step_view).collect(),
    })
}

fn step_view(step: &IncidentStep) -> StepView {
    let metric = metric_of(step);
    let title = format!(
        "{}, {}, {} {} on {}",
        step.workload,
        metric.title().to_lowercase(),
        if step.derived { "up to" } else { "at" },
        tasks_words(step.tasks),
        step.machine_name
    );
    let bend = explain::bend(step).map(|words| format!("; {words}"));
    let neighbour = step.evidence.neighbour.as_ref().map(|neighbour| Neighbour {
        words: neighbour.words.clone(),
        evidence: Evidence::of_lines("The machine meanwhile", &neighbour.inequalities, None),
    });
    StepView {
        title,
        href: address(step),
        class: class(step.change),
        words: format!(
            "{}: from {} to {} {} between {} and {}{}",
            change_words(step.change, step.ratio),
            format::number(step.before),
            format::number(step.after),
            metric.unit.symbol(),
            format::commit(&step.good.commit),
            format::commit(&step.bad.commit),
            bend.unwrap_or_default(),
        ),
        retracted: step.retracted_at.is_some(),
        evidence: Evidence::new("This step", &step.evidence),
        neighbour,
    }
}
