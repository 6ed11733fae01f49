//! Machines: registering one, and reading what is registered.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use time::serde::rfc3339;
use wire::{Registered, limits};

use super::at::At;
use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::environments::EnvironmentView;
use super::export::{self, Format, FormatParam, Tabular};
use super::page::Page;
use super::problem::{Conflict, NotFound, Read, Write};
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::lives;
use crate::model::{Machine, MachineId, Scope, Secret};

/// Environments shown with a machine, the one last used first.
const ENVIRONMENTS: i64 = 20;

/// A registered machine.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RegisteredMachine)]
pub struct MachineView {
    id: String,
    name: String,
    identity: wire::Identity,
    #[serde(with = "rfc3339")]
    registered_at: OffsetDateTime,
    #[serde(with = "rfc3339::option")]
    last_seen_at: Option<OffsetDateTime>,
}

impl Tabular for MachineView {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "name",
        "identity.architecture",
        "identity.cpu_model",
        "identity.sockets",
        "identity.cores",
        "identity.threads",
        "identity.numa_nodes",
        "identity.memory_class",
        "registered_at",
        "last_seen_at",
    ];
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

/// A machine and the environments its runs came from, the one last used first, at most 20.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct MachineDetail {
    #[serde(flatten)]
    machine: MachineView,
    environments: Vec<EnvironmentView>,
}

/// Machines, in the order they registered.
#[utoipa::path(
    get, path = "/machines", operation_id = "list_machines", tag = "machines",
    params(
        ("project" = Option<String>, Query, description = "Those that ran code of this project."),
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of machines.", content(
            (Page<MachineView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Response> {
    let project = params.take::<String>("project")?;
    let (asked, format) = (params.page::<MachineId>()?, Format::asked(&mut params)?);
    params.finish()?;
    let (project, _) = lookup::project_filter(&app, &viewer, project.as_deref(), None).await?;
    export::list("machines", format, asked, move |after, limit| {
        let pool = app.db.clone();
        async move {
            let rows = db::machine::list_after(&pool, project, after, limit).await?;
            Ok(rows.into_iter().map(|one| (one.id, MachineView::from(one))).collect())
        }
    })
    .await
}

/// A machine and the environments its runs came from.
#[utoipa::path(
    get, path = "/machines/{id}", operation_id = "read_machine", tag = "machines",
    params(("id" = String, Path, description = "Id of the machine.")),
    responses((status = 200, description = "The machine.", body = MachineDetail), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    params: Params,
) -> Answer<Json<MachineDetail>> {
    params.finish()?;
    let machine = lookup::machine(&app, &id).await?;
    let used =
        db::environment::list_of_machine(&app.db, viewer.visible(), machine.id, ENVIRONMENTS)
            .await?;
    let environments = used.into_iter().map(EnvironmentView::from).collect();
    Ok(Json(MachineDetail { machine: machine.into(), environments }))
}

/// Registers a machine and answers an upload token bound to it, shown this once.
///
/// A machine known with the same identity gets another token beside those it has, and its new name.
#[utoipa::path(
    post, path = "/machines", operation_id = "register_machine", tag = "machines",
    request_body = wire::Machine,
    responses(
        (status = 201, description = "The machine is new.", body = Registered),
        (status = 200, description = "The machine was known.", body = Registered),
        Write,
        Conflict,
    ),
    security(("token" = ["register"])),
)]
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
    if stored.retired_at.is_some() {
        db::machine::mark_returned(&mut tx, stored.id).await?;
    }
    if stored.name != machine.name {
        db::machine::mark_renamed(&mut tx, stored.id, &machine.name).await?;
    }
    let secret = Secret::random();
    let token = db::token::New {
        name: &machine.name,
        scope: Scope::Upload,
        machine: Some(stored.id),
        person: None,
        projects: &[],
        created_at: now,
        expires_at: None,
    };
    let id = db::token::insert(&mut *tx, &token, &secret).await?;
    let about = format!("machine {} ({})", machine.name, machine.id);
    let told = json!({ "new": new, "token": id });
    caller.by(&app).did(&mut tx, "machine_registered", &about, (None, Some(told))).await?;
    tx.commit().await?;
    tracing::info!(machine = machine.id, name = machine.name, new, "machine registered");
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Registered { machine: machine.id, token: secret.reveal().to_owned() })))
}

/// Which machine goes.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = MachineMerge)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// Its id.
    from: String,
    /// Says that hardware that differs is the same all the same.
    #[serde(default)]
    force: bool,
}

/// How much became the other machine's.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = MachineMerged)]
pub struct Merged {
    /// Id of the machine that stays.
    machine: String,
    /// Runs that are its own now.
    runs: u64,
    /// Curves that are judged anew.
    curves: u64,
    /// Those of them that both had, and that are one now.
    joined: u64,
    /// Tokens that upload for it now.
    tokens: u64,
}

/// Makes everything that another machine measured this one's: the same hardware registered twice.
///
/// The other's id leads to this one from then on, and its tokens upload for this one. There is no way
/// back.
#[utoipa::path(
    post, path = "/machines/{id}/merge", operation_id = "merge_machines", tag = "machines",
    params(("id" = String, Path, description = "Id of the machine that stays.")),
    request_body = Merge,
    responses(
        (status = 200, description = "They are one.", body = Merged),
        Write,
        NotFound,
        Conflict,
    ),
    security(("token" = ["admin"])),
)]
pub async fn merge(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Merged>> {
    caller.require(Scope::Admin)?;
    let asked: Merge = body::read(request, limits::BODY_BYTES, Ok).await?;
    if asked.from.contains('\0') {
        return Err(Error::NotFound("machine").into());
    }
    let mut tx = app.db.begin().await?;
    let by = caller.by(&app);
    let moved = lives::merge::merge(&mut tx, &by, &asked.from, &id, asked.force).await?;
    tx.commit().await?;
    app.due.notify_one();
    Ok(Json(Merged {
        machine: lookup::machine(&app, &id).await?.public_id,
        runs: moved.runs,
        curves: moved.curves,
        joined: moved.joined,
        tokens: moved.tokens,
    }))
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
