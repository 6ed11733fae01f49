//! The program as people and scripts call it: what it prints, what it writes, how it ends.

mod support;

use std::process::Stdio;

use support::home::{Home, QUICK, ends, read_report, stderr, stdout};

#[test]
fn the_list_names_units_and_directions_of_every_workload() {
    let home = Home::new();
    let output = home.run(&["list", "--json"]);
    ends(&output, 0);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), scalewatch_runner::workloads::all().len());
    for workload in list {
        for metric in workload["metrics"].as_array().unwrap() {
            assert!(wire::Unit::parse(metric["unit"].as_str().unwrap()).is_some());
            assert!(wire::Direction::parse(metric["direction"].as_str().unwrap()).is_some());
        }
    }
    let words = stdout(&home.run(&["list"]));
    assert!(list.iter().all(|workload| words.contains(workload["id"].as_str().unwrap())));
}

#[test]
fn a_run_prints_a_table_and_needs_no_revision() {
    let home = Home::new();
    let output = home.run(&[&["run", "sys/getppid"], &QUICK[..]].concat());
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.starts_with("sys/getppid · mode=process placement=none\n"), "{text}");
    assert!(text.contains("ops/s per task"), "{text}");
    assert!(stderr(&output).contains("[1/1] sys/getppid process 1 task: "), "no terminal: lines");
    let quiet = home.run(&[&["run", "sys/getppid", "--quiet"], &QUICK[..]].concat());
    assert_eq!(stderr(&quiet), "");
}

#[test]
fn a_report_holds_the_revision_the_machine_and_every_window() {
    let home = Home::new();
    let json = home.path("result.json");
    let output = home.run(
        &[
            &["run", "file/open", "sys/getppid", "--mode", "both", "--json", "result.json"][..],
            &["--project", "linux", "--commit", "0a1b2c3d4e", "--position", "7"],
            &["--branch", "next", "--message", "mm: do less", "--parents", "0a1b2c3d4d,0a1b2c3d4c"],
            &QUICK[..],
        ]
        .concat(),
    );
    ends(&output, 0);
    let report = read_report(&json);
    assert_eq!(report.project.name, "linux");
    assert_eq!(report.revision.position, Some(7));
    assert_eq!(report.revision.parents, ["0a1b2c3d4d", "0a1b2c3d4c"]);
    assert_eq!(report.points.len(), 4);
    for point in &report.points {
        let wire::Outcome::Measured(measured) = &point.outcome else { panic!("{point:?}") };
        assert_eq!((measured.warmup_windows, measured.windows.len()), (1, 2));
    }
    assert!(!report.environment.0.contains_key("kernel.release"), "a kernel's is its revision");
    assert!(report.started_at <= report.finished_at);
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_is_wrong() {
    let home = Home::new();
    for (args, words) in [
        (vec!["run"], "WORKLOAD"),
        (vec!["run", "no/such"], "no/such"),
        (vec!["run", "file/open", "-p", "layout=x"], "layout"),
        (vec!["run", "file/open", "-p", "layout"], "key=value"),
        (vec!["run", "file/open", "-p", "layout=own-dir", "-p", "layout=same-file"], "twice"),
        (vec!["run", "file/open", "--tasks", "0"], "tasks"),
        (vec!["run", "file/open", "--window", "5"], "250ms"),
        (vec!["run", "file/open", "--windows", "0"], "windows"),
        (vec!["run", "file/open", "--placement", "list:9999"], "9999"),
        (vec!["run", "file/open", "--base", "layout=own-dir"], "--head"),
        (vec!["run", "file/open", "--base", "layout=own-dir", "--head", "a=b"], "same parameters"),
        (vec!["run", "file/open", "--base", "a=b", "--head", "a=b"], "are the same"),
        (vec!["run", "file/open", "--wis-compat", "--json", "x"], "--wis-compat"),
        (vec!["run", "file/open", "--wis-csv", "x.csv", "--mode", "thread"], "--mode"),
        (vec!["run", "file/open", "file/dup", "--wis-csv", "x.csv"], "one workload"),
        (vec!["run", "file/open", "--wis-csv", "x.csv", "--tasks", "2"], "begin with 1"),
        (vec!["run", "file/open", "--wis-csv", "x.title"], "x.title"),
        (vec!["run", "file/open", "--wis-csv", "no/folder/x.csv"], "no/folder/x.csv"),
        (vec!["run", "wis/open9"], "open1"),
        (vec!["run", "wis/open1", "-p", "layout=own-dir"], "layout=shared-dir"),
        (vec!["run", "file/open", "--json", "no/folder/r.json"], "no/folder/r.json"),
        (vec!["run", "file/open", "--json", "."], "is a folder"),
        (vec!["compare", "no-such.json"], "no-such.json"),
        (vec!["compare"], "FILE"),
        (vec!["register", "--server", "watch.example.org"], "http"),
        (vec!["register", "--server", "http://127.0.0.1:9"], "SCALEWATCH_TOKEN"),
        (vec!["upload"], "not registered"),
        (vec!["frobnicate"], "frobnicate"),
    ] {
        let output = home.run(&args);
        ends(&output, 2);
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_point_that_fails_is_reported_and_ends_with_6() {
    let home = Home::new();
    home.write("no-folder", "");
    let args = ["run", "file/open", "sys/getppid", "--dir", "no-folder", "--json", "r.json"];
    let code = ["--commit", "0a1b2c3d4e", "--position", "1"];
    let output = home.run(&[&args[..], &code[..], &QUICK[..]].concat());
    ends(&output, 6);
    assert!(stdout(&output).contains("1 task failed: "), "{}", stdout(&output));
    assert!(stderr(&output).contains("1 of 2 points failed"));
    let report = read_report(&home.path("r.json"));
    assert!(matches!(report.points[0].outcome, wire::Outcome::Failed(_)));
    assert!(matches!(report.points[1].outcome, wire::Outcome::Measured(_)));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    let mut command = home.command(&["list"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    ends(&output, 0);
    assert_eq!(stderr(&output), "");
}

#[test]
fn every_command_explains_itself_and_the_exit_codes_are_in_the_help() {
    let home = Home::new();
    let help = stdout(&home.run(&["--help"]));
    for code in 0..=6 {
        assert!(help.contains(&format!("\n  {code}  ")), "{help}");
    }
    for command in ["list", "check", "machine", "run", "compare", "register", "upload"] {
        assert!(help.contains(command));
        let output = home.run(&[command, "--help"]);
        ends(&output, 0);
        assert!(stdout(&output).contains("Usage: scalewatch-runner"), "{command}");
    }
}

#[test]
fn a_check_tells_each_setting_and_one_without_time_has_failed() {
    let home = Home::new();
    let output = home.run(&["check", "sys/getppid"]);
    ends(&output, 0);
    assert_eq!(stdout(&output), "all 3 settings of 1 workload work\n");
    assert_eq!(stderr(&output).matches("sys/getppid").count(), 3, "{}", stderr(&output));
    let output = home.run(&["check", "sys/getppid", "--limit", "0s", "--quiet"]);
    ends(&output, 6);
    let said = stderr(&output);
    assert_eq!(said.matches("time-out: not through after 0ns in all").count(), 3, "{said}");
    assert!(said.contains("3 of 3 settings do not work here"), "{said}");
    ends(&home.run(&["check", "no/such"]), 2);
}

#[test]
fn the_machine_says_who_it_is_and_the_same_twice() {
    let home = Home::new();
    let machine = || -> serde_json::Value {
        let output = home.run(&["machine", "--json"]);
        ends(&output, 0);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (first, second) = (machine(), machine());
    assert_eq!(first["machine"], second["machine"]);
    assert_eq!(first["environment"], second["environment"]);
    assert!(first["environment"]["kernel.release"].is_string());
    let words = stdout(&home.run(&["machine"]));
    assert!(words.contains("hardware thread") && words.contains("quiet"), "{words}");
}
