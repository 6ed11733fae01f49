//! What people decide about incidents: checked against where the incident stands, kept in its
//! history with who and why, and told. Takes the same lock as grouping, and the state itself is
//! compared and set by the database, so of two who decide at once one is refused.

use anyhow::Context as _;
use time::OffsetDateTime;

use super::{tell, words};
use crate::db::{self, Connection};
use crate::detect::policy;
use crate::error::{Error, Result};
use crate::model::IncidentId;
use crate::model::incident::State;
use crate::model::triage::{Reason, Target};

/// Longest note, bytes.
const LONGEST_NOTE: usize = 2000;

/// A decision as it arrives, by a form or as JSON.
#[derive(Debug, Clone, Default, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Word of the state it is taken to.
    pub to: String,
    /// Word of the state it was seen in; where it stands elsewhere by now, nothing changes.
    #[serde(default)]
    pub from: Option<String>,
    /// Why it is invalid.
    #[serde(default)]
    pub reason: Option<String>,
    /// Commit that fixed it, at least 7 hex digits.
    #[serde(default)]
    pub fixed_by: Option<String>,
    /// Anything worth keeping.
    #[serde(default)]
    pub note: Option<String>,
}

/// Takes an incident where somebody decides it goes. The caller commits.
///
/// # Errors
/// `NotFound`; `Invalid` when a field is missing or cannot be; `Conflict` with `incident_changed`
/// when the incident no longer stands where it was seen, with `transition_not_allowed` when no way
/// leads there.
pub async fn decide(
    connection: &mut Connection,
    incident: IncidentId,
    decision: &Decision,
    by: &str,
    now: OffsetDateTime,
) -> Result<()> {
    let target = target(decision)?;
    let note = note(decision)?;
    let seen = given(&decision.from).map(|word| state("from", word)).transpose()?;
    let found = db::incident::find_standing(connection, incident).await?;
    let found = found.ok_or(Error::NotFound("incident"))?;
    let is_noise = target == Target::Invalid(Reason::Noise);
    if is_noise || found.state == State::Invalid {
        db::noise::mark_incident_due(connection, incident, now).await?;
    }
    db::incident::lock_project(connection, found.project).await?;
    let standing = db::incident::find_standing(connection, incident).await?;
    let standing = standing.ok_or(Error::NotFound("incident"))?;
    // What was marked above fits the state seen there.
    let seen = seen.unwrap_or(found.state);
    if seen != standing.state {
        return Err(changed_meanwhile(standing.state));
    }
    if !standing.state.choices().contains(&target.state()) {
        return Err(no_way(standing.state, target.state()));
    }
    let target = match target {
        Target::Fixed(commit) => Target::Fixed(fix(connection, &standing, commit).await?),
        other => other,
    };
    let words = words::decided(&target, by);
    let shift = tell::Shift {
        incident,
        change: standing.change,
        from: standing.state,
        to: &target,
        words: &words,
        by: Some(by),
        note,
    };
    if !tell::change_state(connection, &shift, now).await.context("an incident changed")? {
        return Err(changed_meanwhile(standing.state));
    }
    db::noise::delete_refuted(connection, incident).await?;
    if is_noise {
        db::noise::insert_refuted(connection, incident, policy::REFUTED_CEILING, now).await?;
    }
    Ok(())
}

/// A field that says something.
fn given(field: &Option<String>) -> Option<&str> {
    field.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

fn state(field: &str, word: &str) -> Result<State> {
    let words = || State::ALL.map(State::word).join(", ");
    State::parse(word)
        .ok_or_else(|| Error::invalid(field, format!("`{word}` is none of {}", words())))
}

fn note(decision: &Decision) -> Result<Option<&str>> {
    let note = given(&decision.note);
    match note {
        Some(text) if text.len() > LONGEST_NOTE => {
            Err(Error::invalid("note", format!("is longer than {LONGEST_NOTE} bytes")))
        }
        note => Ok(note),
    }
}

fn target(decision: &Decision) -> Result<Target> {
    let state = state("to", decision.to.trim())?;
    match state {
        State::Invalid => {
            let words = Reason::ALL.map(Reason::word).join(", ");
            let word = given(&decision.reason)
                .ok_or_else(|| Error::invalid("reason", format!("must be one of {words}")))?;
            let reason = Reason::parse(word)
                .ok_or_else(|| Error::invalid("reason", format!("`{word}` is none of {words}")))?;
            Ok(Target::Invalid(reason))
        }
        State::Fixed => {
            let commit = given(&decision.fixed_by).map(str::to_ascii_lowercase);
            let is_commit = |commit: &String| {
                (7..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit())
            };
            commit.filter(is_commit).map(Target::Fixed).ok_or_else(|| {
                Error::invalid("fixed_by", "must be the 7 to 64 hex digits of a commit")
            })
        }
        other => Ok(Target::Plain(other)),
    }
}

/// The commit in full where it is known on the branch; it must come after the one that broke it.
/// A commit that was not measured yet is taken at its word.
async fn fix(
    connection: &mut Connection,
    standing: &db::incident::Standing,
    commit: String,
) -> Result<String> {
    let known =
        db::revision::list_of_branch_by_prefix(connection, standing.branch, &commit).await?;
    match known.as_slice() {
        [] => Ok(commit),
        [one] if one.rank > standing.range.bad => Ok(one.commit.clone()),
        [_] => {
            let problem = "comes before the first revision that has the cause";
            Err(Error::invalid("fixed_by", problem))
        }
        _ => Err(Error::invalid("fixed_by", "fits several commits: give more digits")),
    }
}

fn changed_meanwhile(now: State) -> Error {
    Error::Conflict {
        code: "incident_changed",
        field: "from".into(),
        detail: format!("the incident is {} by now; nothing was changed", now.title()),
    }
}

fn no_way(from: State, to: State) -> Error {
    let ways = from.choices().iter().map(|state| state.word()).collect::<Vec<_>>().join(", ");
    let ways = if ways.is_empty() { "none by hand".to_owned() } else { ways };
    Error::Conflict {
        code: "transition_not_allowed",
        field: "to".into(),
        detail: format!("no way leads from {} to {}; there is {ways}", from.word(), to.word()),
    }
}
