//! `admin machine` and `admin retention`: what is kept of which hardware, and for how long.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use time::OffsetDateTime;

use super::admin::full_time;
use crate::account::By;
use crate::db::{self, Pool};
use crate::format;
use crate::lives::merge;
use crate::upkeep;

#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    /// List registered machines
    List,
    /// Give a machine another name; what it measured stays with it
    Rename {
        /// Id of the machine, as `list` shows it
        machine: String,
        /// What people call it from now on
        name: String,
    },
    /// Make everything that one machine measured another's: the same hardware registered twice
    ///
    /// Its id and its tokens are the other's from then on. There is no way back.
    Merge {
        /// Id of the machine that goes
        from: String,
        /// Id of the machine that stays
        into: String,
        /// Their hardware differs, and it is the same all the same
        #[arg(long)]
        force: bool,
    },
    /// Refuse a machine's reports from now on and leave it out of overviews
    ///
    /// What it measured stays. It is back once it registers again.
    Retire {
        /// Id of the machine, as `list` shows it
        machine: String,
    },
}

impl MachineCommand {
    pub async fn run(self, pool: &Pool, by: &By<'_>) -> Result<()> {
        let now = by.now;
        match self {
            MachineCommand::List => {
                for machine in db::machine::list(pool).await? {
                    let seen = machine.last_seen_at.map_or_else(|| "never".into(), full_time);
                    let retired = machine.retired_at.map(full_time);
                    let state = retired.map_or(String::new(), |at| format!("\tretired {at}"));
                    println!("{}\t{}\tlast report {seen}{state}", machine.public_id, machine.name);
                }
            }
            MachineCommand::Rename { machine, name } => {
                if name.trim().is_empty() || name.len() > wire::limits::TEXT {
                    bail!("a name has 1 to {} bytes", wire::limits::TEXT);
                }
                let mut connection = pool.acquire().await?;
                let found = find(pool, &machine).await?;
                db::machine::mark_renamed(&mut connection, found.id, &name).await?;
                println!("machine {machine} is called {name}; it was {}", found.name);
            }
            MachineCommand::Merge { from, into, force } => {
                let mut tx = pool.begin().await?;
                let moved = merge::merge(&mut tx, by, &from, &into, force).await?;
                tx.commit().await?;
                println!(
                    "{} of {from} are {into}'s; {} are judged anew, {} of them were both's",
                    format::count(moved.runs as usize, "run"),
                    format::count(moved.curves as usize, "curve"),
                    moved.joined
                );
            }
            MachineCommand::Retire { machine } => {
                let found = find(pool, &machine).await?;
                if !db::machine::mark_retired(pool, found.id, now).await? {
                    bail!("machine {machine} is retired already");
                }
                println!("{} is retired; registered again it is back", found.name);
            }
        }
        Ok(())
    }
}

async fn find(pool: &Pool, id: &str) -> Result<crate::model::Machine> {
    let found = db::machine::find_by_public_id(pool, id).await?;
    found.with_context(|| format!("no machine has the id `{id}`"))
}

#[derive(Debug, Subcommand)]
pub enum RetentionCommand {
    /// Say how long each project keeps windows and samples
    List,
    /// Keep windows and samples of a project's runs for some days; summaries stay for ever
    Set {
        /// Name of the project
        project: String,
        /// Days after the end of a run
        #[arg(value_parser = clap::value_parser!(i32).range(1..=36_500))]
        days: i32,
    },
    /// Keep windows and samples of a project's runs for ever
    Keep {
        /// Name of the project
        project: String,
    },
    /// Take away now what had its time, as the service does every hour
    Run,
}

impl RetentionCommand {
    pub async fn run(self, pool: &Pool, now: OffsetDateTime) -> Result<()> {
        match self {
            RetentionCommand::List => {
                for one in db::upkeep::list_retention(pool).await? {
                    let days =
                        one.raw_days.map_or("for ever".into(), |days| format!("{days} days"));
                    println!(
                        "{}\traw samples {days}\t{} runs whole\t{} runs thinned",
                        one.project, one.whole, one.thinned
                    );
                }
            }
            RetentionCommand::Set { project, days } => {
                set(pool, &project, Some(days)).await?;
                println!("{project} keeps raw samples {days} days, summaries for ever");
            }
            RetentionCommand::Keep { project } => {
                set(pool, &project, None).await?;
                println!("{project} keeps raw samples for ever; what is gone stays gone");
            }
            RetentionCommand::Run => {
                let done = upkeep::run(pool, now).await.map_err(anyhow::Error::from)?;
                println!("{} runs thinned", done.thinned);
            }
        }
        Ok(())
    }
}

async fn set(pool: &Pool, project: &str, days: Option<i32>) -> Result<()> {
    if !db::upkeep::set_retention(pool, project, days).await? {
        bail!("there is no project `{project}`");
    }
    Ok(())
}
