//! The program at work in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use wire::Report;

use super::MACHINE;

pub const QUICK: [&str; 10] =
    ["--tasks", "1", "--windows", "2", "--window", "5ms", "--warmup", "1", "--placement", "none"];

/// A folder of one's own: state, files and working directory.
pub struct Home(pub tempfile::TempDir);

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env("SCALEWATCH_RUNNER_STATE", self.path("state"))
            .env_remove("SCALEWATCH_TOKEN")
            .env_remove("SCALEWATCH_RUNNER")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A registration with a service, without asking it.
    pub fn registered_with(&self, url: &str) {
        self.registered_as(MACHINE, url);
    }

    pub fn registered_as(&self, machine: &str, url: &str) {
        std::fs::create_dir_all(self.path("state")).unwrap();
        let text =
            format!(r#"{{"server":"{url}","machine":"{machine}","token":"sw_secret_upload"}}"#);
        self.write("state/registration.json", &text);
    }

    pub fn spooled(&self) -> usize {
        let files = std::fs::read_dir(self.path("state/spool")).unwrap();
        files
            .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|e| e == "json"))
            .count()
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
pub fn ends(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", stdout(output), stderr(output));
}

pub fn read_report(path: &Path) -> Report {
    let report: Report = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    report.check().unwrap();
    report
}
