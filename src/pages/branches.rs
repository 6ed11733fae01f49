//! `/projects/{name}/branches`: the branches of a project; maintainers rename and delete them here.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::failure::Failure;
use super::shown;
use super::view::{CommitMark, Layout, Section};
use super::visitor::{Posted, Visitor};
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::lives::branch;
use crate::model::{OrderBy, Project, Role};

/// A branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRow {
    /// Its name.
    pub name: String,
    /// What it is ordered by, in words.
    pub order: &'static str,
    /// Revisions that left it: number and commit.
    pub left: Vec<(i64, CommitMark)>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/branches.html")]
pub struct BranchesView {
    /// Frame.
    pub layout: Layout,
    /// Whose.
    pub project: String,
    /// Where forms go.
    pub action: String,
    /// What they carry; none for who may not.
    pub form_word: Option<String>,
    /// By name.
    pub branches: Vec<BranchRow>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    let project = lookup::project(&app, &visitor.viewer, &name).await?;
    let view = view(&app, &visitor, &project).await?;
    match view.form_word {
        Some(_) => visitor.shown(&view),
        None => Ok(shown(&view)?.into_response()),
    }
}

async fn view(app: &App, visitor: &Visitor, project: &Project) -> Result<BranchesView> {
    let mut branches = Vec::new();
    for branch in db::project::list_branches(&app.db, project.id).await? {
        let left = db::branch::list_off(&app.db, branch.id).await?;
        let mark = |(id, commit, subject): (crate::model::RevisionId, String, String)| {
            (id.0, CommitMark::new(&commit, &subject))
        };
        branches.push(BranchRow {
            name: branch.name,
            order: match branch.order_by {
                OrderBy::Position => "first-parent position",
                OrderBy::CommittedAt => "committer time",
            },
            left: left.into_iter().map(mark).collect(),
        });
    }
    let may = visitor.viewer.may(Role::Maintainer, project.id);
    Ok(BranchesView {
        layout: Layout::new(format!("Branches of {}", project.name), Section::None)
            .seen_by(visitor),
        project: project.name.clone(),
        action: address(&project.name),
        form_word: may.then(|| visitor.form.word()),
        branches,
    })
}

/// The page of a project's branches.
pub(super) fn address(project: &str) -> String {
    let mut path = url::Url::parse("http://localhost/projects").expect("an address");
    if let Ok(mut segments) = path.path_segments_mut() {
        segments.push(project).push("branches");
    }
    path.path().to_owned()
}

/// What the forms post.
#[derive(Debug, Deserialize)]
pub struct Change {
    branch: Option<String>,
    to: Option<String>,
    confirm: Option<String>,
}

/// Renames a branch where a new name is posted, and deletes it where its own is typed again.
pub async fn change(
    State(app): State<App>,
    Path(name): Path<String>,
    Posted { visitor, form }: Posted<Change>,
) -> Result<Redirect, Failure> {
    let project = lookup::project(&app, &visitor.viewer, &name).await?;
    visitor.viewer.require(Role::Maintainer, project.id)?;
    let branch = form.branch.unwrap_or_default();
    let branch = lookup::branch(&app, project.id, &branch.replace('\0', "")).await?;
    let by = visitor.by(&app);
    let mut tx = app.db.begin().await?;
    match (form.to, form.confirm) {
        (Some(to), _) => branch::rename(&mut tx, &by, &project, &branch, to.trim()).await?,
        (None, Some(typed)) => {
            branch::delete(&mut tx, &by, &project, &branch, typed.trim()).await?;
        }
        (None, None) => {
            return Err(Error::invalid("to", "must be given, or `confirm` to delete it").into());
        }
    }
    tx.commit().await?;
    app.due.notify_one();
    Ok(Redirect::to(&address(&project.name)))
}
