//! `/runs/{uuid}/profiles/{name}`: the flame graph of a point, or with `?base=` another run's uuid
//! the difference to that run's. A picture: pages show it as an image, and it runs nothing.

use std::io::Read as _;

use anyhow::Context as _;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use serde::Deserialize;

use super::failure::Failure;
use super::view::short_run;
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::chart::flame;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{RunId, profile};

/// What the picture may do when it is opened alone: have its own style.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// With which run it is held together.
#[derive(Debug, Deserialize)]
pub struct Against {
    base: Option<String>,
}

/// Draws it.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path((id, name)): Path<(String, String)>,
    Query(against): Query<Against>,
) -> Result<Response, Failure> {
    let head = load(&app, &visitor, &id, &name).await?;
    let svg = match against.base {
        None => flame::graph(&head.1, &format!("{name}, run {}", head.0)),
        Some(base) => {
            let base = load(&app, &visitor, &base, &name).await?;
            let title = format!("{name}, run {} against {}", head.0, base.0);
            flame::difference(&base.1, &head.1, &title)
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    ];
    Ok((headers, svg.ok_or(Error::NotFound("sample in this profile"))?).into_response())
}

/// Short id of the run, and the folded stacks of its profile.
async fn load(app: &App, visitor: &Visitor, id: &str, name: &str) -> Result<(String, String)> {
    let id = lookup::run(app, &visitor.viewer, id).await?.id;
    let found = db::run::find_artefact(&app.db, id, name).await?;
    let profile = found.filter(|(media_type, _)| media_type == wire::Artefact::PROFILE);
    let (_, compressed) = profile.ok_or(Error::NotFound("profile"))?;
    let mut content = String::new();
    let read = GzDecoder::new(&*compressed).read_to_string(&mut content);
    read.context("a stored artefact is broken")?;
    let folded = profile::folded(&content).map_err(|_| Error::NotFound("readable profile"))?;
    Ok((short_run(&id), folded))
}

/// Where the flame graph of a run's point is.
pub(super) fn address(run: &RunId, name: &str) -> String {
    format!("/runs/{run}/profiles/{name}")
}
