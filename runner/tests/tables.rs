//! The tables that the documentation promises of one command each: every command is run as it
//! stands there, only shorter.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::{Command, Stdio};

/// The commands below the heading of the published tables.
fn documented() -> Vec<String> {
    let text = include_str!("../../docs/runner.md");
    let (_, section) = text.split_once("\n## The published tables\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let commands = section.lines().filter_map(|line| line.strip_prefix("    scalewatch-runner "));
    commands.map(str::to_owned).collect()
}

/// What it prints, with windows as short as a busy machine allows: a task may wait for tens of milliseconds.
fn shortened(command: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    for dir in ["list", "slots"] {
        std::fs::create_dir(home.path().join(dir)).unwrap();
    }
    let short: &[&str] = match command.contains("--unixbench") {
        true => &["--pass-time", "100ms", "--settle", "0s"],
        false => &[
            "--pairs",
            "3",
            "--windows",
            "1",
            "--window",
            "40ms",
            "--warmup",
            "1",
            "--no-controls",
        ],
    };
    // The whole file system is verified after each point.
    let small: &[&str] = if command.contains("stream-goal") { &["-p", "groups=32"] } else { &[] };
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
        .args(command.split(' '))
        .args(short)
        .args(small)
        .arg("--quiet")
        .current_dir(home.path())
        .env("SCALEWATCH_RUNNER_STATE", home.path().join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{said}\n{why}");
    said
}

/// The lines that begin so.
fn lines<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.trim_start().starts_with(start)).collect()
}

/// One line a point of the command, with our verdict and LKP's and mmtests' beside it.
fn is_our_table(text: &str, sides: [&str; 2], points: usize) {
    for (role, side) in ["base", "head"].into_iter().zip(sides) {
        assert!(text.contains(&format!("{role}  {side}  3 runs")), "{text}");
    }
    let head = lines(text, "tasks").first().copied().unwrap_or_default();
    for column in ["base", "head", "verdict", "LKP", "mmtests"] {
        assert!(head.contains(column), "{text}");
    }
    let below = text.split_once(head).unwrap().1.trim_start_matches('\n');
    let rows: Vec<&str> = below.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), points, "{text}");
    for row in rows {
        let row: Vec<&str> = row.split_whitespace().collect();
        assert!(row[0].parse::<u32>().is_ok(), "{text}");
        assert!(row.last().unwrap().ends_with(['%', ')', '*', '—']), "{text}");
    }
}

/// mmtests' rows for the points, and LKP's table below.
fn is_mmtests_and_lkp(text: &str, workload: &str, points: usize) {
    let means = lines(text, &format!("Hmean     {workload}-"));
    assert_eq!(means.len() % points, 0, "{text}");
    assert!(means.len() >= points && means.iter().all(|row| row.contains("(   0.00%)")), "{text}");
    let (_, lkp) = text.split_once("%stddev     %change         %stddev\n").expect(text);
    for rate in ["ops_per_s_total", "ops_per_cpu_s"] {
        let rows = lkp.lines().filter(|row| row.ends_with(rate) && row.contains(workload));
        assert_eq!(rows.count(), points, "{text}");
    }
}

/// Points of `--tasks 1,max`.
fn points() -> usize {
    if scalewatch_runner::harness::allowed_cpus().unwrap().len() > 1 { 2 } else { 1 }
}

#[test]
fn every_documented_command_prints_its_table() {
    let mut checked = 0;
    for command in documented() {
        let text = shortened(&command);
        let workload = command.split(' ').nth(1).unwrap();
        match (workload, command.contains("--format mmtests,lkp")) {
            ("--unixbench", _) => {
                assert!(text.contains("running 24 parallel copies of tests"), "{text}");
                let index = lines(&text, "System Benchmarks Index Score (Partial Only)");
                let index = index[0].split_whitespace().last().unwrap();
                assert!(index.parse::<f64>().unwrap() > 0.0, "{text}");
            }
            (workload, true) => is_mmtests_and_lkp(&text, workload, points()),
            (_, false) => {
                let side = |name: &str| {
                    let words = command.split(' ').skip_while(|word| !word.starts_with(name));
                    words.collect::<Vec<_>>()[..2].to_vec()
                };
                let given = |name: &str| -> String {
                    let [option, value] = side(name)[..] else { panic!("{command}") };
                    match option.ends_with("-dir") {
                        true => format!("dir={value}"),
                        // Printed in the order of their names.
                        false => {
                            let mut pairs: Vec<&str> = value.split(',').collect();
                            pairs.sort_unstable();
                            pairs.join(" ")
                        }
                    }
                };
                let points = if command.contains("--tasks 2 ") { 1 } else { points() };
                is_our_table(&text, [&given("--base"), &given("--head")], points);
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 7, "a table for each of the four, and the file systems");
}

#[test]
fn a_form_of_two_sides_asks_for_them_before_anything_is_measured() {
    for (format, words) in [
        ("lkp", "--format lkp compares two sides: give --base and --head"),
        ("table,mmtests", "--format mmtests compares two sides"),
        ("json", "--format json compares two sides"),
        ("unheard-of", "unheard-of"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
            .args(["run", "sys/getppid", "--format", format])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words) && !said.contains("[1/1]"), "{said}");
    }
}

#[test]
fn json_of_a_paired_run_is_one_value_and_people_read_the_rest_on_standard_error() {
    let home = tempfile::tempdir().unwrap();
    let sides = ["--base", "layout=own-dir", "--head", "layout=same-file", "--pairs", "3"];
    let run = |format: &str| {
        Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
            .args(["run", "file/open", "--tasks", "1", "--windows", "1", "--window", "5ms"])
            .args(sides)
            .args(["--quiet", "--format", format])
            .current_dir(home.path())
            .env("SCALEWATCH_RUNNER_STATE", home.path().join("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let output = run("json");
    let tree: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(tree["curves"][0]["workload"], "file/open");
    assert!(String::from_utf8_lossy(&output.stderr).contains("stable"), "the controls");
    let several = run("json,lkp");
    assert_eq!(several.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&several.stderr).contains("json stands alone"));
}
