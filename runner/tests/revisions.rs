//! Which code a report is of: given, read from a repository, or made of a parameter.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::home::{Home, QUICK, ends, read_report, stderr, stdout};
use wire::Report;

fn git(repo: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "C")
        .env("GIT_COMMITTER_EMAIL", "c@example.org")
        .env("GIT_COMMITTER_DATE", "2026-02-27T09:13:44+01:00")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

/// A repository with three commits on `topic`.
fn a_repository(home: &Home) -> PathBuf {
    let repo = home.path("repo");
    std::fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch", "topic"]);
    for (content, subject) in [("1", "one"), ("2", "two: \"quoted\""), ("3", "three")] {
        std::fs::write(repo.join("file"), content).unwrap();
        git(&repo, &["add", "file"]);
        git(&repo, &["commit", "--quiet", "--message", &format!("{subject}\n\nbody")]);
    }
    repo
}

#[test]
fn no_report_is_made_without_a_revision_and_nothing_is_measured() {
    let home = Home::new();
    let output = home.run(&[&["run", "sys/getppid", "--json", "r.json"], &QUICK[..]].concat());
    ends(&output, 2);
    assert!(stderr(&output).contains("no report without a revision"), "{}", stderr(&output));
    assert!(!home.path("r.json").exists());
    assert!(!stderr(&output).contains("[1/1]"));
}

#[test]
fn a_revision_that_is_none_is_found_out_before_measuring() {
    let home = Home::new();
    let run = ["run", "sys/getppid", "--json", "r.json"];
    for (code, words) in [
        (vec!["--commit", "v6.17-rc1", "--position", "1"], "revision.commit"),
        (vec!["--commit", "0a1b2c3d4e"], "--position"),
        (vec!["--commit", "0a1b2c3d4e", "--position=-1"], "revision.position"),
        (vec!["--commit", "0a1b2c3d4e", "--committed-at", "yesterday"], "yesterday"),
        (vec!["--commit", "0a1b2c3d4e", "--position", "1", "--subject", "program"], "--project"),
        (vec!["--position", "1"], "--commit"),
        (vec!["--subject-param", "layout", "--position", "1"], "no parameter layout"),
    ] {
        let output = home.run(&[&run[..], &code, &QUICK[..]].concat());
        ends(&output, 2);
        assert!(stderr(&output).contains(words), "{code:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("[1/1]"));
        assert!(!home.path("r.json").exists());
    }
}

#[test]
fn a_revision_is_read_from_a_repository() {
    let home = Home::new();
    let repo = a_repository(&home);
    let args = ["run", "sys/getppid", "--quiet", "--json", "-", "--repo", "repo"];
    let output = home.run(&[&args[..], &QUICK[..]].concat());
    ends(&output, 0);
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let revision = &report.revision;
    assert_eq!(revision.commit, git(&repo, &["rev-parse", "HEAD"]));
    assert_eq!(revision.parents, [git(&repo, &["rev-parse", "HEAD^"])]);
    assert_eq!((revision.branch.as_str(), revision.subject.as_str()), ("topic", "three"));
    assert_eq!(revision.position, Some(3));
    assert_eq!(revision.committed_at.as_deref(), Some("2026-02-27T09:13:44+01:00"));
    assert!(stderr(&output).contains("sys/getppid"), "people read the table on standard error");

    let older = [&args[..], &["--commit", "HEAD^", "--branch", "stable"], &QUICK[..]].concat();
    let report: Report = serde_json::from_slice(&home.run(&older).stdout).unwrap();
    assert_eq!(report.revision.position, Some(2));
    assert_eq!(report.revision.subject, "two: \"quoted\"");
    assert_eq!(report.revision.branch, "stable");
}

#[test]
fn uncommitted_changes_are_no_revision() {
    let home = Home::new();
    let repo = a_repository(&home);
    std::fs::write(repo.join("file"), "changed").unwrap();
    let args = ["run", "sys/getppid", "--json", "r.json", "--repo", "repo"];
    let output = home.run(&[&args[..], &QUICK[..]].concat());
    ends(&output, 2);
    assert!(stderr(&output).contains("commit them"), "{}", stderr(&output));
    let named = home.run(&[&args[..], &["--commit", "HEAD"], &QUICK[..]].concat());
    ends(&named, 0);
    let unknown = home.run(&[&args[..], &["--commit", "no-such"], &QUICK[..]].concat());
    ends(&unknown, 2);
    let outside = home.run(&["run", "sys/getppid", "--json", "r.json", "--repo", "/"]);
    ends(&outside, 2);
}

#[test]
fn a_parameter_that_plays_the_code_is_a_revision_and_no_part_of_the_series() {
    let home = Home::new();
    let args = ["run", "file/open", "--subject", "model", "--subject-param", "layout"];
    let sides = ["--base", "layout=own-dir", "--head", "layout=same-file", "--pairs", "1"];
    let output = home.run(&[&args[..], &sides[..], &["--json", "pair.json"], &QUICK[..]].concat());
    ends(&output, 0);
    let text = std::fs::read_to_string(home.path("pair.json")).unwrap();
    let reports: Vec<Report> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["report"].clone())
        .map(|report| serde_json::from_value(report).unwrap())
        .collect();
    assert_eq!(reports[0].points[0].parameters, reports[1].points[0].parameters);
    assert!(!reports[0].points[0].parameters.contains_key("layout"));
    assert_eq!(reports[1].revision.parents, [reports[0].revision.commit.clone()]);
    assert_eq!(reports[0].revision.subject, "file/open: layout=own-dir");

    let one = ["-p", "layout=same-file", "--position", "2", "--json", "one.json"];
    ends(&home.run(&[&args[..], &one[..], &QUICK[..]].concat()), 0);
    let report = read_report(&home.path("one.json"));
    assert_eq!(report.revision.commit, reports[1].revision.commit);
    assert_eq!(report.points[0].parameters, reports[1].points[0].parameters);
}
