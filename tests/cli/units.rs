//! The units below `deploy/`, as systemd reads them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Units with the programs that were built here, in a folder that goes with the test.
fn units() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let built = Path::new(env!("CARGO_BIN_EXE_scalewatch")).parent().unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let text =
            text.replace("/usr/bin/scalewatch", &built.join("scalewatch").display().to_string());
        fs::write(folder.path().join(path.file_name().unwrap()), text).unwrap();
    }
    folder
}

fn has_systemd() -> bool {
    Command::new("systemd-analyze").arg("--version").output().is_ok()
}

fn analyse(arguments: &[&str], unit: &Path) -> (bool, String) {
    let output = Command::new("systemd-analyze").args(arguments).arg(unit).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn systemd_finds_nothing_to_say_about_the_units() {
    if !has_systemd() {
        return;
    }
    let folder = units();
    let mut seen = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let (good, said) = analyse(&["verify", "--man=no"], &path);
        assert!(good && said.trim().is_empty(), "{}: {said}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 4);
    let broken = folder.path().join("broken.service");
    fs::write(&broken, "[Service]\nExecStart=/nowhere/at-all\n").unwrap();
    assert!(!analyse(&["verify", "--man=no"], &broken).0, "it would say so");
}

#[test]
fn the_service_may_do_little() {
    if !has_systemd() {
        return;
    }
    let folder = units();
    for unit in ["scalewatch.service", "scalewatch-backup.service"] {
        let limit = ["security", "--offline=true", "--threshold=20"];
        let (good, said) = analyse(&limit, &folder.path().join(unit));
        assert!(good, "{unit}: {}", said.lines().last().unwrap_or_default());
    }
}

#[test]
fn the_service_is_given_time_to_stop_and_its_programs_take_the_arguments() {
    let folder = units();
    let text = fs::read_to_string(folder.path().join("scalewatch.service")).unwrap();
    let stop = text.lines().find_map(|line| line.strip_prefix("TimeoutStopSec=")).unwrap();
    let stop: u64 = stop.trim_end_matches('s').parse().unwrap();
    assert!(stop > 10, "longer than the default of shutdown_seconds");
    let file = folder.path().join("scalewatch.toml");
    fs::write(&file, "[database]\nurl = \"postgres://scalewatch@localhost/scalewatch\"\n").unwrap();
    let variables = text.lines().filter_map(|line| line.strip_prefix("Environment="));
    let variables = variables.map(|line| line.split_once('=').unwrap());
    let check = text.lines().find_map(|line| line.strip_prefix("ExecStartPre=")).unwrap();
    let mut words = check.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).envs(variables).env("SCALEWATCH_CONFIG", &file);
    command.env("SCALEWATCH_DATA", folder.path()).env_remove("DATABASE_URL");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
