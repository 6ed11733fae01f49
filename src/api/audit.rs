//! What was done, by whom and from where; for admins alone.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::auth::Caller;
use super::document::PageParams;
use super::page::Page;
use super::problem::Read;
use super::{Answer, Params};
use crate::app::App;
use crate::db;
use crate::model::Scope;
use crate::model::person::Deed;

/// Something that was done.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Deed)]
pub struct DeedView {
    id: i64,
    #[serde(with = "rfc3339")]
    at: OffsetDateTime,
    /// A person, a token, the local owner, the command line.
    who: String,
    /// The client's address, or `this machine`.
    origin: String,
    /// A word such as `role_set`.
    what: String,
    /// To whom or what.
    about: String,
    /// What changed, as it was before; null where nothing was there.
    was: Option<serde_json::Value>,
    /// As it is since.
    became: Option<serde_json::Value>,
}

impl From<Deed> for DeedView {
    fn from(deed: Deed) -> DeedView {
        DeedView {
            id: deed.id,
            at: deed.at,
            who: deed.who,
            origin: deed.origin,
            what: deed.what,
            about: deed.about,
            was: deed.was,
            became: deed.became,
        }
    }
}

/// What was done, the newest first.
#[utoipa::path(
    get, path = "/audit", operation_id = "list_audit", tag = "service",
    params(PageParams),
    responses((status = 200, description = "A page of lines.", body = Page<DeedView>), Read),
    security(("token" = ["admin"])),
)]
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> Answer<Json<Page<DeedView>>> {
    caller.require(Scope::Admin)?;
    let asked = params.page::<i64>()?;
    params.finish()?;
    let rows = db::audit::list(&app.db, asked.after, asked.rows()).await?;
    Ok(Json(asked.page(rows, |deed| deed.id, DeedView::from)))
}
