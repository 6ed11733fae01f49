//! Which code an imported run measured: told by the file, given on the command line, or looked up by
//! name in a file of revisions.

use std::collections::HashMap;
use std::io::BufRead;

use wire::Revision;

use super::found::{FoundRun, Told};
use super::limits;
use super::problem::{Problem, Result};
use super::text::Lines;

/// What the command line says about the code.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Commit id; with a file of revisions, any name it has.
    pub commit: Option<String>,
    /// Branch; `main` where nothing is said.
    pub branch: Option<String>,
    /// Position in the branch's first-parent order.
    pub position: Option<i64>,
    /// Committer time, RFC 3339.
    pub committed_at: Option<String>,
    /// First line of the commit message.
    pub subject: Option<String>,
}

/// A branch's history, oldest first: a line's number is the revision's position. Lines are
/// `commit<tab>committer time<tab>names<tab>subject`, as `git log --first-parent --reverse
/// --format='%H%x09%cI%x09%D%x09%s'` prints them.
#[derive(Debug, Default)]
pub struct Revisions {
    all: Vec<Line>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug)]
struct Line {
    commit: String,
    committed_at: String,
    subject: String,
}

impl Revisions {
    /// Reads a file of revisions.
    ///
    /// # Errors
    /// The first line that is none, and names that two revisions have.
    pub fn read(input: &mut dyn BufRead) -> Result<Revisions> {
        let mut revisions = Revisions::default();
        let mut lines = Lines::of(input);
        while let Some((number, text)) = lines.read()? {
            if revisions.all.len() >= limits::REVISIONS {
                let most = format!("there are at most {} revisions", limits::REVISIONS);
                return Err(Problem::line(number, most));
            }
            let parts: Vec<&str> = text.splitn(4, '\t').collect();
            let [commit, committed_at, names, subject] = parts[..] else {
                let problem = "is not commit, committer time, names and subject with tabs between";
                return Err(Problem::line(number, problem));
            };
            if !is_commit(commit) {
                let problem =
                    format!("`{commit}` is not a commit of 7 to 64 lower-case hex digits");
                return Err(Problem::line(number, problem));
            }
            for name in names_in(names).chain([commit]) {
                let at = revisions.all.len();
                if revisions.by_name.insert(name.to_owned(), at).is_some_and(|other| other != at) {
                    return Err(Problem::line(number, format!("`{name}` is there twice")));
                }
            }
            revisions.all.push(Line {
                commit: commit.to_owned(),
                committed_at: committed_at.to_owned(),
                subject: subject.to_owned(),
            });
        }
        match revisions.all.is_empty() {
            true => Err(Problem::whole("is empty")),
            false => Ok(revisions),
        }
    }

    /// The revision with this name, commit, or beginning of a commit.
    fn find(&self, name: &str) -> Result<Told> {
        let at = match self.by_name.get(name) {
            Some(at) => *at,
            None => self.by_digits(name)?,
        };
        let line = &self.all[at];
        Ok(Told {
            commit: Some(line.commit.clone()),
            branch: None,
            position: Some(at as i64 + 1),
            committed_at: Some(line.committed_at.clone()).filter(|time| !time.is_empty()),
            subject: Some(line.subject.clone()),
        })
    }

    fn by_digits(&self, digits: &str) -> Result<usize> {
        let unknown = || Problem::whole(format!("`{digits}` is not in the file of revisions"));
        if digits.len() < 7 {
            return Err(unknown());
        }
        let mut found =
            self.all.iter().enumerate().filter(|(_, line)| line.commit.starts_with(digits));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (None, _) => Err(unknown()),
            _ => Err(Problem::whole(format!("`{digits}` is the beginning of two commits"))),
        }
    }

    /// Commit before the one at this position.
    fn parent_of(&self, position: i64) -> Option<&str> {
        let at = usize::try_from(position).ok()?.checked_sub(2)?;
        self.all.get(at).map(|line| line.commit.as_str())
    }
}

/// `HEAD -> main, tag: v6.9, origin/main` → `main`, `v6.9`, `origin/main`.
fn names_in(decoration: &str) -> impl Iterator<Item = &str> {
    decoration
        .split(", ")
        .map(|name| name.strip_prefix("HEAD -> ").unwrap_or(name))
        .map(|name| name.strip_prefix("tag: ").unwrap_or(name).trim())
        .filter(|name| !name.is_empty())
}

fn is_commit(text: &str) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    digits && (7..=64).contains(&text.len())
}

impl Given {
    /// The revision of a run. What was given wins over what the file says; `named` is the name of the
    /// file or folder, where those name revisions.
    ///
    /// # Errors
    /// When the commit or its place in history is not known.
    pub fn of(
        &self,
        run: &FoundRun,
        named: Option<&str>,
        revisions: Option<&Revisions>,
    ) -> Result<Revision> {
        let told = &run.revision;
        let given = self.commit.as_deref();
        let key = given.or(run.name.as_deref()).or(named).or(told.commit.as_deref());
        let key = key.ok_or_else(|| {
            Problem::whole(
                "which code was measured is not told: give --commit, or --by-revision where files or \
                 folders are named for revisions",
            )
        })?;
        let known = revisions.map(|revisions| revisions.find(key)).transpose()?;
        let known = known.unwrap_or_default();
        let commit = known.commit.as_deref().unwrap_or(key);
        if !is_commit(commit) {
            return Err(Problem::whole(format!(
                "`{commit}` is not a commit of 7 to 64 lower-case hex digits: give --revisions FILE, \
                 which says what commit it names"
            )));
        }
        let position = self.position.or(known.position).or(told.position);
        let parent = revisions.zip(known.position).and_then(|(all, at)| all.parent_of(at));
        let pick = |given: &Option<String>, known: &Option<String>, told: &Option<String>| {
            given.as_ref().or(known.as_ref()).or(told.as_ref()).cloned()
        };
        let revision = Revision {
            commit: commit.to_owned(),
            branch: pick(&self.branch, &None, &told.branch).unwrap_or_else(|| "main".into()),
            parents: parent.map(str::to_owned).into_iter().collect(),
            position,
            committed_at: pick(&self.committed_at, &known.committed_at, &told.committed_at),
            subject: pick(&self.subject, &known.subject, &told.subject)
                .filter(|subject| !subject.trim().is_empty())
                .unwrap_or_else(|| key.to_owned()),
        };
        if revision.position.is_none() && revision.committed_at.is_none() {
            return Err(Problem::whole(format!(
                "the place of `{key}` in history is not told: give --position, --committed-at, or \
                 --revisions FILE"
            )));
        }
        Ok(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "\
1111111111111111111111111111111111111111\t2026-01-01T00:00:00Z\ttag: v6.8\tLinux 6.8
2222222222222222222222222222222222222222\t2026-01-02T00:00:00+01:00\t\text4: first
3333333333333333333333333333333333333333\t2026-01-03T00:00:00Z\tHEAD -> main, tag: v6.9\tLinux\t6.9
";

    fn history() -> Revisions {
        Revisions::read(&mut HISTORY.as_bytes()).expect("it can be read")
    }

    fn named(name: &str) -> FoundRun {
        FoundRun { name: Some(name.into()), ..FoundRun::default() }
    }

    #[test]
    fn a_name_or_the_first_digits_of_a_commit_find_its_place_in_history() {
        let given = Given::default();
        let found = given.of(&named("v6.9"), None, Some(&history())).expect("a tag");
        assert_eq!((found.position, found.branch.as_str()), (Some(3), "main"));
        assert_eq!((found.subject.as_str(), found.parents.len()), ("Linux\t6.9", 1));
        assert!(found.parents[0].starts_with('2'));
        let found = given.of(&FoundRun::default(), Some("2222222"), Some(&history()));
        assert_eq!(found.expect("seven digits").position, Some(2));
        let first = given.of(&named("v6.8"), None, Some(&history())).expect("a tag");
        assert_eq!((first.position, first.parents.len()), (Some(1), 0));
        let said = given.of(&named("v7.0"), None, Some(&history())).expect_err("no such tag");
        assert!(said.problem.contains("`v7.0`"), "{said}");
    }

    #[test]
    fn without_a_file_of_revisions_the_commit_and_its_place_must_be_told() {
        let given = Given { position: Some(4), ..Given::default() };
        let said = given.of(&FoundRun::default(), None, None).expect_err("no commit");
        assert!(said.problem.contains("--commit"), "{said}");
        let said = given.of(&named("6.9.0"), None, None).expect_err("no commit");
        assert!(said.problem.contains("--revisions"), "{said}");
        let run = FoundRun {
            revision: Told { commit: Some("0a1b2c3".into()), ..Told::default() },
            ..FoundRun::default()
        };
        assert_eq!(given.of(&run, None, None).expect("all is told").position, Some(4));
        let said = Given::default().of(&run, None, None).expect_err("no place");
        assert!(said.problem.contains("--position"), "{said}");
    }

    #[test]
    fn a_file_of_revisions_that_is_none_is_refused_by_line() {
        for (text, why) in [
            ("", "is empty"),
            ("1111111\tonly two\n", "line 1"),
            ("XYZ\t\t\tsubject\n", "`XYZ`"),
            ("1111111\t\ta\tone\n2222222\t\ta\ttwo\n", "line 2: `a` is there twice"),
        ] {
            let said = Revisions::read(&mut text.as_bytes()).expect_err(why).to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
