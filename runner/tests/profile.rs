//! Profiles from `run --profile` to the flame graph, with a perf of the test's own on the path.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use wire::{Artefact, Outcome, Report};

/// Notes its arguments; records a word once the first task has run, and prints one sample of what it recorded.
const PERF: &str = r#"#!/bin/sh
echo "$@" >> "$CALLS"
case $1 in
record)
    while [ "$1" != -t ]; do shift; done
    task=${2%%,*}
    while [ "$1" != -o ]; do shift; done
    # Until the task has run on: nothing is recorded of one that waits.
    before=$(cat "/proc/$task/schedstat")
    while [ "$(cat "/proc/$task/schedstat")" = "$before" ]; do :; done
    printf recorded > "$2" ;;
script)
    while [ "$1" != -i ]; do shift; done
    [ "$(cat "$2")" = recorded ] || exit 1
    printf 'exe 7/7 1.0: cpu-clock: \n\tffffffff81000002 %s ([kernel.kallsyms])\n' "$LEAF"
    printf '\tffffffff81000001 do_syscall_64 ([kernel.kallsyms])\n\t 401000 getppid (libc)\n\n' ;;
esac
"#;

const REFUSES: &str = "#!/bin/sh\necho 'No permission to enable cycles event.' >&2\nexit 255\n";

struct Home(tempfile::TempDir);

impl Home {
    fn with_perf(script: Option<&str>) -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.path("bin")).unwrap();
        if let Some(script) = script {
            std::fs::write(home.path("bin/perf"), script).unwrap();
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(home.path("bin/perf"), executable).unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, leaf: &str, args: &[&str]) -> Output {
        let found = std::env::var("PATH").unwrap();
        let path = match self.path("bin/perf").exists() {
            true => format!("{}:{found}", self.path("bin").display()),
            false => self.path("bin").display().to_string(),
        };
        Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
            .args(args)
            .current_dir(self.0.path())
            .env("SCALEWATCH_RUNNER_STATE", self.path("state"))
            .env_remove("SCALEWATCH_RUNNER")
            .env("PATH", path)
            .env("CALLS", self.path("calls"))
            .env("LEAF", leaf)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Measures `sys/getppid` in two tasks; more arguments are added.
    fn measure(&self, leaf: &str, json: &str, more: &[&str]) -> Output {
        self.measure_a("sys/getppid", leaf, json, more)
    }

    fn measure_a(&self, workload: &str, leaf: &str, json: &str, more: &[&str]) -> Output {
        let args = [
            &["run", workload, "--tasks", "2", "--windows", "2", "--warmup", "1"][..],
            &[
                "--window",
                "5ms",
                "--no-controls",
                "--placement",
                "none",
                "--profile=20ms",
                "--json",
                json,
            ][..],
            &["--project", "p", "--subject", "program", "--commit", "abcdef1"][..],
            &["--position", "1"][..],
            more,
        ];
        self.run(leaf, &args.concat())
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn report(path: &Path) -> Report {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_tasks_alone_are_profiled_and_their_stacks_go_with_the_report() {
    let home = Home::with_perf(Some(PERF));
    let output = home.measure("slow_path", "a.json", &[]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    let report = report(&home.path("a.json"));
    assert!(matches!(report.points[0].outcome, Outcome::Measured(_)));
    let [artefact] = &report.artefacts[..] else { panic!("{:?}", report.artefacts) };
    assert_eq!(artefact.name, report.points[0].profile_name());
    assert_eq!(artefact.media_type, Artefact::PROFILE);
    let calls = std::fs::read_to_string(home.path("calls")).unwrap();
    let tasks = calls.split_whitespace().skip_while(|word| *word != "-t").nth(1).unwrap();
    assert_eq!(tasks.split(',').filter(|id| id.parse::<u32>().is_ok()).count(), 2, "{calls}");
    assert!(calls.lines().next().unwrap().ends_with("-- sleep 0.02"), "{calls}");
    let folded = home.run("", &["flame", "--folded", "a.json"]);
    assert_eq!(words(&folded.stdout), "exe;getppid;do_syscall_64;slow_path 1\n");
}

#[test]
fn tasks_of_fixed_work_go_on_with_their_rounds_while_they_are_profiled() {
    let home = Home::with_perf(Some(PERF));
    let output = home.measure_a("aim/creat-close-fixed", "slow_path", "a.json", &["-p", "jobs=2"]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    let report = report(&home.path("a.json"));
    let Outcome::Measured(measured) = &report.points[0].outcome else { panic!("it failed") };
    assert!(measured.windows.iter().all(|window| window.ops == [2000, 2000]));
    assert_eq!(report.artefacts.len(), 1, "{}", words(&output.stderr));
}

#[test]
fn two_runs_give_the_difference_of_their_profiles() {
    let home = Home::with_perf(Some(PERF));
    assert!(home.measure("old_path", "a.json", &[]).status.success());
    assert!(home.measure("new_path", "b.json", &[]).status.success());
    let output = home.run("", &["flame", "a.json", "b.json", "-o", "out.svg"]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    let svg = std::fs::read_to_string(home.path("out.svg")).unwrap();
    assert!(svg.contains("new_path (1 samples, 100.00%; +100.00%)"), "{svg}");
    let one = words(&home.run("", &["flame", "a.json"]).stdout);
    assert!(one.contains("old_path (1 samples, 100.00%)"), "{one}");
    let other = home.run("", &["flame", "a.json", "b.json", "--tasks", "7"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(words(&other.stderr).contains("no point has a profile on both sides"));
}

#[test]
fn without_a_perf_that_may_the_run_goes_on_and_says_so() {
    for (perf, reason) in [
        (None, "no profile: perf is not installed"),
        (Some(REFUSES), "no profile: perf record refused: No permission to enable cycles event."),
    ] {
        let home = Home::with_perf(perf);
        let output = home.measure("", "a.json", &["--mode", "both", "--quiet"]);
        assert!(output.status.success(), "{}", words(&output.stderr));
        let said = words(&output.stderr);
        assert_eq!(said.matches(reason).count(), 1, "{said}");
        let report = report(&home.path("a.json"));
        assert!(report.artefacts.is_empty());
        assert!(report.points.iter().all(|p| matches!(p.outcome, Outcome::Measured(_))));
        let output = home.run("", &["flame", "a.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output.stderr).contains("holds no profile"), "{}", words(&output.stderr));
    }
}
