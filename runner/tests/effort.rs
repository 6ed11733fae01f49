//! How much is done to get a run right, as the command line offers it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use wire::Report;

const RUNNER: &str = env!("CARGO_BIN_EXE_scalewatch-runner");
const QUICK: [&str; 8] = ["--tasks", "1", "--windows", "3", "--window", "5ms", "--warmup", "1"];

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(RUNNER)
            .arg("run")
            .args(arguments)
            .args(QUICK)
            .current_dir(self.0.path())
            .env("SCALEWATCH_RUNNER_STATE", self.path("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn report(&self, arguments: &[&str]) -> Report {
        let code = ["--json", "r.json", "--commit", "0a1b2c3d4e", "--position", "1"];
        ends(&self.run(&[arguments, &code].concat()), 0);
        serde_json::from_str(&std::fs::read_to_string(self.path("r.json")).unwrap()).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn ends(output: &Output, code: i32) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{}\n{said}", stdout(output));
}

/// The runner under another name.
fn another_runner(home: &Home, name: &str) -> String {
    let path = home.path(name);
    std::os::unix::fs::symlink(Path::new(RUNNER), &path).unwrap();
    path.display().to_string()
}

#[test]
fn two_runners_are_the_two_sides() {
    let home = Home::new();
    let (old, new) = (another_runner(&home, "old"), another_runner(&home, "new"));
    let sides = ["sys/getppid", "--base-exec", &old, "--head-exec", &new, "--pairs", "3"];
    let output = home.run(&sides);
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains(&format!("base  exec={old}  3 runs")), "{text}");
    assert!(text.contains(&format!("head  exec={new}  3 runs")), "{text}");
}

#[test]
fn a_side_that_is_no_runner_fails_its_points_and_says_so() {
    let home = Home::new();
    let runner = another_runner(&home, "runner");
    let (cat, missing) = ("/bin/cat", "/no/such/runner");
    let output = home.run(&["sys/getppid", "--base-exec", &runner, "--head-exec", cat]);
    ends(&output, 6);
    let output = home.run(&["sys/getppid", "--base-exec", &runner, "--head-exec", missing]);
    ends(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/runner is no file"));
}

#[test]
fn two_directories_are_compared_although_their_surroundings_differ() {
    let home = Home::new();
    let other = Path::new("/dev/shm");
    let other = if other.is_dir() { other } else { Path::new("/tmp") };
    std::fs::create_dir(home.path("here")).unwrap();
    let other = other.display().to_string();
    let sides = ["file/open", "--base-dir", "here", "--head-dir", &other, "--pairs", "3"];
    let output = home.run(&sides);
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("base  dir=here  3 runs"), "{text}");
    assert!(!text.contains("environment changed"), "{text}");
}

#[test]
fn a_budget_that_ends_says_how_well_the_mean_is_known() {
    let home = Home::new();
    let output = home.run(&["sys/getppid", "--until", "0.001%", "--budget", "50ms"]);
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("sys/getppid 1 task: the budget of 50ms ended after "), "{text}");
    let output = home.run(&["sys/getppid", "--until", "100%"]);
    ends(&output, 0);
    assert!(stdout(&output).contains("mean known to ±"), "{}", stdout(&output));
}

#[test]
fn a_ratio_is_measured_until_it_is_known_or_the_budget_ends() {
    let home = Home::new();
    let sides = ["file/open", "--base", "layout=own-dir", "--head", "layout=same-file"];
    let pairs = ["--pairs", "3", "--until", "0.001%", "--budget", "1ms"];
    let output = home.run(&[&sides[..], &pairs[..]].concat());
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("the budget of 1ms ended after 3 pairs: head ÷ base"), "{text}");
}

#[test]
fn a_report_says_whether_the_controls_moved() {
    let home = Home::new();
    let report = home.report(&["sys/getppid"]);
    let artefact = &report.artefacts[0];
    assert_eq!(
        (artefact.name.as_str(), artefact.media_type.as_str()),
        ("controls.txt", "text/plain")
    );
    assert!(artefact.content.contains("ctl/int-loop"), "{artefact:?}");
    assert!(home.report(&["sys/getppid", "--no-controls"]).artefacts.is_empty());
}

#[test]
fn a_noise_floor_is_measured_once_and_used_by_comparisons() {
    let home = Home::new();
    let output = Command::new(RUNNER)
        .args(["calibrate", "sys/getppid", "--pairs", "3", "--tasks", "1", "--placement", "none"])
        .args(["--windows", "5", "--window", "40ms", "--warmup", "1"])
        .current_dir(home.0.path())
        .env("SCALEWATCH_RUNNER_STATE", home.path("state"))
        .output()
        .unwrap();
    ends(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("sys/getppid  ops_per_cpu_s  ±"), "{text}");
    let kept = home.path("state").join("noise-floors.json");
    // Raised so far that nothing can exceed it.
    let mut floors: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&kept).unwrap()).unwrap();
    floors.as_array_mut().unwrap().iter_mut().for_each(|floor| floor["relative"] = 1e9.into());
    std::fs::write(&kept, floors.to_string()).unwrap();
    let (old, new) = (another_runner(&home, "old"), another_runner(&home, "new"));
    let sides = ["sys/getppid", "--base-exec", &old, "--head-exec", &new, "--pairs", "3"];
    let code = ["--json", "r.json", "--commit", "0a1b2c3d4e", "--position", "1"];
    let output = home.run(&[&sides[..], &code].concat());
    ends(&output, 0);
    let again = Command::new(RUNNER)
        .args(["compare", "r.json"])
        .current_dir(home.0.path())
        .env("SCALEWATCH_RUNNER_STATE", home.path("state"))
        .output()
        .unwrap();
    ends(&again, 0);
    for text in [stdout(&output), stdout(&again)] {
        // Our verdict is a line of its own; LKP's rule beside it knows no floor.
        // On a busy machine five short windows may be too few to say that nothing changed.
        let uncalled =
            |line: &&str| line.starts_with("no change") || line.starts_with("not enough data");
        let verdicts = text.lines().filter(uncalled).count();
        let floor = "  noise floor ±100000000000.00 %, of 3 pairs ";
        assert_eq!((verdicts, text.matches(floor).count()), (2, 2), "one a metric: {text}");
    }
}
