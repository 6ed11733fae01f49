//! Reads a revision from a git repository by the `git` program.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use wire::Revision;

/// The revision `rev` of the repository at `path`; the checked-out one when none is given, which
/// must then have no uncommitted changes to tracked files.
///
/// # Errors
/// When git is missing, the path is no repository, or the code is not what a commit says.
pub fn revision(path: &Path, rev: Option<&str>, branch: Option<&str>) -> anyhow::Result<Revision> {
    let git = |args: &[&str]| git(path, args);
    if rev.is_none() {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        ensure!(
            changed.is_empty(),
            "{} has changes that no commit holds, so a report could not say what was measured: \
             commit them, or name the revision with --commit",
            path.display()
        );
    }
    let rev = rev.unwrap_or("HEAD");
    ensure!(!rev.starts_with('-'), "commit {rev:?} is not a revision");
    let commit = git(&["rev-parse", "--verify", "--quiet", &format!("{rev}^{{commit}}")])
        .with_context(|| format!("{} has no revision {rev:?}", path.display()))?;
    let branch = match branch {
        Some(branch) => branch.to_owned(),
        None => git(&["symbolic-ref", "--short", "--quiet", "HEAD"])
            .context("no branch is checked out: name it with --branch")?,
    };
    let shown =
        git(&["show", "--no-patch", "--no-show-signature", "--format=%P%n%cI%n%s", &commit])?;
    let mut lines = shown.split('\n');
    let parents = lines.next().unwrap_or_default().split_whitespace().map(str::to_owned);
    let parents = parents.collect();
    let committed_at = lines.next().map(str::to_owned);
    let subject = lines.next().map(str::trim).filter(|s| !s.is_empty()).unwrap_or(&commit);
    // A shallow clone does not know how many commits came before.
    let position = match git(&["rev-parse", "--is-shallow-repository"])?.as_str() {
        "false" => git(&["rev-list", "--count", "--first-parent", &commit])?.parse().ok(),
        _ => None,
    };
    Ok(Revision { subject: subject.to_owned(), commit, branch, parents, position, committed_at })
}

fn git(path: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(path)
        .args(args)
        .env("LC_ALL", "C")
        // Set inside hooks, where they would name another repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .context("cannot start git, which --repo needs")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", args.first().unwrap_or(&""), said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}
