//! `serve --check-config`: says everything that is wrong with the settings at once, and what they are.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::serve::Serve;
use crate::app::tls::Certificates;
use crate::config::{Config, Sources};
use crate::{mail, postgres};

/// Exit code where something is wrong.
const WRONG: u8 = 2;

/// Prints the settings in effect, and each problem on a line of standard error. Nothing is started or
/// changed, and no address is tried.
pub fn run(serve: &Serve, sources: Result<Sources>) -> ExitCode {
    let sources = match sources {
        Ok(sources) => sources,
        Err(error) => {
            eprintln!("scalewatch: {error:#}");
            return ExitCode::from(WRONG);
        }
    };
    let (mut config, read) = Config::read(&sources);
    if config.database_url.is_none() {
        config.database_url = postgres::running_address(&config.data);
    }
    print!("{}", config.shown(&sources));
    let mut problems = sources.problems().to_vec();
    problems.extend(read);
    problems.extend(found(serve, &config, &sources));
    for problem in &problems {
        eprintln!("scalewatch: {problem}");
    }
    match problems.len() {
        0 => ExitCode::SUCCESS,
        count => {
            eprintln!("scalewatch: {count} problem{}", if count == 1 { "" } else { "s" });
            ExitCode::from(WRONG)
        }
    }
}

/// What is wrong beyond the values themselves.
fn found(serve: &Serve, config: &Config, sources: &Sources) -> Vec<String> {
    let mut problems = Vec::new();
    let mut add = |checked: Result<()>| {
        if let Err(error) = checked {
            problems.push(format!("{error:#}"));
        }
    };
    add(config.database_url().map(drop));
    add(serve.check_owner(config.listen));
    if let Some(tls) = &config.tls {
        let names =
            [sources.name("SCALEWATCH_TLS_CERTIFICATE"), sources.name("SCALEWATCH_TLS_KEY")];
        add(Certificates::load(tls).map(drop).context(names.join(" and ")));
    }
    if !config.data.as_os_str().is_empty() {
        add(writable(&config.data).context(sources.name("SCALEWATCH_DATA")));
    }
    let is_set = |name: &str| sources.get(name).is_some_and(|value| !value.trim().is_empty());
    if is_set("SCALEWATCH_SMTP_URL") {
        for name in ["SCALEWATCH_MAIL_TO", "SCALEWATCH_MAIL_FROM"] {
            if !is_set(name) {
                problems.push(format!(
                    "{name} is not set, though mail goes to a server ({})",
                    sources.name("SCALEWATCH_SMTP_URL")
                ));
            }
        }
    }
    problems.extend(mail::problems(config));
    problems
}

/// Whether files can be made in a folder, or it can be made itself.
fn writable(folder: &Path) -> Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.with_context(|| format!("{} cannot be made", folder.display()))?;
    anyhow::ensure!(there.is_dir(), "{} is no folder", there.display());
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(there, access)
        .with_context(|| format!("{} cannot be written to", there.display()))
}
