//! `admin webhook`: addresses that are told what happens to the incidents of a project.

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::api;
use crate::db;
use crate::model::webhook::{Webhook, check_url};
use crate::model::{Secret, WebhookId};
use crate::webhook::{self, Answered};

#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Add an address and print its secret, which is shown this once
    Add(Add),
    /// List addresses, secrets left out
    List,
    /// Send nothing to an address any more
    Remove {
        /// Number of the webhook, as `list` shows it
        id: i64,
    },
    /// Send a test event now and say what came of it
    Test {
        /// Number of the webhook, as `list` shows it
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct Add {
    /// Project whose incidents are told
    #[arg(long)]
    project: String,
    /// Where events are sent: http:// or https://
    #[arg(long, value_parser = url)]
    url: String,
}

fn url(text: &str) -> Result<String> {
    check_url(text).map_err(|problem| anyhow!("{problem}"))?;
    Ok(text.to_owned())
}

impl WebhookCommand {
    pub async fn run(self, pool: &db::Pool, now: OffsetDateTime) -> Result<()> {
        match self {
            WebhookCommand::Add(add) => add.run(pool, now).await,
            WebhookCommand::List => {
                for webhook in db::webhook::list(pool).await? {
                    println!("{}", line(&webhook));
                }
                Ok(())
            }
            WebhookCommand::Remove { id } => {
                let mut tx = pool.begin().await?;
                if !db::webhook::mark_removed(&mut tx, WebhookId(id), now).await? {
                    bail!("there is no webhook {id}");
                }
                tx.commit().await?;
                println!("webhook {id} is told nothing from now on");
                Ok(())
            }
            WebhookCommand::Test { id } => test(pool, id, now).await,
        }
    }
}

impl Add {
    async fn run(self, pool: &db::Pool, now: OffsetDateTime) -> Result<()> {
        let project = db::project::find_by_name(pool, &self.project).await?;
        let project = project.with_context(|| format!("no project is named `{}`", self.project))?;
        let secret = Secret::random();
        let id = db::webhook::insert(pool, project.id, &self.url, secret.reveal(), now).await?;
        let id = id.with_context(|| format!("{} is a webhook of this project", self.url))?;
        eprintln!("webhook {id}; the secret that signs what it is sent, shown this once:");
        println!("{}", secret.reveal());
        Ok(())
    }
}

async fn test(pool: &db::Pool, id: i64, now: OffsetDateTime) -> Result<()> {
    let found = db::webhook::find(pool, WebhookId(id)).await?;
    let (url, secret) = found.with_context(|| format!("there is no webhook {id}"))?;
    let body = api::webhook::of_test(now)?;
    match webhook::post(&url, &secret, 0, body, now).await {
        Answered::Taken => {
            println!("{url} took it");
            Ok(())
        }
        Answered::Never(error) | Answered::Later(error) => bail!("{url}: {error}"),
    }
}

fn line(webhook: &Webhook) -> String {
    let since = webhook.created_at.format(&Rfc3339).unwrap_or_default();
    let waiting = match (webhook.waiting, &webhook.last_error) {
        (0, _) => "nothing waits".to_owned(),
        (n, None) => format!("{n} to be sent"),
        (n, Some(error)) => format!("{n} to be sent; last: {error}"),
    };
    format!("{}\t{}\t{}\tsince {since}\t{waiting}", webhook.id, webhook.project_name, webhook.url)
}
