//! The built agent against the built service: jobs are seen through whatever dies meanwhile.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};

use scalewatch::db::Pool;
use scalewatch::model::Scope;
use serde_json::{Value, json};

use super::{show, submitted};
use crate::support::Service;
use crate::support::processes::{Runner, ServiceProcess, eventually};

/// A service, a runner that is registered with it, and a folder for the test's scripts.
struct Lab {
    /// On the same database, to ask and look.
    asks: Service,
    service: ServiceProcess,
    runner: Runner,
    folder: tempfile::TempDir,
}

impl Lab {
    async fn new(pool: &Pool) -> Lab {
        let folder = tempfile::tempdir().expect("a folder");
        let service = ServiceProcess::start(pool, folder.path(), "127.0.0.1:0", &[]);
        let runner = Runner::registered(pool, &service).await;
        Lab { asks: Service::on(pool.clone()), service, runner, folder }
    }

    /// An agent for one job, whose prepare command is this script.
    fn agent(&self, script: &str) -> Child {
        let path = self.folder.path().join("prepare");
        std::fs::write(&path, format!("#!/bin/sh\nset -eu\n{script}\n")).expect("it is ours");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it is ours");
        let prepare = format!("demo={}", path.display());
        let mut command =
            self.runner.command(&["agent", "--once", "--label", "lab", "--prepare", &prepare]);
        command.env("FOLDER", self.folder.path()).stderr(Stdio::null());
        command.spawn().expect("the runner starts")
    }

    /// A job of so many runs; each takes `windows` windows of 20 ms.
    async fn job(&self, runs: u32, windows: u32) -> i64 {
        let request = json!({
            "project": "demo", "subject": "model", "label": "lab", "runs": runs,
            "base": { "commit": "aaaaaaa", "position": 1 },
            "revision": { "commit": "bbbbbbb", "position": 2 },
            "plan": {
                "workloads": ["ctl/int-loop"], "tasks": "1", "placement": "none", "warmup": 1,
                "windows": windows, "window_ms": 20, "controls": false,
            },
        });
        submitted(&self.asks, &request).await
    }

    async fn until(&self, id: i64, state: &str) -> Value {
        eventually(&format!("the job's state {state}"), async || {
            let job = show(&self.asks, id).await;
            (job["state"] == state).then_some(job)
        })
        .await
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn ended(mut agent: Child) -> ExitStatus {
    agent.wait().expect("it ends")
}

/// Whether any process of the job is left.
fn is_measuring(lease_of: i64) -> bool {
    let mark = format!("SCALEWATCH_JOB={lease_of}");
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes.into_iter().any(|process| {
        let environment = std::fs::read(Path::new(&process.path()).join("environ"));
        let environment = environment.unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn base_and_head_are_prepared_and_measured_in_turns(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(2, 2).await;
    let agent = lab.agent(
        "echo \"$SCALEWATCH_PROJECT $SCALEWATCH_COMMIT $SCALEWATCH_POSITION\" >> \"$FOLDER/calls\"
         echo 'env DEMO=1' > \"$SCALEWATCH_GIVEN\"
         echo prepared",
    );
    assert!(ended(agent).success());
    let job = show(&lab.asks, id).await;
    assert_eq!(job["state"], "done", "{job}");
    let calls = ["demo aaaaaaa 1", "demo bbbbbbb 2", "demo aaaaaaa 1"];
    assert_eq!(lab.lines("calls"), calls, "the third turn needs no other revision than the second");
    assert!(job["log"].as_str().unwrap().starts_with("prepared\n[1/1] ctl/int-loop"), "{job}");
    let runs = job["runs"].as_array().unwrap();
    let commits: Vec<Value> = {
        let mut commits = Vec::new();
        for run in runs {
            let path = format!("/api/v1/runs/{}", run.as_str().unwrap());
            commits.push(lab.asks.get(&path).await.json()["commit"].clone());
        }
        commits
    };
    assert_eq!(commits, ["aaaaaaa", "bbbbbbb", "bbbbbbb", "aaaaaaa"]);
    assert!(lab.service.get(&format!("/jobs/{id}")).contains("ctl/int-loop"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_agent_that_is_killed_goes_on_where_it_was_and_doubles_nothing(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(2, 10).await;
    let script = "echo called >> \"$FOLDER/calls\"";
    let mut agent = lab.agent(script);
    // Killed while it measures the second turn.
    eventually("the second turn", async || {
        let runs = sqlx::query_scalar::<_, i64>("select count(*) from run").fetch_one(&pool).await;
        (runs.unwrap() >= 1).then_some(())
    })
    .await;
    agent.kill().expect("it runs");
    agent.wait().expect("it ends");
    assert_ne!(show(&lab.asks, id).await["state"], "done");
    assert!(ended(lab.agent(script)).success());
    let job = lab.until(id, "done").await;
    assert_eq!((&job["attempts"], job["runs"].as_array().unwrap().len()), (&json!(1), 4));
    let runs = sqlx::query_scalar::<_, i64>("select count(*) from run").fetch_one(&pool).await;
    assert_eq!(runs.unwrap(), 4, "each turn is one run");
    assert!(lab.runner.spooled().is_empty() && lab.runner.refused().is_empty());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_service_that_is_away_meanwhile_stops_nothing(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(1, 20).await;
    let agent = lab.agent("true");
    lab.until(id, "running").await;
    let address = lab.service.address.clone();
    // Killed, and back only when the agent is through with its turns.
    let Lab { asks, service, runner, folder } = lab;
    service.kill();
    eventually("both reports in the spool", async || (runner.spooled().len() == 2).then_some(()))
        .await;
    let service = ServiceProcess::start(&pool, folder.path(), &address, &[]);
    assert!(ended(agent).success());
    let lab = Lab { asks, service, runner, folder };
    assert_eq!(lab.until(id, "done").await["runs"].as_array().unwrap().len(), 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_cancelled_job_ends_its_measurement_and_the_agent_is_free(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(100, 50_000).await;
    let agent = lab.agent("sleep 600 & true");
    lab.until(id, "running").await;
    let token = lab.asks.token(Scope::Submit).await;
    let cancelled = lab.asks.post(&format!("/api/v1/jobs/{id}/cancel"), &token, "").await;
    assert_eq!(cancelled.status, 200);
    let status = ended(agent);
    assert_eq!(status.code(), Some(6), "{status}");
    assert!(!is_measuring(id), "what its prepare command left behind is ended too");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_revision_that_cannot_be_had_fails_the_job_with_the_commands_last_words(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(1, 2).await;
    let status = ended(lab.agent("echo \"no commit $SCALEWATCH_COMMIT here\" >&2; exit 3"));
    assert_eq!(status.code(), Some(6));
    let job = show(&lab.asks, id).await;
    assert_eq!(job["state"], "failed");
    let reason = job["reason"].as_str().unwrap();
    assert_eq!(reason, "the prepare command ended with exit status: 3: no commit aaaaaaa here");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_machine_that_boots_into_a_revision_goes_on_when_it_is_up(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let id = lab.job(1, 2).await;
    let script = "echo \"$SCALEWATCH_COMMIT $SCALEWATCH_TRY\" >> \"$FOLDER/calls\"
                  test \"$SCALEWATCH_TRY\" = 2 || exit 75";
    for _ in 0..2 {
        // The machine goes down under the agent.
        let mut agent = lab.agent(script);
        eventually("the boot", async || {
            let words = show(&lab.asks, id).await["progress"]["words"].clone();
            (words == "booting").then_some(())
        })
        .await;
        agent.kill().expect("it waits for the boot");
        agent.wait().expect("it ends");
        sqlx::query("update job set progress = '{}'").execute(&pool).await.unwrap();
    }
    assert!(ended(lab.agent(script)).success());
    let calls = ["aaaaaaa 1", "aaaaaaa 2", "bbbbbbb 1", "bbbbbbb 2"];
    assert_eq!(lab.lines("calls"), calls);
    assert_eq!(show(&lab.asks, id).await["state"], "done");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_plan_that_the_runner_cannot_measure_fails_by_what_it_says(pool: Pool) {
    let lab = Lab::new(&pool).await;
    let request = json!({
        "project": "demo", "subject": "model", "label": "lab",
        "revision": { "commit": "aaaaaaa", "position": 1 },
        "plan": { "workloads": ["no/such"] },
    });
    let id = submitted(&lab.asks, &request).await;
    assert_eq!(ended(lab.agent("true")).code(), Some(6));
    let reason = show(&lab.asks, id).await["reason"].to_string();
    assert!(reason.contains("no report") && reason.contains("no/such"), "{reason}");
}
