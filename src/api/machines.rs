//! Machines: registering one, and reading what is registered.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;
use wire::{Registered, limits};

use super::auth::Caller;
use super::environments::EnvironmentView;
use super::page::Page;
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::model::{Machine, MachineId, Scope, Secret};

/// Environments shown with a machine, the one last used first.
const ENVIRONMENTS: i64 = 20;

#[derive(Debug, Serialize)]
pub struct MachineView {
    id: String,
    name: String,
    identity: wire::Identity,
    #[serde(with = "rfc3339")]
    registered_at: OffsetDateTime,
    #[serde(with = "rfc3339::option")]
    last_seen_at: Option<OffsetDateTime>,
}

impl From<Machine> for MachineView {
    fn from(machine: Machine) -> MachineView {
        MachineView {
            id: machine.public_id,
            name: machine.name,
            identity: machine.identity,
            registered_at: machine.registered_at,
            last_seen_at: machine.last_seen_at,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct MachineDetail {
    #[serde(flatten)]
    machine: MachineView,
    environments: Vec<EnvironmentView>,
}

/// `GET /machines`: in the order they registered.
pub async fn list(State(app): State<App>, mut params: Params) -> Answer<Json<Page<MachineView>>> {
    let (after, limit) = (params.take::<MachineId>("after")?, params.limit()?);
    params.finish()?;
    let rows = db::machine::list_after(&app.db, after, limit + 1).await?;
    Ok(Json(Page::of(rows, limit, |machine| machine.id, MachineView::from)))
}

/// `GET /machines/{id}`: a machine and the environments its runs came from.
pub async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Answer<Json<MachineDetail>> {
    params.finish()?;
    let machine = lookup::machine(&app, &id).await?;
    let used = db::environment::list_of_machine(&app.db, machine.id, ENVIRONMENTS).await?;
    let environments = used.into_iter().map(EnvironmentView::from).collect();
    Ok(Json(MachineDetail { machine: machine.into(), environments }))
}

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
