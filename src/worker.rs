//! Drives detect, alert and mail, one unit of work at a time; tests step it. Two workers on one
//! database are safe: what one works on, the other passes over.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::alert;
use crate::app::App;
use crate::db;
use crate::db::due::Due;
use crate::detect;
use crate::mail::{self, Sent, Transport};
use crate::model::CurveId;

/// Wait between looks at the database when there is nothing to do.
const IDLE: Duration = Duration::from_millis(500);

/// Wait after the database failed to answer.
const TROUBLE: Duration = Duration::from_secs(5);

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// Judged a curve and stored what came of it.
    Judged(CurveId),
    /// Could not judge a curve; it stands at the end of the queue now.
    Postponed(CurveId, String),
    /// Handled the message of this event.
    Message(String, Sent),
    /// Found nothing to do now.
    Nothing,
}

/// Judges what is due and sends what is to be told.
#[derive(Debug, Clone)]
pub struct Worker {
    app: App,
    transport: Transport,
}

impl Worker {
    /// A worker that mails as the settings say.
    ///
    /// # Errors
    /// Mail settings that cannot be used.
    pub fn new(app: App) -> Result<Worker> {
        let transport = Transport::from_config(&app.config)?;
        Ok(Worker { app, transport })
    }

    /// Does one unit of work: judges one curve, else sends one message, so that steps of one cause
    /// found together are told together.
    ///
    /// # Errors
    /// When the database does not answer. Nothing is half-done then.
    pub async fn step(&self) -> Result<Did> {
        if let Some(did) = self.judge_next().await? {
            return Ok(did);
        }
        match mail::send_next(&self.app, &self.transport).await? {
            Some((event, sent)) => Ok(Did::Message(event, sent)),
            None => Ok(Did::Nothing),
        }
    }

    /// Steps until nothing can be done now, and says what was done.
    ///
    /// # Errors
    /// As [`Worker::step`].
    pub async fn run_until_idle(&self) -> Result<Vec<Did>> {
        let mut done = Vec::new();
        loop {
            match self.step().await? {
                Did::Nothing => return Ok(done),
                // Tried once is enough: what failed now would fail again at once.
                did @ Did::Postponed(..) if done.contains(&did) => return Ok(done),
                did => done.push(did),
            }
        }
    }

    /// Works until `stop` completes; a unit once begun is finished.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            // On a task of its own: a fault in one unit must not end the worker.
            let unit = self.clone();
            let did = tokio::spawn(async move { unit.step().await }).await;
            let pause = match did.context("a unit of work died").flatten() {
                Ok(Did::Nothing) => Some(IDLE),
                Ok(did) => {
                    report(&did);
                    matches!(did, Did::Postponed(..)).then_some(TROUBLE)
                }
                Err(error) => {
                    tracing::warn!(error = %format!("{error:#}"), "the worker waits");
                    Some(TROUBLE)
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => return,
                () = tokio::time::sleep(pause.unwrap_or_default()) => {}
            }
        }
    }

    async fn judge_next(&self) -> Result<Option<Did>> {
        let mut transaction = self.app.db.begin().await?;
        let Some(due) = db::due::claim_next(&mut transaction).await? else { return Ok(None) };
        match self.judge(&mut transaction, due).await {
            Ok(()) => {
                transaction.commit().await?;
                Ok(Some(Did::Judged(due.curve)))
            }
            Err(error) => {
                transaction.rollback().await?;
                let mut connection = self.app.db.acquire().await?;
                db::due::postpone(&mut connection, due, self.app.clock.now()).await?;
                Ok(Some(Did::Postponed(due.curve, format!("{error:#}"))))
            }
        }
    }

    async fn judge(&self, connection: &mut db::Connection, due: Due) -> Result<()> {
        let judged = detect::judge(connection, due).await?;
        alert::apply(connection, due, &judged.found, self.app.clock.now()).await?;
        db::noise::replace_builds(connection, due.machine, due.curve, &judged.noise).await?;
        let effects = &judged.effects;
        db::environment::replace_effects(connection, due.machine, due.curve, effects).await?;
        let curve = (due.machine, due.curve);
        db::scaling::replace(connection, curve, &judged.known_laws, &judged.laws).await?;
        Ok(db::due::delete(connection, due).await?)
    }
}

fn report(did: &Did) {
    match did {
        Did::Judged(curve) => tracing::debug!(%curve, "judged"),
        Did::Postponed(curve, error) => tracing::error!(%curve, error, "a curve cannot be judged"),
        Did::Message(event, Sent::To(place)) => tracing::info!(event, place, "mailed"),
        Did::Message(event, Sent::Failed(error)) => tracing::warn!(event, error, "mail waits"),
        Did::Message(event, Sent::Withdrawn) => tracing::info!(event, "mail withdrawn"),
        Did::Nothing => {}
    }
}
