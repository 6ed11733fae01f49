//! `admin branch`: other names of branches, rewritten histories, and their end.

use std::io::{self, BufRead as _};

use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::account::By;
use crate::db::branch::Place;
use crate::db::{self, Pool};
use crate::lives::{branch, order};
use crate::model::{Branch, OrderBy, Project};

#[derive(Debug, Subcommand)]
pub enum BranchCommand {
    /// List the branches of a project
    List {
        /// Name of the project
        project: String,
    },
    /// Give a branch another name; the old one leads to it
    Rename {
        /// Name of the project
        project: String,
        /// Name of the branch
        branch: String,
        /// Its name from now on
        name: String,
    },
    /// Tell the order of a branch anew, after its history was rewritten
    ///
    /// Reads lines `COMMIT POSITION` from standard input (or `COMMIT TIME` for a branch that is ordered
    /// by committer time), the whole branch. Revisions that are not in them leave the branch.
    Order {
        /// Name of the project
        project: String,
        /// Name of the branch
        branch: String,
    },
    /// Remove a branch with everything that was measured on it; there is no way back
    Delete {
        /// Name of the project
        project: String,
        /// Name of the branch
        branch: String,
        /// Its name again
        #[arg(long)]
        confirm: String,
    },
}

impl BranchCommand {
    pub async fn run(self, pool: &Pool, by: &By<'_>) -> Result<()> {
        match self {
            BranchCommand::List { project } => {
                let project = find_project(pool, &project).await?;
                for branch in db::project::list_branches(pool, project.id).await? {
                    println!("{}\tordered by {}", branch.name, branch.order_by.word());
                }
            }
            BranchCommand::Rename { project, branch, name } => {
                let (project, branch) = find(pool, &project, &branch).await?;
                let mut tx = pool.begin().await?;
                branch::rename(&mut tx, by, &project, &branch, &name).await?;
                tx.commit().await?;
                println!("branch {} is called {name}", branch.name);
            }
            BranchCommand::Order { project, branch } => {
                let (project, branch) = find(pool, &project, &branch).await?;
                let lines = io::stdin().lock().lines();
                let places = lines
                    .enumerate()
                    .map(|(i, line)| place(&line?, i + 1, branch.order_by))
                    .collect::<Result<Vec<Place>>>()?;
                let mut tx = pool.begin().await?;
                let done = order::reorder(&mut tx, by, &project, &branch, &places).await?;
                tx.commit().await?;
                println!(
                    "{} revisions moved, {} returned, {} left; {} curves are judged anew",
                    done.moved, done.returned, done.left, done.curves
                );
            }
            BranchCommand::Delete { project, branch, confirm } => {
                let (project, branch) = find(pool, &project, &branch).await?;
                let mut tx = pool.begin().await?;
                let done = branch::delete(&mut tx, by, &project, &branch, &confirm).await?;
                tx.commit().await?;
                println!(
                    "{} revisions, {} runs and {} incidents of branch {} are gone",
                    done.revisions, done.runs, done.incidents, branch.name
                );
            }
        }
        Ok(())
    }
}

async fn find_project(pool: &Pool, name: &str) -> Result<Project> {
    let found = db::project::find_by_name(pool, name).await?;
    found.with_context(|| format!("there is no project `{name}`"))
}

async fn find(pool: &Pool, project: &str, branch: &str) -> Result<(Project, Branch)> {
    let project = find_project(pool, project).await?;
    let found = db::project::find_branch(pool, project.id, branch).await?;
    let branch = found.with_context(|| format!("{} has no branch `{branch}`", project.name))?;
    Ok((project, branch))
}

fn place(line: &str, number: usize, by: OrderBy) -> Result<Place> {
    let mut words = line.split_whitespace();
    let (Some(commit), Some(at), None) = (words.next(), words.next(), words.next()) else {
        bail!("line {number} is `{line}`, not a commit and its {}", by.word());
    };
    let wrong = |_| anyhow!("line {number}: `{at}` is no {}", by.word());
    let (position, committed_at, rank) = match by {
        OrderBy::Position => {
            let position: i64 =
                at.parse().map_err(|error: std::num::ParseIntError| wrong(error.to_string()))?;
            (Some(position), None, position)
        }
        OrderBy::CommittedAt => {
            let time =
                OffsetDateTime::parse(at, &Rfc3339).map_err(|error| wrong(error.to_string()))?;
            (None, Some(time), (time.unix_timestamp_nanos() / 1_000) as i64)
        }
    };
    Ok(Place { commit: commit.to_owned(), position, committed_at, rank })
}
