//! `serve --check-config`: all that is wrong at once, by name, and what is in effect.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Checks what a file and variables say, on a machine with nothing else set.
fn check(folder: &Path, file: &str, variables: &[(&str, &str)], flags: &[&str]) -> Output {
    let path = folder.join("scalewatch.toml");
    fs::write(&path, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    for (name, _) in std::env::vars() {
        if name.starts_with("SCALEWATCH_") || name.starts_with("DATABASE_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--check-config", "--config"]).arg(&path).args(flags);
    command.env("HOME", folder).envs(variables.iter().copied());
    command.output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn good_settings_are_printed_with_their_origin_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = "url = \"https://perf.example.org\"\nlisten = \"0.0.0.0:1\"\nshutdown_seconds = 30\n\
                [database]\nurl = \"postgres://ada:hush@db/x\"\nconnections = 8\n";
    let variables =
        [("SCALEWATCH_DATABASE_CONNECTIONS", "9"), ("SCALEWATCH_SHUTDOWN_SECONDS", "40")];
    let output = check(folder.path(), file, &variables, &["--set", "shutdown_seconds=50"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let said = out(&output);
    for line in [
        "url = \"https://perf.example.org\"  # file",
        "connections = 9  # environment",
        "shutdown_seconds = 50  # flag",
        "url = \"postgres://ada:***@db/x\"  # file",
        "log_format = \"text\"  # default",
        "# replica_url is not set",
    ] {
        assert!(said.lines().any(|one| one == line), "{line} is not in\n{said}");
    }
    assert!(!said.contains("hush"), "{said}");
    assert_eq!(errors(&output), "");
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_name_and_limit() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    fs::write(&key, "no key").unwrap();
    let file = format!(
        "lisen = \"x\"\nurl = \"perf.example.org\"\nshutdown_seconds = 0\n[database]\n\
         url = \"mysql://ada:hush@db/x\"\nconnections = 1\n[tls]\ncertificate = \"/nowhere.pem\"\n\
         key = \"{}\"\n[mail]\nto = [\"nobody\"]\nsmtp_url = \"smtp://me@mail?tls=maybe\"\n\
         [proxy]\ntrusted = [\"10.0.0.0/40\"]\n",
        key.display()
    );
    let variables = [("SCALEWATCH_LISTEN", "localhost"), ("SCALEWATCH_RAEDY_MAIL_SECONDS", "1")];
    let output = check(folder.path(), &file, &variables, &["--local-owner"]);
    assert_eq!(output.status.code(), Some(2));
    let said = errors(&output);
    for part in [
        "`lisen` in",
        "did you mean listen?",
        "SCALEWATCH_RAEDY_MAIL_SECONDS is no setting; did you mean SCALEWATCH_READY_MAIL_SECONDS?",
        "SCALEWATCH_LISTEN is `localhost`, not an address such as",
        "`url` in",
        "`perf.example.org`, not an address such as https:",
        "`shutdown_seconds` in",
        "`0`, not 1 to 3600",
        "`database.url` in",
        "`1`, not 2 to 1000",
        "`tls.certificate` in",
        "/nowhere.pem",
        "`nobody` is no mail address",
        "SCALEWATCH_MAIL_FROM is not set, though mail goes to a server",
        "tls=maybe",
        "`10.0.0.0/40`, not networks",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    assert!(said.trim_end().ends_with("problems"), "{said}");
    assert!(!said.contains("hush") && !out(&output).contains("hush"), "{said}");
}

#[test]
fn what_cannot_be_read_at_all_is_a_problem_too() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |file: &str, variables: &[(&str, &str)], flags: &[&str]| {
        let output = check(folder.path(), file, variables, flags);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    assert!(refused("listen = \n", &[], &[]).contains("scalewatch.toml"));
    assert!(refused("", &[], &[]).contains("DATABASE_URL is not set"));
    let url = ("DATABASE_URL", "postgres://ada@db/x");
    assert!(refused("", &[url], &["--set", "listen"]).contains("KEY=VALUE"));
    let owner = ["--local-owner", "--set", "listen=0.0.0.0:80"];
    assert!(refused("", &[url], &owner).contains("loopback"));
    let data = [url, ("SCALEWATCH_DATA", "/proc/version/data")];
    assert!(refused("", &data, &[]).contains("SCALEWATCH_DATA"));
    let alone = [url, ("SCALEWATCH_TLS_KEY", "/key")];
    assert!(refused("", &alone, &[]).contains("SCALEWATCH_TLS_CERTIFICATE"));
    let output = check(folder.path(), "", &[url], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
}

#[test]
fn a_service_does_not_start_on_settings_that_cannot_be_used() {
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .args(["serve", "--set", "log_format=xml", "--set", "shutdown_seconds=0"])
        .env("DATABASE_URL", "postgres://nobody@127.0.0.1:1/x")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(
        said.contains("--set log_format is `xml`") && said.contains("--set shutdown_seconds"),
        "{said}"
    );
}

#[test]
fn the_file_that_the_containers_use_and_the_variables_of_compose_are_settings() {
    let compose = include_str!("../../docker-compose.yml");
    let service =
        compose.split_once("\n  service:\n").unwrap().1.split_once("\n  enrol:\n").unwrap().0;
    let (_, environment) = service.split_once("    environment:\n").unwrap();
    let lines = environment.lines().take_while(|line| line.starts_with("      "));
    let lines: Vec<(&str, String)> = lines
        .map(|line| line.trim().split_once(": ").unwrap())
        .map(|(name, value)| (name, value.replace("${POSTGRES_PASSWORD:-scalewatch}", "secret")))
        .map(|(name, value)| {
            (name, value.replace("${SCALEWATCH_MAIL_TO:-performance@example.org}", "a@x.org"))
        })
        .collect();
    assert!(lines.len() >= 4, "{lines:?}");
    let variables: Vec<_> = lines.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), "", &variables, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(out(&output).contains("smtp://mail:1025?tls=none"), "{}", out(&output));
}
