//! `/admin`: people and their roles. Site admins do everything here; who is admin of a project gives
//! roles in it.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use time::OffsetDateTime;

use super::failure::Failure;
use super::view::{Layout, Section, When};
use super::visitor::{Posted, Visitor};
use crate::account::people;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::person::NamedRole;
use crate::model::{Person, PersonId, Project, Role};

/// One person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonRow {
    /// What they log in with.
    pub name: String,
    /// `site admin`, or roles by project.
    pub rights: String,
    /// Whether they can log in, in words.
    pub state: &'static str,
    /// When they last did.
    pub last_login: Option<When>,
    /// Site admin.
    pub is_admin: bool,
    /// Refused.
    pub is_disabled: bool,
    /// The one who looks, who cannot take their own rights away here.
    pub is_self: bool,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/people.html")]
pub struct PeopleView {
    /// Frame.
    pub layout: Layout,
    /// What the forms carry.
    pub form_word: String,
    /// Whether everything can be done, or roles given alone.
    pub is_site_admin: bool,
    /// A link to set a password, shown this once: whose, and where it leads.
    pub link: Option<(String, String)>,
    /// By name.
    pub people: Vec<PersonRow>,
    /// Projects in which roles can be given, and whether everybody may read each.
    pub projects: Vec<(String, bool)>,
    /// Words of the roles.
    pub roles: Vec<&'static str>,
}

/// Shows the page.
pub async fn show(State(app): State<App>, visitor: Visitor) -> Result<Response, Failure> {
    let view = view(&app, &visitor, None).await?;
    visitor.shown(&view)
}

async fn view(app: &App, visitor: &Visitor, link: Option<(String, String)>) -> Result<PeopleView> {
    let projects = projects(app, visitor).await?;
    let now = app.clock.now();
    let mut roles: BTreeMap<PersonId, Vec<NamedRole>> = BTreeMap::new();
    for role in db::role::list_named(&app.db, None).await? {
        let shown = projects.iter().any(|project| project.id == role.project);
        if shown {
            roles.entry(role.person).or_default().push(role);
        }
    }
    let this = visitor.viewer.as_person().map(|person| person.id);
    let people = db::person::list(&app.db).await?;
    let connected = db::identity::list(&app.db, None).await?;
    let connected: BTreeSet<PersonId> = connected.into_iter().map(|one| one.person).collect();
    let row = |person: &Person| {
        let roles = roles.get(&person.id).map_or(&[][..], Vec::as_slice);
        person_row(person, roles, connected.contains(&person.id), this, now)
    };
    Ok(PeopleView {
        layout: Layout::new("People", Section::None).seen_by(visitor),
        form_word: visitor.form.word(),
        is_site_admin: visitor.viewer.is_site_admin(),
        link,
        people: people.iter().map(row).collect(),
        projects: projects.into_iter().map(|one| (one.name, one.is_public)).collect(),
        roles: Role::ALL.map(Role::word).to_vec(),
    })
}

/// The projects in which the visitor gives roles.
///
/// # Errors
/// Refuses who does so in none.
async fn projects(app: &App, visitor: &Visitor) -> Result<Vec<Project>> {
    let mut projects = db::project::list(&app.db).await?;
    projects.retain(|project| visitor.viewer.may(Role::Admin, project.id));
    if projects.is_empty() {
        visitor.viewer.require_site_admin()?;
    }
    Ok(projects)
}

fn person_row(
    person: &Person,
    roles: &[NamedRole],
    connected: bool,
    this: Option<PersonId>,
    now: OffsetDateTime,
) -> PersonRow {
    let role = |role: &NamedRole| format!("{} in {}", role.role.word(), role.project_name);
    PersonRow {
        name: person.name.clone(),
        rights: match (person.is_admin, roles) {
            (true, _) => "site admin".into(),
            (false, []) => "none of their own".into(),
            (false, roles) => roles.iter().map(role).collect::<Vec<_>>().join(", "),
        },
        state: match (person.disabled_at, person.has_password, connected) {
            (Some(_), ..) => "disabled",
            (None, _, true) => "signs in by the provider",
            (None, true, false) => "can log in",
            (None, false, false) => "has no password",
        },
        last_login: person.last_login_at.map(|at| When::new(at, now)),
        is_admin: person.is_admin,
        is_disabled: person.disabled_at.is_some(),
        is_self: this == Some(person.id),
    }
}

/// What the form that adds a person posts.
#[derive(Debug, Deserialize)]
pub struct Add {
    name: Option<String>,
    admin: Option<String>,
}

/// Adds a person, and shows the link by which they set their password.
pub async fn add(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Add>,
) -> Result<Response, Failure> {
    visitor.viewer.require_site_admin()?;
    let by = visitor.by(&app);
    let mut tx = app.db.begin().await?;
    let name = form.name.unwrap_or_default();
    let person = people::add(&mut tx, &by, &name, form.admin.is_some()).await?;
    let secret = people::make_link(&mut tx, &by, &person).await?;
    tx.commit().await?;
    let link = people::link_address(&app.config.public_url, &secret);
    visitor.shown(&view(&app, &visitor, Some((person.name, link))).await?)
}

/// What the form that gives a role posts.
#[derive(Debug, Deserialize)]
pub struct Give {
    name: Option<String>,
    project: Option<String>,
    role: Option<String>,
}

/// Gives a role, or takes it away.
pub async fn give(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Give>,
) -> Result<Redirect, Failure> {
    let project = form.project.unwrap_or_default();
    let known = projects(&app, &visitor).await?;
    let project = known.into_iter().find(|known| known.name == project);
    let project = project.ok_or(Error::NotFound("project"))?;
    let word = form.role.unwrap_or_default();
    let role = match word.as_str() {
        "none" => None,
        word => Some(Role::parse(word).ok_or_else(|| {
            let words = Role::ALL.map(Role::word).join(", ");
            Error::invalid("role", format!("`{word}` is none of {words}, none"))
        })?),
    };
    let mut tx = app.db.begin().await?;
    let person = people::find(&mut tx, &form.name.unwrap_or_default()).await?;
    people::set_role(&mut tx, &visitor.by(&app), &person, &project, role).await?;
    tx.commit().await?;
    Ok(Redirect::to("/admin"))
}

/// What the buttons beside a project post.
#[derive(Debug, Deserialize)]
pub struct ShowProject {
    project: Option<String>,
    to: Option<String>,
}

/// Lets everybody read a project, or those alone who have a role in it.
pub async fn show_project(
    State(app): State<App>,
    Posted { visitor, form }: Posted<ShowProject>,
) -> Result<Redirect, Failure> {
    let name = form.project.unwrap_or_default();
    let known = projects(&app, &visitor).await?;
    let project = known.into_iter().find(|known| known.name == name);
    let project = project.ok_or(Error::NotFound("project"))?;
    let is_public = match form.to.as_deref().unwrap_or_default() {
        "everybody" => true,
        "roles" => false,
        other => {
            let problem = format!("`{other}` is neither everybody nor roles");
            return Err(Error::invalid("to", problem).into());
        }
    };
    let mut tx = app.db.begin().await?;
    people::set_public(&mut tx, &visitor.by(&app), &project.name, is_public).await?;
    tx.commit().await?;
    Ok(Redirect::to("/admin"))
}

/// What the buttons beside a person post.
#[derive(Debug, Deserialize)]
pub struct Change {
    name: Option<String>,
    r#do: Option<String>,
}

/// Does what a button beside a person says.
pub async fn change(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Change>,
) -> Result<Response, Failure> {
    visitor.viewer.require_site_admin()?;
    let by = visitor.by(&app);
    let mut tx = app.db.begin().await?;
    let person = people::find(&mut tx, &form.name.unwrap_or_default()).await?;
    let word = form.r#do.unwrap_or_default();
    let is_self = visitor.viewer.as_person().is_some_and(|this| this.id == person.id);
    if is_self && matches!(word.as_str(), "disable" | "remove" | "take_admin") {
        return Err(not_oneself().into());
    }
    let mut link = None;
    match word.as_str() {
        "link" => link = Some(people::make_link(&mut tx, &by, &person).await?),
        "disable" => people::set_disabled(&mut tx, &by, &person, true).await?,
        "enable" => people::set_disabled(&mut tx, &by, &person, false).await?,
        "make_admin" => people::set_admin(&mut tx, &by, &person, true).await?,
        "take_admin" => people::set_admin(&mut tx, &by, &person, false).await?,
        "remove" => people::remove(&mut tx, &by, &person).await?,
        other => {
            let problem = format!("`{other}` is nothing that can be done to a person");
            return Err(Error::invalid("do", problem).into());
        }
    }
    tx.commit().await?;
    let Some(secret) = link else { return Ok(Redirect::to("/admin").into_response()) };
    let link = people::link_address(&app.config.public_url, &secret);
    visitor.shown(&view(&app, &visitor, Some((person.name, link))).await?)
}

fn not_oneself() -> Error {
    Error::Conflict {
        code: "not_oneself",
        field: "name".into(),
        detail: "nobody takes their own rights away here; another admin can, or the command line"
            .into(),
    }
}
