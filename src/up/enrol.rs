//! Makes this machine a registered one: the runner registers through the API, with a token that is
//! made for it and revoked afterwards.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use time::Duration;

use super::runner::Runner;
use crate::app::App;
use crate::db;
use crate::model::{Machine, Scope, Secret};

/// What of the runner's registration is needed to see whether it still holds.
#[derive(Deserialize)]
struct Registration {
    server: String,
    machine: String,
    token: String,
}

/// Registers this machine unless it is, and returns it.
///
/// # Errors
/// When the runner cannot register, or its registration cannot be read.
pub async fn enrol(app: &App, runner: &Runner, server: &str) -> Result<Machine> {
    if let Some(machine) = registered(app, runner.state(), server).await? {
        return Ok(machine);
    }
    let secret = Secret::random();
    let now = app.clock.now();
    let new = db::token::New {
        name: "scalewatch up, to register this machine",
        scope: Scope::Register,
        machine: None,
        person: None,
        projects: &[],
        created_at: now,
        expires_at: Some(now + Duration::minutes(5)),
    };
    let token = db::token::insert(&app.db, &new, &secret).await?;
    let done = runner.register(server, secret.reveal()).await;
    db::token::mark_revoked(&app.db, token, app.clock.now()).await?;
    done?;
    registered(app, runner.state(), server)
        .await?
        .context("the runner registered, but its registration does not hold")
}

/// The machine of the runner's registration; none where it names another service, or a machine or
/// token that this database does not know.
async fn registered(app: &App, state: &Path, server: &str) -> Result<Option<Machine>> {
    let Ok(text) = std::fs::read(state.join("registration.json")) else { return Ok(None) };
    let Ok(found) = serde_json::from_slice::<Registration>(&text) else { return Ok(None) };
    if found.server.trim_end_matches('/') != server {
        return Ok(None);
    }
    let token = db::token::find(&app.db, &Secret::from_client(&found.token)).await?;
    let holds = token.is_some_and(|token| token.revoked_at.is_none());
    match holds {
        true => Ok(db::machine::find_by_public_id(&app.db, &found.machine).await?),
        false => Ok(None),
    }
}
