//! `admin project`: who may read which project.

use anyhow::{Result, anyhow, ensure};
use clap::Subcommand;

use crate::account::{By, people};
use crate::db::{self, Pool};
use crate::model::revision::parse_subject;

#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// List projects and whether everybody may read them
    List,
    /// Add a project before its first report, so that it is never public
    Add {
        /// Its name, as reports give it
        name: String,
        /// What it tests: kernel, program or model
        #[arg(long, value_parser = subject)]
        subject: wire::Subject,
        /// Let those alone read it who have a role in it
        #[arg(long)]
        private: bool,
    },
    /// Let everybody read a project
    Public {
        /// Its name
        name: String,
    },
    /// Let those alone read a project who have a role in it
    Private {
        /// Its name
        name: String,
    },
}

fn subject(word: &str) -> Result<wire::Subject> {
    parse_subject(word).ok_or_else(|| anyhow!("is none of kernel, program, model"))
}

impl ProjectCommand {
    pub async fn run(self, pool: &Pool, by: &By<'_>) -> Result<()> {
        let mut tx = pool.begin().await?;
        match self {
            ProjectCommand::List => {
                for project in db::project::list(pool).await? {
                    let word = if project.is_public { "public" } else { "private" };
                    println!("{}\t{word}", project.name);
                }
            }
            ProjectCommand::Add { name, subject, private } => {
                people::add_project(&mut tx, by, &name, subject, !private).await?;
                println!("project {name} is {}", if private { "private" } else { "public" });
            }
            ProjectCommand::Public { name } => {
                let changed = people::set_public(&mut tx, by, &name, true).await?;
                ensure!(changed, "project {name} is public already");
                println!("everybody may read {name}");
            }
            ProjectCommand::Private { name } => {
                let changed = people::set_public(&mut tx, by, &name, false).await?;
                ensure!(changed, "project {name} is private already");
                println!("those alone may read {name} who have a role in it");
            }
        }
        Ok(tx.commit().await?)
    }
}
