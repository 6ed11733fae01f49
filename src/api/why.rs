//! Verdicts in plain text, to be read in a terminal and checked by hand.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::at::At;
use super::auth::Reader;
use super::compare::{self, CompareParams, Compared};
use super::problem::Read;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::detect::explain;
use crate::model::IncidentId;

/// Plain text as an answer.
type Text = ([(header::HeaderName, &'static str); 1], String);

fn text(text: String) -> Text {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text)
}

/// Why an incident is one, in plain text.
///
/// The rule, and each step with everything it rests on.
#[utoipa::path(
    get, path = "/incidents/{id}/why", operation_id = "explain_incident", tag = "incidents",
    params(("id" = IncidentId, Path, description = "Number of the incident.")),
    responses(
        (status = 200, description = "Why.", body = String, content_type = "text/plain"),
        Read,
    ),
)]
pub async fn incident(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    params: Params,
) -> Answer<impl IntoResponse> {
    params.finish()?;
    let incident = lookup::incident(&app, &viewer, &id).await?;
    let steps = db::incident_step::list(&app.db, incident.id).await?;
    let mut told = explain::rules(&steps);
    for step in &steps {
        told += "\n\n";
        told += explain::step(step).trim_end();
    }
    Ok(text(told + "\n"))
}

/// Why two revisions compare as they do, in plain text.
///
/// The rule, the verdict over the curve, and each point with everything it rests on.
#[utoipa::path(
    get, path = "/compare/why", operation_id = "explain_comparison", tag = "compare",
    params(CompareParams),
    responses(
        (status = 200, description = "Why.", body = String, content_type = "text/plain"),
        Read,
    ),
)]
pub async fn compare(
    State(app): State<App>,
    Reader(viewer): Reader,
    params: Params,
) -> Answer<impl IntoResponse> {
    let Compared { series, comparison, floor, .. } =
        compare::compared(&app, &viewer, params).await?;
    let mut told = explain::two_sides_rule();
    if let Some(floor) = floor.words() {
        told += &format!(" Here: {floor}.");
    }
    told += &format!("\n\n{}: {}\n", series.metric, comparison.judgement.words);
    for known in &comparison.environment_changes {
        told += &format!("  {}: {}\n", known.difference.field, known.words());
    }
    for sentence in &comparison.set_aside {
        told += &format!("  {sentence}\n");
    }
    for point in &comparison.judgement.points {
        told += "\n";
        told += &explain::point(point.tasks, &point.words(), &(&point.evidence).into());
    }
    Ok(text(told))
}
