//! The runner, as a program of its own: found, registered, told what to measure.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use super::history::{self, Model, Revision};

const NAME: &str = "scalewatch-runner";

/// How long and how often a point is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Windows of a point.
    pub windows: u32,
    /// Length of a window.
    pub window: Duration,
}

impl Effort {
    /// Time one point takes, its warm-up and its start included.
    pub fn of_point(self) -> Duration {
        self.window * (self.windows + 1) + Duration::from_millis(150)
    }
}

/// The runner's program and its state below the data folder.
#[derive(Debug)]
pub struct Runner {
    program: PathBuf,
    state: PathBuf,
    scratch: PathBuf,
}

impl Runner {
    /// Finds the program: `SCALEWATCH_RUNNER`, else beside this one, else on `PATH`.
    ///
    /// # Errors
    /// When it is in none of these places.
    pub fn find(data: &Path) -> Result<Runner> {
        let program = match std::env::var_os("SCALEWATCH_RUNNER") {
            Some(named) => PathBuf::from(named),
            None => beside_this_program().or_else(on_path).with_context(|| {
                format!(
                    "{NAME} is neither beside this program nor on PATH; build it \
                     (cargo build --release --workspace) or name it in SCALEWATCH_RUNNER"
                )
            })?,
        };
        ensure!(program.is_file(), "there is no runner at {}", program.display());
        let state = data.join("runner");
        let scratch = state.join("scratch");
        Ok(Runner { program, state, scratch })
    }

    /// The runner's state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Registers this machine; the secret goes by the environment, which other users cannot read.
    ///
    /// # Errors
    /// What the runner said.
    pub async fn register(&self, server: &str, secret: &str) -> Result<()> {
        let mut command = self.command();
        command.args(["register", "--server", server]).env("SCALEWATCH_TOKEN", secret);
        self.run(command).await.map(drop)
    }

    /// Sends what an earlier `up` measured and could not send.
    ///
    /// # Errors
    /// What the runner said.
    pub async fn send_spool(&self) -> Result<()> {
        let mut command = self.command();
        command.arg("upload");
        self.run(command).await.map(drop)
    }

    /// Measures one revision and uploads the run.
    ///
    /// # Errors
    /// What the runner said.
    pub async fn measure(
        &self,
        revision: &Revision,
        tasks: &[usize],
        effort: Effort,
    ) -> Result<()> {
        let mut command = self.run_workload(&revision.model, tasks, effort)?;
        command.arg("-p").arg(format!("{}={}", history::CODE, revision.variant));
        command.args(["--position", &revision.position.to_string()]);
        command.args(["--commit", &revision.commit, "--branch", history::BRANCH]);
        if let Some(parent) = &revision.parent {
            command.args(["--parents", parent]);
        }
        command.args(["--message", &revision.subject, "--upload"]);
        self.run(command).await.map(drop)
    }

    /// Measures a model's two variants interleaved, now, and returns the table.
    ///
    /// # Errors
    /// What the runner said.
    pub async fn compare(
        &self,
        model: &Model,
        tasks: &[usize],
        effort: Effort,
        pairs: u32,
    ) -> Result<String> {
        let result = self.state.join(format!("{}.json", model.workload.replace('/', "-")));
        let mut command = self.run_workload(model, tasks, effort)?;
        command.arg("--base").arg(format!("{}={}", history::CODE, model.good));
        command.arg("--head").arg(format!("{}={}", history::CODE, model.bad));
        // A report wants a place in history; this one stays on this machine.
        command.args(["--position", "0", "--pairs", &pairs.to_string()]).arg("--json").arg(&result);
        self.run(command).await?;
        let mut command = self.command();
        command.arg("compare").arg(&result).args(["--format", "lkp"]);
        self.run(command).await
    }

    fn run_workload(&self, model: &Model, tasks: &[usize], effort: Effort) -> Result<Command> {
        std::fs::create_dir_all(&self.scratch)
            .with_context(|| format!("making {}", self.scratch.display()))?;
        let tasks = tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let mut command = self.command();
        command.args(["run", model.workload, "--mode", "thread", "--tasks", &tasks]);
        command.args(["--warmup", "1", "--windows", &effort.windows.to_string()]);
        command.args(["--window", &format!("{}ms", effort.window.as_millis())]);
        command.arg("--dir").arg(&self.scratch);
        // Runs of a few seconds: the controls around each would take longer than what they guard.
        command.arg("--no-controls");
        command.args(["--subject-param", history::CODE]);
        command.args(["--project", history::PROJECT, "--subject", "model"]);
        Ok(command)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("SCALEWATCH_RUNNER_STATE", &self.state)
            .env_remove("DATABASE_URL")
            .env_remove("SCALEWATCH_TOKEN")
            .stdin(Stdio::null())
            // Progress and complaints go straight to the person.
            .stderr(Stdio::inherit())
            // Ctrl-C on a terminal reaches the service alone, which then ends the runner.
            .process_group(0)
            .kill_on_drop(true);
        command
    }

    /// Runs to the end and returns what was printed.
    async fn run(&self, mut command: Command) -> Result<String> {
        let ended = command
            .output()
            .await
            .with_context(|| format!("running {}", self.program.display()))?;
        let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
        if !ended.status.success() {
            let what = command.as_std().get_args().next().unwrap_or_default().to_string_lossy();
            bail!("{NAME} {what} failed ({}): {}", ended.status, printed.trim());
        }
        Ok(printed)
    }
}

fn beside_this_program() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(NAME);
    beside.is_file().then_some(beside)
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file())
}
