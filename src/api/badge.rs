//! A badge for a README: whether a branch has open regressions.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::at::At;
use super::auth::Reader;
use super::problem::Read;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::chart::badge::{self, Tone};
use crate::db;
use crate::db::incident::Filter;
use crate::error::Result;
use crate::format;
use crate::model::incident::State as Standing;
use crate::model::step::Change;
use crate::model::{Branch, ProjectId, Visible};

/// Most regressions that are counted.
const MOST: i64 = 100;

/// A badge (SVG) that says whether a branch has open regressions, and at which commit.
#[utoipa::path(
    get, path = "/projects/{name}/badge.svg", operation_id = "read_badge", tag = "projects",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("branch" = Option<String>, Query, description = "Must be given where the project has \
            several."),
    ),
    responses(
        (status = 200, description = "The badge.", body = String, content_type = "image/svg+xml"),
        Read,
    ),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(name): At<String>,
    mut params: Params,
) -> Answer<impl IntoResponse> {
    let branch = params.take::<String>("branch")?;
    params.finish()?;
    let project = lookup::project(&app, &viewer, &name).await?;
    let branch = lookup::branch_or_only(&app, project.id, branch.as_deref()).await?;
    let label = match &branch {
        Some(branch) => format!("{name} {}", branch.name),
        None => name,
    };
    let (message, tone) = verdict(&app, project.id, branch.as_ref()).await?;
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, badge::badge(&label, &message, tone)))
}

async fn verdict(app: &App, project: ProjectId, branch: Option<&Branch>) -> Result<(String, Tone)> {
    let nothing = || ("nothing measured".to_owned(), Tone::Unknown);
    let Some(branch) = branch else { return Ok(nothing()) };
    let newest = db::revision::list_of_branch(&app.db, branch.id, None, 1).await?;
    let Some(newest) = newest.first() else { return Ok(nothing()) };
    let commit = format::commit(&newest.commit);
    let filter = Filter {
        project: Some(project),
        branch: Some(branch.id),
        change: Some(Change::Regression),
        ..Filter::of_states(&Standing::OPEN)
    };
    let open = db::incident::list(&app.db, &Visible::ALL, &filter, MOST).await?.len();
    if open > 0 {
        let more = if open as i64 == MOST { " or more" } else { "" };
        let words = format::count(open, "regression");
        return Ok((format!("{words}{more} at {commit}"), Tone::Bad));
    }
    if db::due::is_project_due(&app.db, project).await? {
        return Ok((format!("{commit} not judged yet"), Tone::Unknown));
    }
    Ok((format!("no regression at {commit}"), Tone::Good))
}
