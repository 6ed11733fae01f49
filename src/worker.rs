//! Drives detect, alert, jobs, mail and webhook, one unit of work at a time; tests step it. Two workers on one
//! database are safe: what one works on, the other passes over.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::sync::{Notify, watch};

use crate::alert;
use crate::app::App;
use crate::db;
use crate::db::due::Due;
use crate::detect;
use crate::jobs;
use crate::mail::{self, Sent, Transport};
use crate::metrics::{Delivery, Work};
use crate::model::job::JobState;
use crate::model::{CurveId, IncidentId, JobId};
use crate::upkeep;
use crate::webhook;

/// Wait between looks at the database when there is nothing to do.
const IDLE: Duration = Duration::from_millis(500);

/// Longest wait for a moment without uploads before a unit of work.
const UPLOADS_FIRST: Duration = Duration::from_millis(200);

/// Other curves that are judged in one transaction with the first.
const BESIDE: i64 = 63;

/// Wait after the database failed to answer.
const TROUBLE: Duration = Duration::from_secs(5);

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// Judged curves of one machine and project and stored what came of it.
    Judged(Vec<CurveId>),
    /// Could not judge a curve; it stands at the end of the queue now.
    Postponed(CurveId, String),
    /// Took a job back from an agent that was lost, or ended one that came too late.
    Settled(JobId, JobState),
    /// Asked for the suspect of this incident to be measured again, or found that it cannot be.
    Suspected(IncidentId),
    /// Judged what measuring it again gave.
    Confirmed(IncidentId),
    /// Handled the message of this event.
    Message(String, Sent),
    /// Handled an event of a webhook.
    Webhook(webhook::Sent),
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

    /// Does one unit of work: judges one curve, else tends the jobs, else sends one message, so that
    /// steps of one cause found together are told together.
    ///
    /// # Errors
    /// When the database does not answer. Nothing is half-done then.
    pub async fn step(&self) -> Result<Did> {
        self.app.pulse.beat(self.app.clock.now());
        let did = self.do_next().await?;
        self.count(&did);
        Ok(did)
    }

    async fn do_next(&self) -> Result<Did> {
        if let Some(did) = self.judge_next().await? {
            return Ok(did);
        }
        if let Some(did) = self.tend_jobs().await? {
            return Ok(did);
        }
        match mail::send_next(&self.app, &self.transport).await? {
            Some((event, sent)) => Ok(Did::Message(event, sent)),
            None => Ok(Did::Nothing),
        }
    }

    fn count(&self, did: &Did) {
        let metrics = &self.app.metrics;
        match did {
            Did::Judged(curves) => curves.iter().for_each(|_| metrics.worked(Work::Judged)),
            Did::Postponed(..) => metrics.worked(Work::Postponed),
            Did::Message(_, Sent::To(_)) => metrics.mailed(Delivery::Sent),
            Did::Message(_, Sent::Failed(_)) => metrics.mailed(Delivery::Failed),
            Did::Message(_, Sent::Withdrawn) => metrics.mailed(Delivery::Withdrawn),
            Did::Webhook(webhook::Sent::To(_)) => metrics.told(Delivery::Sent),
            Did::Webhook(webhook::Sent::Failed(_)) => metrics.told(Delivery::Failed),
            Did::Webhook(webhook::Sent::Abandoned(_)) => metrics.told(Delivery::Withdrawn),
            Did::Settled(..) | Did::Suspected(_) | Did::Confirmed(_) | Did::Nothing => {}
        }
    }

    /// Sends one event to a webhook. Apart from [`Worker::step`]: an address that is slow to answer
    /// must not hold up judgements.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn webhook_step(&self) -> Result<Did> {
        let did = webhook::send_next(&self.app).await?.map_or(Did::Nothing, Did::Webhook);
        self.count(&did);
        Ok(did)
    }

    /// Steps until nothing can be done now, and says what was done.
    ///
    /// # Errors
    /// As [`Worker::step`].
    pub async fn run_until_idle(&self) -> Result<Vec<Did>> {
        let mut done = Vec::new();
        loop {
            let did = match self.step().await? {
                Did::Nothing => self.webhook_step().await?,
                did => did,
            };
            match did {
                Did::Nothing => return Ok(done),
                // Tried once is enough: what failed now would fail again at once.
                did @ Did::Postponed(..) if done.contains(&did) => return Ok(done),
                did => done.push(did),
            }
        }
    }

    /// Works until `stop` completes; a unit once begun is finished.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let (tell, told) = watch::channel(false);
        let stop = async {
            stop.await;
            let _ = tell.send(true);
        };
        let judge_and_mail = self.repeat(told.clone(), Some(&self.app.due), |unit| async move {
            unit.app.gate.calm(UPLOADS_FIRST).await;
            unit.step().await
        });
        let webhooks =
            self.repeat(told.clone(), None, |unit| async move { unit.webhook_step().await });
        tokio::join!(stop, judge_and_mail, webhooks, self.keep_up(told));
    }

    /// Works; idle until `bell` rings or a while has passed.
    async fn repeat<Unit>(
        &self,
        mut told: watch::Receiver<bool>,
        bell: Option<&Notify>,
        step: impl Fn(Worker) -> Unit,
    ) where
        Unit: Future<Output = Result<Did>> + Send + 'static,
    {
        loop {
            // On a task of its own: a fault in one unit must not end the worker.
            let did = tokio::spawn(step(self.clone())).await;
            let length = match did.context("a unit of work died").flatten() {
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
                _ = told.wait_for(|stop| *stop) => return,
                () = pause(length, bell) => {}
            }
        }
    }

    /// Looks after storage when that is due.
    async fn keep_up(&self, mut told: watch::Receiver<bool>) {
        loop {
            match upkeep::run_if_due(&self.app).await {
                Ok(None) => {}
                Ok(Some(done)) => tracing::info!(
                    partitions = done.partitions,
                    thinned = done.thinned,
                    "looked after storage"
                ),
                Err(error) => tracing::warn!(%error, "storage cannot be looked after now"),
            }
            tokio::select! {
                biased;
                _ = told.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(upkeep::EVERY.unsigned_abs() / 2) => {}
            }
        }
    }

    /// Judges the curve that waits longest and others of its machine with it; when that fails, the
    /// one alone, so that it holds up no other.
    async fn judge_next(&self) -> Result<Option<Did>> {
        for beside in [BESIDE, 0] {
            let mut transaction = self.app.db.begin().await?;
            let Some(first) = db::due::claim_next(&mut transaction).await? else {
                return Ok(None);
            };
            let mut dues = vec![first];
            if beside > 0 {
                dues.extend(db::due::claim_beside(&mut transaction, first, beside).await?);
            }
            match self.judge(&mut transaction, &dues).await {
                Ok(()) => {
                    transaction.commit().await?;
                    return Ok(Some(Did::Judged(dues.iter().map(|due| due.curve).collect())));
                }
                Err(_) if dues.len() > 1 => transaction.rollback().await?,
                Err(error) => {
                    transaction.rollback().await?;
                    let mut connection = self.app.db.acquire().await?;
                    db::due::postpone(&mut connection, first, self.app.clock.now()).await?;
                    return Ok(Some(Did::Postponed(first.curve, format!("{error:#}"))));
                }
            }
        }
        Ok(None)
    }

    async fn tend_jobs(&self) -> Result<Option<Did>> {
        if let Some((job, state)) = jobs::settle_next(&self.app).await? {
            return Ok(Some(Did::Settled(job, state)));
        }
        if let Some(incident) = jobs::confirm::decide_next(&self.app).await? {
            return Ok(Some(Did::Confirmed(incident)));
        }
        Ok(jobs::confirm::ask_next(&self.app).await?.map(Did::Suspected))
    }

    async fn judge(&self, connection: &mut db::Connection, dues: &[Due]) -> Result<()> {
        let Some(machine) = dues.first().map(|due| due.machine) else { return Ok(()) };
        let curves: Vec<CurveId> = dues.iter().map(|due| due.curve).collect();
        let judged = detect::judge(connection, dues).await?;
        let found: Vec<_> =
            dues.iter().zip(&judged).map(|(due, one)| (*due, &*one.found, &one.scope)).collect();
        alert::apply(connection, &found, self.app.clock.now()).await?;
        let of_curves = || curves.iter().copied().zip(&judged);
        let noise: Vec<_> =
            of_curves().flat_map(|(of, one)| one.noise.iter().map(move |n| (of, n))).collect();
        db::noise::replace_builds(connection, machine, &curves, &noise).await?;
        let effects: Vec<_> =
            of_curves().flat_map(|(of, one)| one.effects.iter().map(move |e| (of, e))).collect();
        db::environment::replace_effects(connection, machine, &curves, &effects).await?;
        let gone: Vec<_> =
            of_curves().flat_map(|(of, one)| one.laws_gone().map(move |l| (of, l))).collect();
        db::scaling::delete(connection, machine, &gone).await?;
        let new: Vec<_> =
            of_curves().flat_map(|(of, one)| one.laws_new().map(move |l| (of, l))).collect();
        db::scaling::put(connection, machine, &new).await?;
        Ok(db::due::delete(connection, machine, &curves).await?)
    }
}

/// Waits; what is idle, only until something is due.
async fn pause(length: Option<Duration>, bell: Option<&Notify>) {
    match (length, bell) {
        (None, _) => {}
        (Some(IDLE), Some(bell)) => {
            let _ = tokio::time::timeout(IDLE, bell.notified()).await;
        }
        (Some(length), _) => tokio::time::sleep(length).await,
    }
}

fn report(did: &Did) {
    match did {
        Did::Judged(curves) => tracing::debug!(curves = curves.len(), "judged"),
        Did::Postponed(curve, error) => tracing::error!(%curve, error, "a curve cannot be judged"),
        Did::Settled(job, state) => tracing::warn!(%job, state = state.word(), "job settled"),
        Did::Suspected(incident) => tracing::debug!(%incident, "a suspect"),
        Did::Confirmed(incident) => tracing::info!(%incident, "a suspect was measured again"),
        Did::Message(event, Sent::To(place)) => tracing::info!(event, place, "mailed"),
        Did::Message(event, Sent::Failed(error)) => tracing::warn!(event, error, "mail waits"),
        Did::Message(event, Sent::Withdrawn) => tracing::info!(event, "mail withdrawn"),
        Did::Webhook(webhook::Sent::To(url)) => tracing::info!(url, "webhook told"),
        Did::Webhook(webhook::Sent::Failed(error)) => tracing::warn!(error, "webhook waits"),
        Did::Webhook(webhook::Sent::Abandoned(error)) => tracing::error!(error, "webhook given up"),
        Did::Nothing => {}
    }
}
