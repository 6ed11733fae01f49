//! The command line: one variant a command, each a thin call into its module.

mod admin;
mod backup;
mod branch;
mod check;
mod detect;
mod import;
mod logging;
mod machine;
mod project;
mod serve;
mod user;
mod webhook;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use tracing::Level;

use crate::config::{Config, LogFormat, Sources};
use crate::{postgres, up};

pub use serve::stop_signal;

/// Finds out which commit made a kernel, a file system or an allocator scale worse.
#[derive(Debug, Parser)]
#[command(name = "scalewatch", version, arg_required_else_help = true, after_help = SETTINGS)]
pub struct Cli {
    /// Shape of log lines: text, or one JSON object a line [as the environment says, else text]
    #[arg(long, global = true, value_name = "FORMAT", value_parser = log_format)]
    log_format: Option<LogFormat>,
    /// Settings in a TOML file, under those of the environment; else the one that `SCALEWATCH_CONFIG` names
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting by its key in the file, e.g. listen=0.0.0.0:80, above the environment's
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(subcommand)]
    command: Command,
}

fn log_format(word: &str) -> Result<LogFormat, &'static str> {
    LogFormat::parse(word).ok_or("is neither text nor json")
}

const SETTINGS: &str = "Settings (environment; docs/operations.md has their keys in a file):
  SCALEWATCH_CONFIG                TOML file with settings
  DATABASE_URL                     Postgres 15 or newer, e.g. postgres://user@host/scalewatch
  SCALEWATCH_LISTEN                address to listen on [127.0.0.1:8420]
  SCALEWATCH_URL                   how browsers and mail readers reach it [http://<listen>]
  SCALEWATCH_DATA                  data folder [$XDG_DATA_HOME/scalewatch, root: /var/lib/scalewatch]
  SCALEWATCH_DATABASE_CONNECTIONS  most connections to Postgres [16]
  SCALEWATCH_LOG_FORMAT            text or json [text]
  SCALEWATCH_MAIL_FROM, _MAIL_TO   sender, and recipients separated by commas
  SCALEWATCH_SMTP_URL              smtp://user@host:587?tls=required (or opportunistic, none; &ca=FILE
                                   names a private authority), smtps://…; unset: .eml files
  SCALEWATCH_SMTP_PASSWORD_FILE    file that holds the SMTP password
  SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE  most requests of one token in a minute [6000]
  DATABASE_REPLICA_URL             streaming replica that pages and API read from
  SCALEWATCH_REPLICA_LAG_SECONDS   a replica further behind is not read from [10]
  SCALEWATCH_SHUTDOWN_SECONDS      how long work in flight may take once told to stop [10]
  SCALEWATCH_TLS_CERTIFICATE, _TLS_KEY  PEM files; then it speaks TLS. Read again when they change
  SCALEWATCH_TRUSTED_PROXIES       networks whose word about the client is taken, e.g. 10.0.0.0/8,::1
  SCALEWATCH_PROXY_HEADER          header in which they name the client [X-Forwarded-For] or Forwarded
  SCALEWATCH_READY_WORKER_SECONDS, _READY_MAIL_SECONDS, _READY_DISK_PERCENT
                                   limits of /health/ready [300, 3600, 5]
  SCALEWATCH_OIDC_ISSUER, _OIDC_CLIENT_ID, _OIDC_CLIENT_SECRET_FILE (or _OIDC_CLIENT_SECRET)
                                   provider that people may sign in by; docs/accounts.md has these:
  SCALEWATCH_OIDC_NAME, _OIDC_REDIRECT_URL, _OIDC_SCOPES, _OIDC_DOMAINS, _OIDC_CLAIMS,
  _OIDC_NEW_PEOPLE, _OIDC_LINK_BY_EMAIL, _OIDC_GROUPS_CLAIM, _OIDC_ROLES
  SCALEWATCH_PASSWORD_LOGIN        on, or off where people sign in by the provider alone [on]
  RUST_LOG                         what is logged [info, for up: warn]";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything on this machine and do the main job on it for real
    ///
    /// Starts the service, with a Postgres of its own where `DATABASE_URL` is unset, registers this
    /// machine, measures a little history of revisions, and says which regression was found and
    /// where the mail lies. What was measured before is not measured again.
    Up(up::Up),
    /// Serve pages and API, and run the worker, on the configured database
    Serve(serve::Serve),
    /// Bring the configured database to this version's schema
    Migrate,
    /// Find the steps of series in files; needs no database
    Detect(detect::Detect),
    /// Bring results of other tools: LKP, mmtests, fio, criterion, a csv, …
    ///
    /// All files are read and checked before anything is stored; each run is stored whole or not at
    /// all, and importing the same files again stores nothing twice. docs/import.md has an example of
    /// each format.
    Import(Box<import::Import>),
    /// People, tokens, machines, webhooks, backups, and what was done
    #[command(subcommand)]
    Admin(admin::Admin),
}

/// Runs one command to its end.
///
/// # Errors
/// What went wrong, for the person who typed the command.
pub fn run(cli: Cli) -> Result<ExitCode> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
    let sources = Sources::read(cli.config.as_deref(), &cli.set, environment);
    if let Command::Serve(serve) = &cli.command
        && serve.check_config
    {
        return Ok(check::run(serve, sources));
    }
    let sources = sources?;
    let (mut config, problems) = Config::read(&sources);
    ensure!(problems.is_empty(), "{}", problems.join("\nscalewatch: "));
    // What `up` does it says itself.
    let (says_itself, usual) = match cli.command {
        Command::Up(_) => (true, Level::WARN),
        _ => (false, Level::INFO),
    };
    if config.database_url.is_none() && !says_itself {
        config.database_url = postgres::running_address(&config.data);
    }
    config.log_format = cli.log_format.unwrap_or(config.log_format);
    logging::init(config.log_format, usual);
    if let Command::Serve(_) | Command::Up(_) = &cli.command {
        sources.problems().iter().for_each(|problem| tracing::warn!("{problem}"));
    }
    // Requests wait for Postgres, not for a core: few threads keep idle memory small.
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(dispatch(cli.command, config))
        .map(|()| ExitCode::SUCCESS)
}

async fn dispatch(command: Command, config: Config) -> Result<()> {
    match command {
        Command::Up(up) => up.run(config).await,
        Command::Serve(serve) => serve.run(config).await,
        Command::Migrate => serve::migrate(&config).await,
        Command::Detect(detect) => detect.run(),
        Command::Import(import) => import.run(config).await,
        Command::Admin(admin) => admin.run(&config).await,
    }
}

#[cfg(test)]
mod tests {
    use super::SETTINGS as HELP;
    use crate::config::SETTINGS;

    #[test]
    fn help_names_every_setting_and_none_that_is_unknown() {
        for (_, variable) in SETTINGS.iter().filter(|(key, _)| !key.is_empty()) {
            let short = variable.trim_start_matches("SCALEWATCH");
            assert!(HELP.contains(variable) || HELP.contains(short), "{variable}");
        }
        let named = HELP.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for name in
            named.filter(|name| name.starts_with("SCALEWATCH_") || name.contains("DATABASE_"))
        {
            assert!(SETTINGS.iter().any(|(_, variable)| *variable == name), "{name}");
        }
    }
}
