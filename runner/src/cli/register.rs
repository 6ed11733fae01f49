//! `register`: make this machine known to a service.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use super::tell;
use crate::agent::{Client, NotRegistered, Server, StateDir, Token, register};
use crate::exit::{Ended, Exit};
use crate::machine;

/// Register this machine with a service and keep the upload token it gives
///
/// The enrolment token is read from a file or from the variable `SCALEWATCH_TOKEN`, never from the
/// command line, where other users could see it. Registering again is harmless: the service knows
/// the machine by its hardware and gives a new token.
#[derive(clap::Args)]
pub struct Args {
    /// Address of the service, e.g. `https://watch.example.org`
    #[arg(long, value_name = "URL")]
    server: Server,
    /// File that holds the enrolment token and nothing else
    #[arg(long, value_name = "FILE")]
    enrol_token_file: Option<PathBuf>,
    /// What people call this machine [default: its host name]
    #[arg(long)]
    name: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let token = match &args.enrol_token_file {
        Some(file) => Token::read(file)?,
        None => token_from_environment()?
            .context("no enrolment token: give --enrol-token-file, or set SCALEWATCH_TOKEN")?,
    };
    let state = StateDir::locate()?;
    let mut machine = machine::machine(state.path()?).context("cannot identify this machine")?;
    if let Some(name) = &args.name {
        ensure!(!name.trim().is_empty(), "--name must not be empty");
        machine.name = name.trim().to_owned();
    }
    machine.check("machine.").context("this machine's description is not valid")?;
    warn_if_exposed(&args.server);
    match register(&state, &Client::new(args.server.clone(), token), &machine) {
        Ok(registered) => {
            tell(&format!(
                "registered {} ({:.16}) with {}; the upload token is kept in {}",
                machine.name,
                registered.machine,
                registered.server,
                state.registration_file().display()
            ));
            Ok(Exit::Done)
        }
        Err(NotRegistered::Refused(refusal)) => {
            let words = format!("{} refused to register this machine: {refusal}", args.server);
            Err(Ended::with(Exit::Refused, words))
        }
        Err(NotRegistered::Unreachable(words)) => Err(Ended::with(Exit::Unreachable, words)),
        Err(NotRegistered::Failed(error)) => Err(error),
    }
}

/// The token of `SCALEWATCH_TOKEN`; none where it is not set.
pub fn token_from_environment() -> anyhow::Result<Option<Token>> {
    match std::env::var("SCALEWATCH_TOKEN") {
        Ok(text) if !text.trim().is_empty() => {
            Token::new(&text).context("in SCALEWATCH_TOKEN").map(Some)
        }
        _ => Ok(None),
    }
}

/// A token that travels in the clear is worth a word.
pub fn warn_if_exposed(server: &Server) {
    if server.is_exposed() {
        tell(&format!("note: {server} is not encrypted; the token can be read on the way"));
    }
}
