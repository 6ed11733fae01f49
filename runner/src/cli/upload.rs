//! `upload`: put reports into the spool and send it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::register::{token_from_environment, warn_if_exposed};
use super::{tell, values};
use crate::agent::{
    Answer, Client, Drained, Later, Patience, Server, Spool, StateDir, Stopped, Token, drain,
};
use crate::clock;
use crate::compare::files::{Content, parse};
use crate::compare::floors::Floors;
use crate::exit::{Ended, Exit};
use crate::machine;

/// Rounds over the spool where no patience is asked for.
const USUAL_ROUNDS: u32 = 3;

/// Send reports to the service; what cannot be sent is kept for the next time
///
/// Reports of FILE are put into the spool first, then the whole spool is sent, oldest first. A
/// report leaves the spool when the service holds it. One that the service refuses is set aside in
/// `refused/` with the reason beside it. Sending twice changes nothing: the service knows each run
/// by its UUID. The noise floors that `calibrate` found here go along.
#[derive(clap::Args)]
pub struct Args {
    /// Result files written by `run --json`
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    service: Service,
}

/// Which service.
#[derive(clap::Args)]
pub struct Address {
    /// Address of the service [default: the one this machine is registered with]
    ///
    /// Another service needs its token in the variable `SCALEWATCH_TOKEN`.
    #[arg(long, value_name = "URL")]
    server: Option<Server>,
}

/// Where to send to, and for how long to try.
#[derive(clap::Args)]
pub struct Service {
    #[command(flatten)]
    address: Address,
    /// Keep trying until everything is sent
    #[arg(long)]
    wait: bool,
    /// Keep trying for this long, e.g. 10m [default: three attempts]
    #[arg(long = "for", value_name = "TIME", value_parser = values::duration)]
    within: Option<Duration>,
}

/// The service that reports go to.
pub struct Destination {
    client: Client,
    machine: Option<String>,
    patience: Patience,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let state = StateDir::locate()?;
    let destination = args.service.destination(&state)?;
    let mut reports = Vec::new();
    for file in &args.files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        reports.extend(match parse(&name, &text)? {
            Content::Plain(plain) => plain,
            Content::Sided(sided) => sided.into_iter().map(|line| line.report).collect(),
        });
    }
    let spool = state.spool()?;
    for report in &reports {
        spool.put(report)?;
    }
    let exit = destination.send(&spool)?;
    let machine = machine::machine(state.path()?)?.id;
    let floors = Floors::load(state.path()?, clock::now())?.of_machine(&machine);
    if !floors.floors.is_empty() {
        destination.send_floors(&machine, &floors)?;
    }
    Ok(exit)
}

impl Service {
    /// Finds the token; no connection is made yet.
    ///
    /// # Errors
    /// When this machine is not registered, or not with the service that was named.
    pub fn destination(&self, state: &StateDir) -> anyhow::Result<Destination> {
        let (client, machine) = self.address.client(state)?;
        let patience = match (self.wait, self.within) {
            (_, Some(within)) => Patience { rounds: None, within: Some(within) },
            (true, None) => Patience { rounds: None, within: None },
            (false, None) => Patience { rounds: Some(USUAL_ROUNDS), within: None },
        };
        Ok(Destination { client, machine, patience })
    }
}

impl Address {
    /// The service and the id of the machine that the token is bound to, where that is known.
    ///
    /// # Errors
    /// When this machine is not registered, or not with the service that was named.
    pub fn client(&self, state: &StateDir) -> anyhow::Result<(Client, Option<String>)> {
        let (server, token, machine) = self.account(state)?;
        warn_if_exposed(&server);
        Ok((Client::new(server, token), machine))
    }

    /// The service with a token of one's own; the server may be the one this machine is registered
    /// with.
    ///
    /// # Errors
    /// When no server or no token is known.
    pub fn client_with(&self, token: Option<Token>, state: &StateDir) -> anyhow::Result<Client> {
        let Some(token) = token else { return Ok(self.client(state)?.0) };
        let server = match &self.server {
            Some(server) => server.clone(),
            None => state.registration()?.context("which service? Give --server")?.server,
        };
        warn_if_exposed(&server);
        Ok(Client::new(server, token))
    }

    fn account(&self, state: &StateDir) -> anyhow::Result<(Server, Token, Option<String>)> {
        let registered = state.registration()?;
        match (&self.server, token_from_environment()?, registered) {
            (Some(server), Some(token), _) => Ok((server.clone(), token, None)),
            (asked, _, Some(registered)) => {
                ensure!(
                    asked.as_ref().is_none_or(|server| *server == registered.server),
                    "this machine is registered with {}, and its token goes nowhere else: register \
                     with the other service, or set SCALEWATCH_TOKEN",
                    registered.server
                );
                Ok((registered.server, registered.token, Some(registered.machine)))
            }
            (None, Some(_), None) => bail!("SCALEWATCH_TOKEN is set, but --server is not given"),
            (_, None, None) => {
                bail!("this machine is not registered: `scalewatch-runner register --server URL`")
            }
        }
    }
}

impl Destination {
    /// Finds out before measuring that the token is bound to another machine than this one.
    ///
    /// # Errors
    /// When it is: hardware was changed, or the state folder came from elsewhere.
    pub fn takes_reports_of(&self, machine: &wire::Machine) -> anyhow::Result<()> {
        ensure!(
            self.machine.as_ref().is_none_or(|bound| *bound == machine.id),
            "the token is bound to another machine: this one is {:.16} now, register it again",
            machine.id
        );
        Ok(())
    }

    /// Sends the spool and says what became of it.
    ///
    /// # Errors
    /// With the exit codes 4 (the token was refused) and 5 (no service), or when the spool fails.
    pub fn send(&self, spool: &Spool) -> anyhow::Result<Exit> {
        let machine = self.machine.as_deref();
        let mut pause = |length| std::thread::sleep(length);
        let drained =
            drain(spool, &self.client, machine, self.patience, &mut pause, &mut |line| tell(line))?;
        tell(&in_words(&drained));
        let kept = drained.kept;
        match drained.stopped {
            Some(Stopped::Unauthorised(refusal)) => Err(Ended::with(
                Exit::Refused,
                format!(
                    "{} does not take this token: {refusal}; {kept} kept, register again",
                    self.client.server()
                ),
            )),
            Some(Stopped::Unreachable(words)) => Err(Ended::with(
                Exit::Unreachable,
                format!("{words}; {kept} kept for the next time"),
            )),
            Some(Stopped::Busy) => {
                let words = format!("another upload is at work on the spool; {kept} kept for it");
                Err(Ended::with(Exit::Unreachable, words))
            }
            None if drained.refused.is_empty() => Ok(Exit::Done),
            None => Ok(Exit::Refused),
        }
    }
}

impl Destination {
    /// Sends what `calibrate` found on this machine; what the service knows already changes nothing.
    ///
    /// # Errors
    /// With the exit codes 4 (the token was refused) and 5 (no service).
    fn send_floors(&self, machine: &str, floors: &wire::NoiseFloors) -> anyhow::Result<()> {
        let path = format!("/api/v1/machines/{machine}/noise-floors");
        let bytes = serde_json::to_vec(floors).context("cannot write JSON")?;
        match self.client.post::<wire::FloorsKept>(&path, &bytes) {
            Answer::Accepted(kept) => tell(&format!("{} noise floors new to it", kept.kept)),
            Answer::Refused(refusal) => tell(&format!("noise floors refused: {refusal}")),
            Answer::Unauthorised(refusal) => {
                let words =
                    format!("{} does not take the noise floors: {refusal}", self.client.server());
                return Err(Ended::with(Exit::Refused, words));
            }
            Answer::Later(Later { words, .. }) | Answer::Unreachable(words) => {
                let words = format!("{words}; the noise floors wait for the next upload");
                return Err(Ended::with(Exit::Unreachable, words));
            }
        }
        Ok(())
    }
}

/// `3 sent (1 known already), 1 refused, 0 kept`.
fn in_words(drained: &Drained) -> String {
    let known = drained.accepted.iter().filter(|accepted| !accepted.new).count();
    let known = if known == 0 { String::new() } else { format!(" ({known} known already)") };
    format!(
        "{} sent{known}, {} refused, {} kept",
        drained.accepted.len(),
        drained.refused.len(),
        drained.kept
    )
}
