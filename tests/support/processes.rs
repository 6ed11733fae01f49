//! The two programs as people run them: built, spawned, and gone with the value.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use scalewatch::db::Pool;
use scalewatch::model::{Scope, Secret};

use super::noon;

/// A running `scalewatch serve`.
pub struct ServiceProcess {
    child: Child,
    /// `127.0.0.1:port`.
    pub address: String,
}

impl ServiceProcess {
    /// Starts the service on the test's database; `listen` with port 0 takes a free one.
    pub fn start(pool: &Pool, data: &Path, listen: &str, settings: &[(&str, &str)]) -> Self {
        ServiceProcess::start_on(&database_url(pool), data, listen, settings)
    }

    /// Starts the service on the database of this address.
    pub fn start_on(database: &str, data: &Path, listen: &str, settings: &[(&str, &str)]) -> Self {
        ServiceProcess::spawn(database, data, listen, settings, Stdio::inherit())
    }

    /// Starts the service on the test's database; what it logs goes to a file.
    pub fn start_logged(pool: &Pool, data: &Path, settings: &[(&str, &str)], log: &Path) -> Self {
        let log = std::fs::File::create(log).expect("the folder is ours");
        ServiceProcess::spawn(&database_url(pool), data, "127.0.0.1:0", settings, log.into())
    }

    fn spawn(
        database: &str,
        data: &Path,
        listen: &str,
        settings: &[(&str, &str)],
        log: Stdio,
    ) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
            .arg("serve")
            .env("DATABASE_URL", database)
            .env("SCALEWATCH_DATA", data)
            .env("SCALEWATCH_LISTEN", listen)
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the service starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it was piped"))
            .read_line(&mut line)
            .expect("the service writes text");
        let address = line.trim().rsplit("://").next().expect("split gives one").to_owned();
        assert!(address.contains(':'), "the service says where it listens: {line}");
        ServiceProcess { child, address }
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Sends a signal by its name and waits for the end.
    pub fn stop(mut self, signal: &str) -> ExitStatus {
        self.signal(signal);
        self.wait()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none()
    }

    /// What comes back for bytes that are sent as they are, until the service closes.
    pub fn raw(&self, bytes: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).expect("the service answers");
        stream.write_all(bytes.as_bytes()).expect("the service reads");
        let mut answer = Vec::new();
        // A connection that is reset has said all it had to.
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Body of a page or an API answer that must be 200.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the service answers");
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .expect("the service reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the service answers text");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        answer
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Address of the database a pool is connected to.
pub fn database_url(pool: &Pool) -> String {
    use sqlx::ConnectOptions as _;
    pool.connect_options().to_url_lossy().to_string()
}

/// The runner with a state folder of its own.
pub struct Runner {
    state: tempfile::TempDir,
}

impl Runner {
    /// A runner that is registered with this service.
    pub async fn registered(pool: &Pool, service: &ServiceProcess) -> Runner {
        let secret = Secret::random();
        let token = scalewatch::db::token::New {
            name: "enrolment",
            scope: Scope::Register,
            machine: None,
            person: None,
            projects: &[],
            created_at: noon(),
            expires_at: None,
        };
        scalewatch::db::token::insert(pool, &token, &secret).await.expect("it is stored");
        let runner = Runner { state: tempfile::tempdir().expect("a folder for the runner") };
        let file = runner.state.path().join("enrolment");
        std::fs::write(&file, secret.reveal()).expect("the folder is ours");
        let url = format!("http://{}", service.address);
        let file = file.display().to_string();
        runner.succeed(&["register", "--server", &url, "--enrol-token-file", &file]);
        runner
    }

    /// A command of the runner, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(runner_binary());
        command.args(arguments).env("SCALEWATCH_RUNNER_STATE", self.state.path());
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the runner starts");
        let (out, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{out}{errors}", output.status);
        out.into_owned()
    }

    /// UUIDs of the runs still in the spool.
    pub fn spooled(&self) -> Vec<String> {
        runs_in(&self.state.path().join("spool"))
    }

    /// UUIDs of the runs set aside.
    pub fn refused(&self) -> Vec<String> {
        runs_in(&self.state.path().join("refused"))
    }

    /// A file of the test's own in the runner's folder, one JSON report a line.
    pub fn file_of(&self, reports: &[wire::Report]) -> String {
        let path = self.state.path().join("reports.json");
        let lines: Vec<String> = reports
            .iter()
            .map(|report| serde_json::to_string(report).expect("a report serialises"))
            .collect();
        std::fs::write(&path, lines.join("\n") + "\n").expect("the folder is ours");
        path.display().to_string()
    }
}

fn runs_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| uuid::Uuid::try_parse(name).is_ok())
        .collect()
}

fn runner_binary() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_scalewatch")).with_file_name("scalewatch-runner");
    assert!(
        path.exists(),
        "{} is not built: `cargo build --workspace` first, or use `./dev test`",
        path.display()
    );
    path
}

/// Looks again every few milliseconds until `look` finds what it looks for, for at most a minute.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let patience = Duration::from_secs(60);
    let found = tokio::time::timeout(patience, async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    found.await.unwrap_or_else(|_| panic!("{what} did not happen within {patience:?}"))
}
