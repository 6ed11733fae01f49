//! A history that was written anew: after a force-push commits have other places on their branch, and
//! some are not on it any more.

use std::collections::BTreeSet;

use serde_json::json;

use crate::account::By;
use crate::alert;
use crate::db::branch::{Place, Reordered};
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::revision::is_off_branch;
use crate::model::step::StandingStep;
use crate::model::{Branch, Project};

/// Most commits of a branch.
pub const MOST: usize = 200_000;

/// Gives the known revisions of a branch the places they have on it now. `places` is the whole branch,
/// or as much of it as reports ever named: a known revision that is not in it leaves the branch, and
/// with it every history; it and its runs stay reachable, and it comes back by being in a later list.
/// Steps that lose their ground are retracted, and every curve concerned is judged anew. The caller
/// commits, and rings the worker.
///
/// # Errors
/// `Invalid` for an entry that cannot be, twice the same commit or place, or a list that has nothing
/// to do with the branch. Nothing is changed then.
pub async fn reorder(
    connection: &mut Connection,
    by: &By<'_>,
    project: &Project,
    branch: &Branch,
    places: &[Place],
) -> Result<Reordered> {
    check(places)?;
    db::branch::hold_reports(connection).await?;
    let commits: Vec<String> = places.iter().map(|place| place.commit.clone()).collect();
    if db::branch::count_known(connection, branch.id, &commits).await? == 0 {
        let problem = "holds no commit that is known on this branch; nothing would be left of it";
        return Err(Error::invalid("order", problem));
    }
    let done = db::branch::reorder(connection, branch.id, places, by.now).await?;
    if done == Reordered::default() {
        return Ok(done);
    }
    // Steps name their revisions, and so have moved with them.
    let steps = db::step::list_standing_of_branch(connection, project.id, branch.id).await?;
    let is_gone = |step: &StandingStep| {
        is_off_branch(step.good.rank)
            || is_off_branch(step.bad.rank)
            || step.good.rank >= step.bad.rank
    };
    let why = "the branch was written anew, and its revisions are not in this order on it any more";
    alert::withdraw(connection, project.id, &steps, is_gone, why, by.now).await?;
    db::branch::follow(connection, branch.id).await?;
    let about = format!("branch {} of {}", branch.name, project.name);
    let became = json!({
        "moved": done.moved, "returned": done.returned, "left": done.left, "curves": done.curves,
    });
    by.did(connection, "branch_reordered", &about, (None, Some(became))).await?;
    Ok(done)
}

fn check(places: &[Place]) -> Result<()> {
    if places.is_empty() || places.len() > MOST {
        return Err(Error::invalid("order", format!("must have 1 to {MOST} entries")));
    }
    let (mut commits, mut positions) = (BTreeSet::new(), BTreeSet::new());
    for (i, place) in places.iter().enumerate() {
        let commit = &place.commit;
        let is_hex = commit.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !is_hex || !(7..=64).contains(&commit.len()) {
            let problem = "must be 7 to 64 lower-case hex digits";
            return Err(Error::invalid(format!("order[{i}].commit"), problem));
        }
        if !commits.insert(commit) {
            return Err(Error::invalid(format!("order[{i}].commit"), "is there twice"));
        }
        if place.position.is_some_and(|position| position < 0) {
            return Err(Error::invalid(format!("order[{i}].position"), "must be at least 0"));
        }
        if place.position.is_some_and(|position| !positions.insert(position)) {
            return Err(Error::invalid(format!("order[{i}].position"), "is there twice"));
        }
    }
    Ok(())
}
