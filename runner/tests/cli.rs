//! The program as people and scripts call it: what it prints, what it writes, how it ends.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::reports::{a_failure, as_file, runs};
use support::{Act, MACHINE, Stub, error, report};
use wire::Report;

const QUICK: [&str; 10] =
    ["--tasks", "1", "--windows", "2", "--window", "5ms", "--warmup", "1", "--placement", "none"];

/// A folder of one's own: state, files and working directory.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
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

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A registration with a service, without asking it.
    fn registered_with(&self, url: &str) {
        self.registered_as(MACHINE, url);
    }

    fn registered_as(&self, machine: &str, url: &str) {
        std::fs::create_dir_all(self.path("state")).unwrap();
        let text =
            format!(r#"{{"server":"{url}","machine":"{machine}","token":"sw_secret_upload"}}"#);
        self.write("state/registration.json", &text);
    }

    fn spooled(&self) -> usize {
        let files = std::fs::read_dir(self.path("state/spool")).unwrap();
        files
            .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|e| e == "json"))
            .count()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn ends(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", stdout(output), stderr(output));
}

fn read_report(path: &Path) -> Report {
    let report: Report = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    report.check().unwrap();
    report
}

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
fn will_it_scales_lines_are_printed_for_whom_parses_them() {
    let home = Home::new();
    let args = ["run", "sys/getppid", "--wis-compat", "--tasks", "2", "--windows", "1"];
    let output = home.run(&[&args[..], &["--warmup", "1", "--placement", "none"]].concat());
    ends(&output, 0);
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["testcase:getppid", "warmup"], "{text}");
    assert_eq!(lines[3], "measurement");
    assert_eq!(lines.len(), 6);
    let numbers = |line: &str| -> Vec<u64> {
        line.split(' ')
            .zip(["min:", "max:", "total:"])
            .map(|(word, name)| word.strip_prefix(name).unwrap().parse().unwrap())
            .collect()
    };
    for line in [lines[2], lines[4]] {
        let [min, max, total] = numbers(line)[..] else { panic!("{line}") };
        assert!(min > 0 && min <= max && min + max == total, "{line}");
    }
    let total = numbers(lines[4])[2];
    assert_eq!(lines[5], format!("average:{total}"));
}

#[test]
fn tests_of_will_it_scale_are_known_by_name_and_say_what_its_programs_say() {
    let home = Home::new();
    let quick = ["--warmup", "0", "--windows", "1", "--tasks", "1", "--placement", "none"];
    let run = |args: &[&str]| {
        let output = home.run(&[&["run", "--wis-compat"], args, &quick[..]].concat());
        ends(&output, 0);
        stdout(&output).lines().next().unwrap().to_owned()
    };
    let on_disk = home.0.path().to_str().unwrap();
    assert_eq!(run(&["wis/pread3"]), "testcase:Same file pread to different offsets");
    assert_eq!(run(&["wis/writeseek2"]), "testcase:Same file seek+read", "as it is there");
    assert_eq!(run(&["file/dup"]), "testcase:Separate file dup/close");
    assert_eq!(run(&["ctl/int-loop"]), "testcase:integer work in registers");
    let tmpfs = "testcase:Separate file fallocate against tmpfs";
    assert_eq!(run(&["wis/fallocate1"]), tmpfs, "its files are on tmpfs unless told otherwise");
    if scalewatch_runner::machine::file_system_type(home.0.path()).unwrap() != "tmpfs" {
        let disk = "testcase:Separate file fallocate";
        assert_eq!(run(&["wis/fallocate1", "--dir", on_disk]), disk);
        assert_eq!(run(&["wis/fallocate2"]), disk);
    }
    let mixed = home.run(&["run", "wis/fallocate1", "wis/fallocate2"]);
    ends(&mixed, 2);
    assert!(stderr(&mixed).contains("--dir"), "{}", stderr(&mixed));
}

#[test]
fn the_csv_has_the_shape_of_will_it_scales_script_and_a_title_beside_it() {
    let home = Home::new();
    let quick = ["--warmup", "0", "--windows", "1", "--tasks", "1,2", "--placement", "none"];
    let output =
        home.run(&[&["run", "wis/getppid1", "--wis-csv", "getppid1.csv"], &quick[..]].concat());
    ends(&output, 0);
    assert_eq!(std::fs::read_to_string(home.path("getppid1.title")).unwrap(), "getppid\n");
    let text = std::fs::read_to_string(home.path("getppid1.csv")).unwrap();
    let head = "tasks,processes,processes_idle,threads,threads_idle,linear\n0,0,100,0,100,0\n";
    let rows: Vec<Vec<&str>> =
        text.strip_prefix(head).unwrap().lines().map(|row| row.split(',').collect()).collect();
    let rate = |field: &str| field.parse::<i64>().unwrap();
    let best = rate(rows[0][1]).max(rate(rows[0][3]));
    assert_eq!(rows.len(), 2);
    for (tasks, row) in (1i64..).zip(&rows) {
        let [n, processes, processes_idle, threads, threads_idle, linear] = row[..] else {
            panic!("{text}")
        };
        assert_eq!((rate(n), rate(linear)), (tasks, tasks * best), "{text}");
        assert!(rate(processes) > 0 && rate(threads) > 0, "{text}");
        for idle in [processes_idle, threads_idle] {
            assert!((0.0..=100.0).contains(&idle.parse::<f64>().unwrap()), "{text}");
            assert_eq!(idle.rsplit_once('.').unwrap().1.len(), 2, "{text}");
        }
    }
}

#[test]
fn a_failed_point_is_minus_one_in_the_csv_and_the_run_ends_with_6() {
    let home = Home::new();
    home.write("no-folder", "");
    let args = ["run", "wis/read1", "--dir", "no-folder", "--wis-csv", "read1.csv"];
    let output = home.run(&[&args[..], &["--tasks", "1,2", "--windows", "1"]].concat());
    ends(&output, 6);
    assert!(stderr(&output).contains("4 of 4 points failed: mkdir"), "{}", stderr(&output));
    let text = std::fs::read_to_string(home.path("read1.csv")).unwrap();
    let rows: Vec<&str> = text.lines().skip(2).collect();
    for (row, (tasks, linear)) in rows.iter().zip([("1", "-1"), ("2", "-2")]) {
        let fields: Vec<&str> = row.split(',').collect();
        assert_eq!((fields[0], fields[1], fields[3], fields[5]), (tasks, "-1", "-1", linear));
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
fn two_parameter_sets_take_turns_and_are_judged_at_once_and_again_from_the_file() {
    let home = Home::new();
    let sides = ["--base", "layout=own-dir", "--head", "layout=same-file", "--pairs", "3"];
    let output = home.run(&[&["run", "file/open"], &sides[..], &QUICK[..]].concat());
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("base  layout=own-dir  3 runs\n"), "{text}");
    assert!(text.contains("head  layout=same-file  3 runs\n"), "{text}");
    let order: Vec<String> = stderr(&output)
        .lines()
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(order, ["base", "head", "head", "base", "base", "head"]);

    let code = ["--json", "pair.json", "--commit", "0a1b2c3d4e", "--position", "1"];
    ends(&home.run(&[&["run", "file/open"], &sides[..], &code[..], &QUICK[..]].concat()), 0);
    let lines = std::fs::read_to_string(home.path("pair.json")).unwrap();
    assert_eq!(lines.lines().count(), 6);
    for format in ["table", "lkp", "mmtests", "json"] {
        let output = home.run(&["compare", "pair.json", "--format", format]);
        ends(&output, 0);
        assert!(stdout(&output).contains("file/open"), "{format}");
    }
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

#[test]
fn the_gate_has_a_code_for_each_outcome() {
    const BASE: &str = "68ac5b3c8db2";
    const HEAD: &str = "5387c90490f7";
    let home = Home::new();
    home.write("base", &as_file(&runs(1, 5, BASE, &[(1, 50_000.0), (2, 90_000.0)])));
    home.write("same", &as_file(&runs(11, 5, HEAD, &[(1, 50_000.0), (2, 90_000.0)])));
    home.write("worse", &as_file(&runs(21, 5, HEAD, &[(1, 50_000.0), (2, 60_000.0)])));
    home.write("less", &as_file(&runs(31, 5, HEAD, &[(1, 50_000.0)])));
    let mut failing = runs(41, 5, HEAD, &[(1, 50_000.0)]);
    failing.iter_mut().for_each(|report| report.points.push(a_failure(2)));
    home.write("failing", &as_file(&failing));
    home.write("broken", "{");
    for (head, code, words) in [
        ("same", 0, "gate: no regression on 1 curve"),
        ("worse", 1, "gate: regression on 1 curve"),
        ("broken", 2, "broken: report 1"),
        ("less", 3, "gate: undecided, not enough data"),
        ("failing", 6, "gate: the head failed"),
    ] {
        let output = home.run(&["compare", "base", head, "--gate"]);
        ends(&output, code);
        assert!(stderr(&output).contains(words), "{head}: {}", stderr(&output));
    }
    ends(&home.run(&["compare", "base", "worse"]), 0);
    for format in ["lkp", "mmtests"] {
        let text = stdout(&home.run(&["compare", "base", "worse", "--format", format]));
        let lines: Vec<&str> = text.lines().take(4).collect();
        assert!(lines[1].starts_with("regression: −33.3 % at 2"), "{text}");
        assert!(lines[2].starts_with("  at 1: no change, within ±"), "{text}");
        assert!(lines[3].starts_with("  at 2: regression −33.3 % ["), "{text}");
    }
    ends(&home.run(&["compare", "base", "worse", "--gate", "--metric", "ops_per_cpu_s"]), 1);
    ends(&home.run(&["compare", "base", "worse", "--gate", "--noise-floor", "80"]), 0);
    ends(&home.run(&["compare", "base", "same", "--metric", "no_such"]), 2);
    ends(&home.run(&["compare", "base", "same", "--noise-floor", "NaN"]), 2);
}

#[test]
fn registering_takes_the_token_from_the_environment_or_a_file_and_shows_it_nowhere() {
    let home = Home::new();
    let answer =
        || Act::Say(201, format!(r#"{{"machine":"{MACHINE}","token":"sw_secret_upload"}}"#), "");
    let stub = Stub::start([
        answer(),
        answer(),
        Act::Say(403, error("not_allowed", None), ""),
        Act::Say(503, String::new(), ""),
    ]);
    let url = stub.url();
    let args = ["register", "--server", url.as_str(), "--name", "kunpeng-a"];
    let output = home.command(&args).env("SCALEWATCH_TOKEN", "sw_enrol").output().unwrap();
    ends(&output, 0);
    let token = home.write("token", "sw_enrol_file\n");
    let by_file = [&args[..], &["--enrol-token-file", token.to_str().unwrap()]].concat();
    ends(&home.run(&by_file), 0);
    let requests = stub.requests();
    assert_eq!(requests[0].headers["authorization"], "Bearer sw_enrol");
    assert_eq!(requests[1].headers["authorization"], "Bearer sw_enrol_file");
    let machine: wire::Machine = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(machine.name, "kunpeng-a");
    assert_eq!(machine.check(""), Ok(()));
    let kept = std::fs::read_to_string(home.path("state/registration.json")).unwrap();
    assert!(kept.contains("sw_secret_upload") && !kept.contains("sw_enrol"));
    assert!(!(stdout(&output) + &stderr(&output)).contains("sw_"), "no token is shown");

    let refused = home.run(&by_file);
    ends(&refused, 4);
    assert!(stderr(&refused).contains("not_allowed"), "{}", stderr(&refused));
    ends(&home.run(&by_file), 5);
    let after = std::fs::read_to_string(home.path("state/registration.json")).unwrap();
    assert_eq!(after, kept, "what was registered before stays");
}

#[test]
fn uploading_ends_with_0_when_sent_4_when_refused_and_5_when_unreachable() {
    let home = Home::new();
    let reports = |n: u32| [report(n), report(n + 1)];
    let stub = Stub::start([
        Act::Accept,
        Act::Known,
        Act::Say(422, error("invalid_field", Some("points[0].tasks")), ""),
        Act::Accept,
        Act::Say(401, error("bad_token", None), ""),
    ]);
    home.registered_with(&stub.url());
    let file = |n| home.write("r.json", &as_file(&reports(n))).to_str().unwrap().to_owned();
    let output = home.run(&["upload", &file(1)]);
    ends(&output, 0);
    assert!(stderr(&output).contains("2 sent (1 known already), 0 refused, 0 kept"));
    assert_eq!(stub.requests()[0].headers["authorization"], "Bearer sw_secret_upload");

    let output = home.run(&["upload", &file(3)]);
    ends(&output, 4);
    assert!(stderr(&output).contains("points[0].tasks"), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 sent, 1 refused, 0 kept"));

    let output = home.run(&["upload", &file(5)]);
    ends(&output, 4);
    assert!(stderr(&output).contains("register again"), "{}", stderr(&output));
    assert_eq!(home.spooled(), 2, "the token is at fault, not the reports");
    assert!(!stderr(&output).contains("sw_secret"));

    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.registered_with(&format!("http://{closed}"));
    let output = home.run(&["upload", "--for", "1ms"]);
    ends(&output, 5);
    assert_eq!(home.spooled(), 2);

    home.registered_with(&stub.url());
    ends(&home.run(&["upload"]), 0);
    assert_eq!(home.spooled(), 0);
    ends(&home.run(&["upload"]), 0);
}

#[test]
fn a_token_goes_to_no_other_service_than_its_own() {
    let home = Home::new();
    home.registered_with("http://127.0.0.1:9");
    let other = Stub::start([]);
    let file = home.write("r.json", &as_file(&[report(1)]));
    let args = ["upload", file.to_str().unwrap(), "--server", &other.url()];
    let output = home.run(&args);
    ends(&output, 2);
    assert!(stderr(&output).contains("registered with http://127.0.0.1:9"));
    assert!(other.requests().is_empty());
    let with_token = home.command(&args).env("SCALEWATCH_TOKEN", "sw_other").output().unwrap();
    ends(&with_token, 0);
    assert_eq!(other.requests()[0].headers["authorization"], "Bearer sw_other");
}

#[test]
fn a_run_that_is_uploaded_is_on_disk_before_it_is_sent() {
    let home = Home::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let code = ["--upload", "--commit", "0a1b2c3d4e", "--position", "1", "--for", "1ms"];
    let run = [&["run", "sys/getppid"], &code[..], &QUICK[..]].concat();
    let unregistered = home.run(&run);
    ends(&unregistered, 2);
    home.registered_with(&format!("http://{closed}"));
    let elsewhere = home.run(&run);
    ends(&elsewhere, 2);
    assert!(stderr(&elsewhere).contains("another machine"), "{}", stderr(&elsewhere));
    for early in [unregistered, elsewhere] {
        assert!(!stderr(&early).contains("[1/1]"), "found out before measuring");
    }
    let machine: serde_json::Value =
        serde_json::from_slice(&home.run(&["machine", "--json"]).stdout).unwrap();
    let machine = machine["machine"]["id"].as_str().unwrap();
    home.registered_as(machine, &format!("http://{closed}"));
    let output = home.run(&run);
    ends(&output, 5);
    assert!(stdout(&output).contains("sys/getppid"), "the table is not lost");
    assert_eq!(home.spooled(), 1);
}

#[test]
fn killing_an_upload_at_any_moment_loses_nothing_and_the_next_one_sends_it() {
    let home = Home::new();
    let stub = Stub::start([Act::Accept, Act::Hold, Act::Hold, Act::Known]);
    home.registered_with(&stub.url());
    let file = home.write("r.json", &as_file(&[report(1), report(2), report(3)]));
    let mut first = true;
    for kept in [2, 2] {
        let mut args = vec!["upload"];
        if std::mem::take(&mut first) {
            args.push(file.to_str().unwrap());
        }
        let mut child = home.command(&args).stderr(Stdio::null()).spawn().unwrap();
        stub.wait_until_held();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(home.spooled(), kept);
    }
    ends(&home.run(&["upload"]), 0);
    assert_eq!(home.spooled(), 0);
    let run = |n| report(n).run;
    assert_eq!(stub.runs(), [run(1), run(2), run(2), run(2), run(3)]);
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

#[test]
fn the_protocol_of_unixbench_prints_its_report_and_keeps_every_pass() {
    let home = Home::new();
    let code = ["--commit", "0a1b2c3d4e", "--position", "1", "--json", "ub.json"];
    let args = ["run", "--unixbench", "-i", "4", "--copies", "2"];
    let quick = ["--settle", "0s", "--pass-time", "150ms"];
    let run = [&args[..], &["syscall", "fsbuffer"], &quick, &code].concat();
    let output = home.run(&run);
    ends(&output, 0);
    let text = stdout(&output);
    let progress =
        "2 x System Call Overhead  1 2 3 4\n2 x File Copy 256 bufsize 500 maxblocks  1\n";
    let (before, report) = text.split_once("\n\n").unwrap();
    assert_eq!(format!("{before}\n"), progress);
    assert!(report.contains("running 2 parallel copies of tests"), "{text}");
    let kept: Vec<&str> = report.lines().filter(|line| line.ends_with("samples)")).collect();
    assert!(kept[0].starts_with("File Copy 256") && kept[0].contains(", 1 samples)"), "{text}");
    assert!(kept[1].starts_with("System Call") && kept[1].contains(", 3 samples)"), "{text}");
    let stored = read_report(&home.path("ub.json"));
    let windows: Vec<usize> = stored
        .points
        .iter()
        .map(|point| match &point.outcome {
            wire::Outcome::Measured(measured) => {
                assert!(measured.metrics.iter().any(|m| m.name == "unixbench_index"));
                measured.windows.len()
            }
            wire::Outcome::Failed(failure) => panic!("{failure:?}"),
        })
        .collect();
    assert_eq!(windows, [4, 1]);
    let again = home.run(&["compare", "ub.json", "--format", "unixbench"]);
    ends(&again, 0);
    assert_eq!(stdout(&again), report);

    for (wrong, word) in [
        (["--unixbench", "no-such", "--settle", "0s"], "dhrystone-like"),
        (["--unixbench", "pipe", "--copies", "0"], "tasks"),
        (["--unixbench", "pipe", "--window", "1s"], "cannot be used with"),
        (["sys/getppid", "-i", "3", "--quiet"], "--unixbench"),
    ] {
        let output = home.run(&[&["run"], &wrong[..]].concat());
        ends(&output, 2);
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}

#[test]
fn a_load_of_fixed_work_is_shown_in_the_lines_of_aim7_and_in_the_csv_of_re_aim() {
    let home = Home::new();
    let code = ["--commit", "0a1b2c3d4e", "--position", "1", "--json", "load.json"];
    let load = ["-p", "jobs=1", "--windows", "2", "--warmup", "0", "--tasks", "2"];
    let output = home.run(&[&["run", "aim/creat-close-fixed"], &load[..], &code].concat());
    ends(&output, 0);
    let report = read_report(&home.path("load.json"));
    let wire::Outcome::Measured(measured) = &report.points[0].outcome else { panic!("it failed") };
    assert!(measured.windows.iter().all(|window| window.ops == [1000, 1000]));
    let shown = home.run(&["compare", "load.json", "--format", "aim"]);
    ends(&shown, 0);
    let text = stdout(&shown);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "Tasks    jobs/min  jti  jobs/min/task      real       cpu");
    assert!(lines[2].starts_with("    2 "), "{text}");
    assert_eq!(lines[2].split_whitespace().count(), 6, "{text}");
    let csv = stdout(&home.run(&["compare", "load.json", "--format", "reaim-csv"]));
    let run = ["--format", "reaim-csv", "--quiet"];
    let at_once = home.run(&[&["run", "aim/creat-close-fixed"], &load[..], &run].concat());
    ends(&at_once, 0);
    assert!(stderr(&at_once).contains("stable"), "the controls are said beside it");
    for text in [csv, stdout(&at_once)] {
        let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split(',').collect()).collect();
        assert_eq!((rows[0][0], rows[1][0], rows.len()), ("Forks", "2", 2), "{text}");
        assert_eq!(rows[1].len(), 11, "{text}");
        for (name, field) in rows[0].iter().zip(&rows[1]) {
            // The kernel counts the children's times in ticks, of which so small a load may see none.
            let may_be_empty = name.starts_with("child");
            assert!(field.parse::<f64>().is_ok() || (may_be_empty && field.is_empty()), "{text}");
        }
    }
    let one_side = home.run(&["compare", "load.json", "--format", "aim", "--gate"]);
    ends(&one_side, 2);
    assert!(stderr(&one_side).contains("two sides are needed"));
}

#[test]
fn counters_that_moved_stand_below_our_table_and_lkps_and_in_the_json() {
    let home = Home::new();
    let with = |reports: Vec<Report>, instructions: f64| -> Vec<Report> {
        let mut reports = reports;
        for (i, point) in reports.iter_mut().flat_map(|report| &mut report.points).enumerate() {
            if let wire::Outcome::Measured(measured) = &mut point.outcome {
                let noise = 1.0 + i as f64 / 1000.0;
                measured.counters.insert("perf.instructions".into(), instructions * noise);
                measured.counters.insert("rusage.user_ns".into(), 400.0 * noise);
            }
        }
        reports
    };
    let base = with(runs(1, 3, "aaaaaaaaaaaa", &[(1, 1000.0)]), 1000.0);
    let head = with(runs(4, 3, "bbbbbbbbbbbb", &[(1, 900.0)]), 1500.0);
    home.write("a.json", &as_file(&base));
    home.write("b.json", &as_file(&head));
    for format in ["table", "lkp"] {
        let output = home.run(&["compare", "a.json", "b.json", "--format", format]);
        ends(&output, 0);
        let text = stdout(&output);
        let parts: Vec<&str> =
            text.split("\nCounters that moved at 1 task, per operation:\n").collect();
        let [_, below] = parts[..] else { panic!("once, below both metrics: {text}") };
        let line = below.lines().next().unwrap();
        assert_eq!(line, "    1.00 k      +50.0%     1.50 k      perf.instructions", "{text}");
        assert!(!below.contains("rusage.user_ns") && !below.contains("too few"), "{below}");
    }
    let output = home.run(&["compare", "a.json", "b.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let moved = &json["curves"][0]["against"][0]["points"][0]["counters_moved"];
    assert_eq!(moved[0]["name"], "perf.instructions", "{moved}");
    assert_eq!(moved[0]["told_apart"], true);
}
