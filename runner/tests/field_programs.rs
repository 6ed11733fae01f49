//! The program in the manner of will-it-scale, `UnixBench` and AIM: their lines, reports and files.

mod support;

use support::home::{Home, ends, read_report, stderr, stdout};

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
            other => panic!("{other:?}"),
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
