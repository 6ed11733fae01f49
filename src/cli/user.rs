//! `admin user`: people, from the service's machine. A password comes from the terminal or from
//! standard input, or is set by a link that is good once; it is never an argument.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, Subcommand};

use super::admin::full_time;
use crate::account::{By, oidc, password, people};
use crate::config::Config;
use crate::db::{self, Connection, Pool};
use crate::model::person::NamedRole;
use crate::model::{Person, Role};

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a person; the password comes from the terminal or standard input
    Add(Add),
    /// List people with their rights
    List,
    /// Give a role in a project, or make a site admin
    Role(Give),
    /// Set a person's password; every session of theirs is over then
    Password {
        /// Who
        name: String,
        /// Print a link by which they set it themselves, once, instead of asking for it
        #[arg(long)]
        link: bool,
    },
    /// Refuse a person from now on; their sessions are over
    Disable {
        /// Who
        name: String,
    },
    /// Take a disabled person back
    Enable {
        /// Who
        name: String,
    },
    /// Forget what a person is known by at the provider that people sign in by
    Disconnect {
        /// Who
        name: String,
    },
    /// Remove a person with their roles, sessions and tokens; what they did stays told
    Remove {
        /// Who
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct Add {
    /// What they log in with: a-z, 0-9 and ._@+-
    name: String,
    /// Make them a site admin: every right in every project, and over people
    #[arg(long)]
    admin: bool,
    /// Print a link by which they set their password themselves, once, instead of asking for it
    #[arg(long)]
    link: bool,
}

#[derive(Debug, Args)]
pub struct Give {
    /// Who
    name: String,
    /// viewer, triager, maintainer, admin, or none to take it away
    role: String,
    /// Where; without it the role is admin or none, of the whole site
    #[arg(long)]
    project: Option<String>,
}

impl UserCommand {
    pub async fn run(self, pool: &Pool, config: &Config, by: &By<'_>) -> Result<()> {
        // Asked for before anything is begun.
        let asked = match &self {
            UserCommand::Add(Add { name, link: false, .. })
            | UserCommand::Password { name, link: false } => Some(hashed_password(name).await?),
            _ => None,
        };
        let mut tx = pool.begin().await?;
        let said = self.change(pool, &mut tx, config, by, asked).await?;
        tx.commit().await?;
        println!("{said}");
        Ok(())
    }

    /// Does it, and gives what is to be said of it.
    async fn change(
        self,
        pool: &Pool,
        tx: &mut Connection,
        config: &Config,
        by: &By<'_>,
        asked: Option<String>,
    ) -> Result<String> {
        Ok(match self {
            UserCommand::List => list(pool).await?,
            UserCommand::Add(add) => {
                let person = people::add(tx, by, &add.name, add.admin).await?;
                password_or_link(tx, config, by, &person, asked).await?
            }
            UserCommand::Password { name, .. } => {
                let person = people::find(tx, &name).await?;
                password_or_link(tx, config, by, &person, asked).await?
            }
            UserCommand::Role(give) => give.run(tx, by).await?,
            UserCommand::Disable { name } => {
                let person = people::find(tx, &name).await?;
                people::set_disabled(tx, by, &person, true).await?;
                format!("{} is refused from now on", person.name)
            }
            UserCommand::Enable { name } => {
                let person = people::find(tx, &name).await?;
                people::set_disabled(tx, by, &person, false).await?;
                format!("{} may log in", person.name)
            }
            UserCommand::Disconnect { name } => {
                let person = people::find(tx, &name).await?;
                oidc::forget(tx, by, &person).await?;
                format!("{} is not connected any more", person.name)
            }
            UserCommand::Remove { name } => {
                let person = people::find(tx, &name).await?;
                people::remove(tx, by, &person).await?;
                format!("{} is removed", person.name)
            }
        })
    }
}

async fn password_or_link(
    tx: &mut Connection,
    config: &Config,
    by: &By<'_>,
    person: &Person,
    asked: Option<String>,
) -> Result<String> {
    let Some(hash) = asked else {
        let secret = people::make_link(tx, by, person).await?;
        eprintln!("{} sets a password by this link, once, within three days:", person.name);
        return Ok(people::link_address(&config.public_url, &secret));
    };
    people::set_password(tx, by, person, &hash, None).await?;
    Ok(format!("{} may log in at {}/login", person.name, config.public_url))
}

impl Give {
    async fn run(self, tx: &mut Connection, by: &By<'_>) -> Result<String> {
        let words = Role::ALL.map(Role::word).join(", ");
        let role = match self.role.as_str() {
            "none" => None,
            word => Some(
                Role::parse(word).ok_or_else(|| anyhow!("`{word}` is none of {words}, none"))?,
            ),
        };
        let person = people::find(tx, &self.name).await?;
        let Some(project) = self.project else {
            ensure!(
                matches!(role, None | Some(Role::Admin)),
                "without --project a role is admin or none"
            );
            people::set_admin(tx, by, &person, role.is_some()).await?;
            let is = if role.is_some() { "is a" } else { "is no" };
            return Ok(format!("{} {is} site admin", person.name));
        };
        let found = db::project::find_by_name(&mut *tx, &project).await?;
        let project = found.with_context(|| {
            format!("there is no project `{project}`; its first report makes it")
        })?;
        people::set_role(tx, by, &person, &project, role).await?;
        let word = role.map_or("nothing", Role::word);
        Ok(format!("{} is {word} in {}", person.name, project.name))
    }
}

async fn list(pool: &Pool) -> Result<String> {
    let mut lines = Vec::new();
    let roles = db::role::list_named(pool, None).await?;
    for person in db::person::list(pool).await? {
        let of = |role: &&NamedRole| role.person == person.id;
        let named = |role: &NamedRole| format!("{}:{}", role.project_name, role.role.word());
        let mut rights: Vec<String> = roles.iter().filter(of).map(named).collect();
        if person.is_admin {
            rights.insert(0, "site admin".into());
        }
        lines.push(format!("{}\t{}\t{}", person.name, rights.join(" "), state(&person)));
    }
    Ok(lines.join("\n"))
}

fn state(person: &Person) -> String {
    let login = person
        .last_login_at
        .map_or_else(|| "never logged in".into(), |at| format!("last login {}", full_time(at)));
    match (person.disabled_at, person.has_password) {
        (Some(at), _) => format!("disabled {}\t{login}", full_time(at)),
        (None, true) => format!("can log in\t{login}"),
        (None, false) => format!("has no password\t{login}"),
    }
}

/// The hash of a password typed twice on a terminal, or of the first line of standard input.
async fn hashed_password(name: &str) -> Result<String> {
    let typed = if io::stdin().is_terminal() {
        let typed =
            rpassword::prompt_password("Password: ").context("cannot ask for a password")?;
        let again =
            rpassword::prompt_password("Once more: ").context("cannot ask for a password")?;
        ensure!(typed == again, "the two passwords differ");
        typed
    } else {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).context("cannot read standard input")?;
        if line.is_empty() {
            bail!("there is no password on standard input; pipe one, or take --link");
        }
        line.trim_end_matches(['\r', '\n']).to_owned()
    };
    password::checked("password", &typed, name)?;
    Ok(password::hash(&typed).await?)
}
