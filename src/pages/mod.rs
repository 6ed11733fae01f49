//! Pages for people: rows → HTML by askama, plots by [`crate::chart`]. Every page is complete without
//! JavaScript and has its state in its address; `static/app.js` adds a cursor and copies.
//!
//! Each page is one module: the view (plain, display-ready values) beside the handler that fills
//! it. [`view`] holds what several pages show the same way.

pub mod account;
pub mod api;
pub mod assets;
pub mod audit;
pub mod before_after;
pub mod branches;
pub mod compare;
pub mod curve;
pub mod curves;
pub mod evidence;
pub mod failure;
pub mod heat;
pub mod incident;
pub mod incidents;
pub mod job;
pub mod jobs;
pub mod login;
pub mod machine;
pub mod metric;
pub mod moved;
mod noise;
pub mod overview;
pub mod people;
pub mod profile;
pub mod project_compare;
pub mod provider;
pub mod quality;
pub mod revision;
pub mod run;
pub mod search;
pub mod sides;
pub mod tokens;
pub mod triage;
pub mod view;
pub mod visitor;
pub mod why;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::routing::{get, post};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::app::App;
use crate::error::Error;
use failure::Failure;

/// What a page may load: its own style sheet, script and images, nothing from anywhere else.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                              form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Routes.
pub fn router() -> Router<App> {
    Router::new()
        .route("/", get(overview::show))
        .route("/api", get(api::show))
        .route("/curves", get(curves::list))
        .route("/curves/{id}", get(curve::show))
        .route("/compare", get(compare::show))
        .route("/alert-quality", get(quality::show))
        .route("/incidents", get(incidents::list).post(triage::decide_many))
        .route("/incidents/{id}", get(incident::show).post(triage::decide))
        .route("/incidents/{id}/why", get(why::show))
        .route("/jobs", get(jobs::list).post(jobs::ask))
        .route("/jobs/{id}", get(job::show))
        .route("/projects/{name}/branches", get(branches::show).post(branches::change))
        .route("/projects/{name}/compare", get(project_compare::show))
        .route("/machines/{id}", get(machine::show))
        .route("/machines/{id}/merge", post(machine::merge))
        .route("/revisions/{id}", get(revision::show))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/profiles/{name}", get(profile::show))
        .route("/search", get(search::show))
        .route("/login", get(login::form).post(login::log_in))
        .route("/login/provider", get(provider::go))
        .route("/login/provider/back", get(provider::back))
        .route("/logout", post(login::log_out))
        .route("/welcome", get(login::welcome).post(login::set_password))
        .route("/account", get(account::show))
        .route("/account/password", post(account::change_password))
        .route("/account/sessions", post(account::end_session))
        .route("/account/provider", post(provider::connect))
        .route("/account/provider/remove", post(provider::disconnect))
        .route("/account/tokens", post(tokens::make))
        .route("/account/tokens/revoke", post(tokens::revoke))
        .route("/admin/project", post(people::show_project))
        .route("/admin", get(people::show))
        .route("/admin/add", post(people::add))
        .route("/admin/role", post(people::give))
        .route("/admin/person", post(people::change))
        .route("/admin/audit", get(audit::show))
        .route("/static/{hash}/{name}", get(assets::show))
        .fallback(unknown_path)
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CONTENT_POLICY),
        ))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header_layer(header::REFERRER_POLICY, "same-origin"))
}

fn header_layer(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

async fn unknown_path() -> Failure {
    Failure::from(Error::NotFound("page"))
}

/// A view as an answer.
fn shown(view: &impl askama::Template) -> Result<axum::response::Html<String>, Failure> {
    Ok(axum::response::Html(view.render().map_err(anyhow::Error::from)?))
}
