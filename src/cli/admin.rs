//! `admin`: people, tokens, machines, webhooks, backups, and what was done. A secret is printed once, alone on
//! standard output.

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::backup::{Backup, Restore};
use super::branch::BranchCommand;
use super::machine::{MachineCommand, RetentionCommand};
use super::project::ProjectCommand;
use super::user::UserCommand;
use super::webhook::WebhookCommand;
use crate::account::{By, Viewer, Who, tokens};
use crate::clock::Clock;
use crate::config::Config;
use crate::db;
use crate::model::person::Deed;
use crate::model::{Scope, Token, TokenId};

#[derive(Debug, Subcommand)]
pub enum Admin {
    /// Add people, give them roles, set their passwords
    #[command(subcommand)]
    User(UserCommand),
    /// Print what was done, by whom and from where, the newest last
    Audit {
        /// Lines
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
    },
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// List, rename, reorder and delete branches
    #[command(subcommand)]
    Branch(BranchCommand),
    /// Say who may read which project
    #[command(subcommand)]
    Project(ProjectCommand),
    /// List, rename, merge and retire machines
    #[command(subcommand)]
    Machine(MachineCommand),
    /// Say how long raw samples are kept
    #[command(subcommand)]
    Retention(RetentionCommand),
    /// Addresses that are told what happens to the incidents of a project
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Write the whole database into one file, while the service goes on
    Backup(Backup),
    /// Bring what `backup` wrote into an empty database
    ///
    /// The file is read and checked first; it is restored whole or not at all. Without `DATABASE_URL` it
    /// goes into a new private Postgres in the data folder.
    Restore(Restore),
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print its secret, which is shown this once
    Create(Create),
    /// List tokens, secrets left out
    List,
    /// Refuse a token from now on
    Revoke {
        /// Number of the token, as `list` shows it
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct Create {
    /// What people call it
    #[arg(long)]
    name: String,
    /// What it may do: read, upload, register, triage, submit or admin
    #[arg(long, value_parser = scope)]
    scope: Scope,
    /// Id of the machine that an upload token is bound to
    #[arg(long, required_if_eq("scope", "upload"))]
    machine: Option<String>,
    /// Name of a project that it is limited to; may be given several times
    #[arg(long)]
    project: Vec<String>,
    /// Days after which it is refused; never when left out
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    expires_days: Option<i64>,
}

fn scope(word: &str) -> Result<Scope> {
    Scope::parse(word)
        .ok_or_else(|| anyhow!("is none of read, upload, register, triage, submit, admin"))
}

impl Admin {
    pub async fn run(self, config: &Config) -> Result<()> {
        // Both have to do with databases whose schema is not this version's.
        let rest = match self {
            Admin::Backup(backup) => return backup.run(config).await,
            Admin::Restore(restore) => return restore.run(config).await,
            rest => rest,
        };
        let pool = db::connect(config.database_url()?, 2).await?;
        if let Some(problem) = db::schema::problem(&pool).await? {
            bail!("{problem}");
        }
        let now = Clock::system().now();
        let viewer = Viewer::new(Who::CommandLine);
        let by = By { viewer: &viewer, origin: "this machine", now };
        match rest {
            Admin::User(user) => user.run(&pool, config, &by).await?,
            Admin::Branch(branch) => branch.run(&pool, &by).await?,
            Admin::Project(project) => project.run(&pool, &by).await?,
            Admin::Audit { limit } => {
                for deed in db::audit::list(&pool, None, limit).await?.iter().rev() {
                    println!("{}", deed_line(deed));
                }
            }
            Admin::Webhook(command) => command.run(&pool, now).await?,
            Admin::Token(TokenCommand::Create(create)) => create.run(&pool, &by).await?,
            Admin::Token(TokenCommand::List) => {
                for token in db::token::list(&pool).await? {
                    println!("{}", line(&token, now));
                }
            }
            Admin::Token(TokenCommand::Revoke { id }) => {
                let mut tx = pool.begin().await?;
                let token = db::token::find_by_id(&mut *tx, TokenId(id)).await?;
                let token = token.filter(|token| token.revoked_at.is_none());
                let token = token
                    .with_context(|| format!("there is no token {id} that is not revoked yet"))?;
                tokens::revoke(&mut tx, &by, &token).await?;
                tx.commit().await?;
                println!("token {id} is refused from now on");
            }
            Admin::Machine(command) => command.run(&pool, &by).await?,
            Admin::Retention(command) => command.run(&pool, now).await?,
            Admin::Backup(_) | Admin::Restore(_) => {}
        }
        pool.close().await;
        Ok(())
    }
}

impl Create {
    async fn run(self, pool: &db::Pool, by: &By<'_>) -> Result<()> {
        let machine = match (self.scope, &self.machine) {
            (Scope::Upload, Some(id)) => {
                let found = db::machine::find_by_public_id(pool, id).await?;
                Some(found.with_context(|| format!("no machine has the id `{id}`"))?)
            }
            (_, None) => None,
            (_, Some(_)) => bail!("--machine goes with --scope upload alone"),
        };
        let mut projects = Vec::new();
        for name in &self.project {
            let found = db::project::find_by_name(pool, name).await?;
            projects.push(found.with_context(|| format!("there is no project `{name}`"))?);
        }
        let new = tokens::New {
            name: &self.name,
            scope: self.scope,
            machine: machine.as_ref(),
            person: None,
            projects: &projects,
            days: self.expires_days,
        };
        let mut tx = pool.begin().await?;
        let (id, secret) = tokens::make(&mut tx, by, &new).await?;
        tx.commit().await?;
        eprintln!("token {id} ({}), shown this once:", self.scope.word());
        println!("{}", secret.reveal());
        Ok(())
    }
}

fn line(token: &Token, now: OffsetDateTime) -> String {
    let state = match (token.revoked_at, token.expires_at) {
        (Some(at), _) => format!("revoked {}", full_time(at)),
        (None, Some(at)) if at <= now => format!("expired {}", full_time(at)),
        (None, Some(at)) => format!("expires {}", full_time(at)),
        (None, None) => "never expires".into(),
    };
    let used = token
        .last_used_at
        .map_or_else(|| "never used".into(), |at| format!("last used {}", full_time(at)));
    format!("{}\t{}\t{}\t{state}\t{used}", token.id, token.scope.word(), token.name)
}

/// Tab-separated; what changed as JSON.
fn deed_line(deed: &Deed) -> String {
    let json = |value: &Option<serde_json::Value>| {
        value.as_ref().map(ToString::to_string).unwrap_or_default()
    };
    [
        full_time(deed.at),
        deed.who.clone(),
        deed.origin.clone(),
        deed.what.clone(),
        deed.about.clone(),
        json(&deed.was),
        json(&deed.became),
    ]
    .join("\t")
}

pub(super) fn full_time(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_else(|_| at.to_string())
}
