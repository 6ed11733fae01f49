//! Which two revisions a curve page compares: what the address asks for, else the newest against
//! the last one before the newest step, else against the one before it.

use super::{Choice, Metric};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::format;
use crate::model::incident::IncidentStep;
use crate::model::{BranchId, Curve, Measurement, RevisionId};

/// Revisions offered in the form.
const OFFERED: usize = 60;

/// A revision at which something was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// Row.
    pub id: RevisionId,
    /// Commit id.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Order within the branch.
    pub rank: i64,
}

/// What is compared on the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The branch of both.
    pub branch: BranchId,
    /// Filled markers.
    pub head: Measured,
    /// Hollow markers; none with one revision.
    pub base: Option<Measured>,
    /// Why this base, as the end of a sentence.
    pub why_this_base: String,
    /// Every revision of the branch, in order.
    pub all: Vec<Measured>,
    /// Steps of the curve that stand.
    pub steps: Vec<IncidentStep>,
}

/// One choice of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionOption {
    /// Commit id.
    pub commit: String,
    /// Digits and subject.
    pub label: String,
    /// It is the base shown.
    pub is_base: bool,
    /// It is the head shown.
    pub is_head: bool,
}

/// Chooses; none when nothing was measured.
pub async fn choose(
    app: &App,
    curve: &Curve,
    primary: &Metric,
    choice: &Choice,
) -> Result<Option<Chosen>> {
    let filter = db::history::Filter { metric: Some(&primary.name), ..Default::default() };
    let measured = db::history::list(&app.db, curve, &filter, false).await?;
    let Some(branch) = branch(&measured, choice)? else { return Ok(None) };
    let all = revisions(&measured, branch);
    let steps = db::incident_step::list_standing_of_curve(&app.db, curve.id).await?;
    let head = match asked(&choice.rev) {
        Some(commit) => find(&all, "rev", commit)?,
        None => all.last(),
    };
    let Some(head) = head.cloned() else { return Ok(None) };
    let (base, why_this_base) = match asked(&choice.base) {
        Some(commit) => (find(&all, "base", commit)?.cloned(), "as asked for".into()),
        None => default_base(&all, &head, &steps),
    };
    let base = base.filter(|base| base.id != head.id);
    Ok(Some(Chosen { branch, head, base, why_this_base, all, steps }))
}

fn asked(commit: &Option<String>) -> Option<&str> {
    commit.as_deref().map(str::trim).filter(|commit| !commit.is_empty())
}

/// The branch of the revision asked for, else of the newest run.
fn branch(measured: &[Measurement], choice: &Choice) -> Result<Option<BranchId>> {
    let newest = |commit: &str| {
        let of_commit = measured.iter().filter(|one| one.commit.starts_with(commit));
        of_commit.max_by_key(|one| one.finished_at).map(|one| one.branch)
    };
    match asked(&choice.rev) {
        Some(commit) => newest(commit).map(Some).ok_or_else(|| unknown("rev", commit)),
        None => Ok(newest("")),
    }
}

fn revisions(measured: &[Measurement], branch: BranchId) -> Vec<Measured> {
    let mut all: Vec<Measured> = measured
        .iter()
        .filter(|one| one.branch == branch)
        .map(|one| Measured {
            id: one.revision,
            commit: one.commit.clone(),
            subject: one.subject.clone(),
            rank: one.rank,
        })
        .collect();
    all.sort_by(|a, b| (a.rank, &a.commit).cmp(&(b.rank, &b.commit)));
    all.dedup_by_key(|one| one.id);
    all
}

fn find<'a>(
    all: &'a [Measured],
    parameter: &'static str,
    commit: &str,
) -> Result<Option<&'a Measured>> {
    let found = all.iter().rev().find(|one| one.commit.starts_with(commit));
    found.map(Some).ok_or_else(|| unknown(parameter, commit))
}

fn unknown(parameter: &'static str, commit: &str) -> Error {
    Error::query(parameter, format!("nothing was measured on this curve at commit `{commit}`"))
}

fn default_base(
    all: &[Measured],
    head: &Measured,
    steps: &[IncidentStep],
) -> (Option<Measured>, String) {
    let before_head = || all.iter().rev().filter(|one| one.rank < head.rank);
    let step = steps
        .iter()
        .filter(|step| (step.primary || step.derived) && step.bad.rank <= head.rank)
        .max_by_key(|step| step.bad.rank);
    let before_step =
        step.and_then(|step| before_head().find(|one| one.rank <= step.good.rank).cloned());
    match before_step {
        Some(base) => (Some(base), "the last revision before the newest step".into()),
        None => (before_head().next().cloned(), "the revision measured before it".into()),
    }
}

impl Chosen {
    /// The choices of the form, newest first.
    pub fn options(&self) -> Vec<RevisionOption> {
        let is_base = |one: &Measured| self.base.as_ref().is_some_and(|base| base.id == one.id);
        let option = |one: &Measured| RevisionOption {
            commit: one.commit.clone(),
            label: format!("{} {}", format::commit(&one.commit), shortened(&one.subject)),
            is_base: is_base(one),
            is_head: self.head.id == one.id,
        };
        let kept = |(index, one): &(usize, &Measured)| {
            *index < OFFERED || is_base(one) || self.head.id == one.id
        };
        self.all.iter().rev().enumerate().filter(kept).map(|(_, one)| option(one)).collect()
    }
}

fn shortened(subject: &str) -> String {
    let most = 56;
    if subject.chars().count() <= most {
        return subject.to_owned();
    }
    subject.chars().take(most).chain(['…']).collect()
}
