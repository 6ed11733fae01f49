//! `docs/ci.md` as people follow it: its blocks are run in order, from nothing to a blocked commit, and
//! then the shell steps of its pipelines.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use scalewatch::db::Pool;

use crate::support::processes::database_url;

const DOCUMENT: &str = include_str!("../../docs/ci.md");

/// The fenced blocks of this kind, in order.
fn blocks(kind: &str) -> Vec<&'static str> {
    let fence = format!("```{kind}\n");
    DOCUMENT
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("\n```").next().expect("a block ends"))
        .collect()
}

/// The scripts that a pipeline's YAML hands to a shell: each literal block after `marker`, its
/// indentation taken away.
fn steps(yaml: &str, marker: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let lines: Vec<&str> = yaml.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if line.trim() != marker {
            continue;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let depth = indent(lines[i + 1]);
        let of_step = lines[i + 1..].iter().take_while(|line| indent(line) >= depth);
        steps.push(of_step.map(|line| &line[depth..]).collect::<Vec<_>>().join("\n"));
    }
    steps
}

#[sqlx::test(migrations = false)]
async fn the_walk_through_ends_with_a_blocked_bad_commit_and_its_pipelines_run(pool: Pool) {
    let walk = blocks("sh walk");
    let [github] = blocks("yaml github")[..] else { panic!("one pipeline for GitHub") };
    let [gitlab] = blocks("yaml gitlab")[..] else { panic!("one pipeline for GitLab") };
    let [shell] = blocks("sh shell")[..] else { panic!("one for a bare shell") };
    let (github, gitlab) = (steps(github, "run: |"), steps(gitlab, "- |"));
    assert_eq!((walk.len(), github.len(), gitlab.len()), (6, 2, 1));
    // The pipelines judge the two commits that passed and were blocked above, in a clone.
    let pipelines = format!(
        "git clone -q demo clone
         cd clone
         export SCALEWATCH_TOKEN=$(cat ../ci.token) GITHUB_STEP_SUMMARY=$PWD/summary
         good=$(git rev-parse HEAD~1) bad=$(git rev-parse HEAD) first=$(git rev-parse HEAD~2)
         export BASE=$first HEAD=$good KEY=once
         ( set -e\n{}\n)
         ( {}\n)
         grep -q 'scalewatch: passed' summary
         echo 'GitHub passed'
         export CI_MERGE_REQUEST_DIFF_BASE_SHA=$good CI_COMMIT_SHA=$bad CI_PIPELINE_ID=7
         code=0; ( set -e\n{}\n) || code=$?
         test $code = 1
         echo 'GitLab blocked'
         export BASE=$good HEAD=$bad KEY=gitlab-7
         code=0; ( {shell}\n) || code=$?
         test $code = 1
         echo 'the shell blocked'",
        github[0], github[1], gitlab[0],
    );
    let script = format!("{}\n{pipelines}\n", walk.join("\n"));
    let printed = run(&pool, &script);
    for line in [
        "the good commit passed",
        "the bad commit was blocked: exit 1",
        "GitHub passed",
        "GitLab blocked",
        "the shell blocked",
    ] {
        assert!(printed.contains(line), "{line} is missing:\n{printed}");
    }
    // The bare shell's key is GitLab's: it measured nothing again.
    let jobs = sqlx::query_scalar::<_, i64>(
        "select count(*) from job where incident_id is null and state = 'done'",
    );
    assert_eq!(jobs.fetch_one(&pool).await.expect("the database answers"), 4);
}

/// Runs a script in a folder of its own with both programs on `PATH`; everything it started ends
/// with it.
fn run(pool: &Pool, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_BIN_EXE_scalewatch")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let listen = free.expect("a free port").to_string();
    let log = folder.path().join("log");
    let open = std::fs::File::create(&log).expect("the folder is ours");
    let mut child = Command::new("bash")
        .args(["-euc", script])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("DATABASE_URL", database_url(pool))
        .env("SCALEWATCH_DATA", folder.path().join("data"))
        .env("SCALEWATCH_RUNNER_STATE", folder.path().join("state"))
        .env("SCALEWATCH_LISTEN", &listen)
        .env("SERVER", format!("http://{listen}"))
        .env_remove("SCALEWATCH_TOKEN")
        .stdin(Stdio::null())
        .stdout(open.try_clone().expect("a file can be shared"))
        .stderr(open)
        .process_group(0)
        .spawn()
        .expect("bash starts");
    let status = child.wait().expect("it ends");
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    let printed = std::fs::read_to_string(&log).expect("the log is there");
    assert!(status.success(), "{status}\n{printed}");
    printed
}

#[test]
fn the_document_names_every_exit_code_and_prepare_variable() {
    for code in 0..=6 {
        assert!(DOCUMENT.contains(&format!("\n| {code} | ")), "exit code {code}");
    }
}
