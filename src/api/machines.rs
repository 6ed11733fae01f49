//! Machines: registering one.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use wire::{Registered, limits};

use super::Answer;
use super::auth::Caller;
use super::body;
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::model::{Scope, Secret};

/// `POST /machines`: registers a machine and answers an upload token bound to it, shown this once:
/// 201 when the machine is new. A machine known with the same identity gets another token beside
/// those it has, and its new name: 200.
pub async fn register(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Answer<(StatusCode, Json<Registered>)> {
    caller.require(Scope::Register)?;
    let machine: wire::Machine =
        body::read(request, limits::BODY_BYTES, |machine: wire::Machine| {
            machine.check("")?;
            Ok(machine)
        })
        .await?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let new = db::machine::insert_if_unknown(&mut tx, &machine, now).await?;
    let stored = db::machine::find_by_public_id(&mut *tx, &machine.id)
        .await?
        .ok_or_else(|| anyhow::anyhow!("machine {} is gone after its insert", machine.id))?;
    if stored.identity != machine.identity {
        return Err(identity_changed().into());
    }
    if stored.name != machine.name {
        db::machine::mark_renamed(&mut tx, stored.id, &machine.name).await?;
    }
    let secret = Secret::random();
    let token = db::token::New {
        name: &machine.name,
        scope: Scope::Upload,
        machine: Some(stored.id),
        created_at: now,
        expires_at: None,
    };
    db::token::insert(&mut *tx, &token, &secret).await?;
    tx.commit().await?;
    tracing::info!(machine = machine.id, name = machine.name, new, "machine registered");
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Registered { machine: machine.id, token: secret.reveal().to_owned() })))
}

fn identity_changed() -> Error {
    Error::Conflict {
        code: "machine_identity_changed",
        field: "identity".into(),
        detail: "a machine with this id is registered with another identity; the id must be the \
                 hash of the identity"
            .into(),
    }
}
