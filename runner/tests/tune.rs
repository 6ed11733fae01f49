//! Tuning a machine that is a folder of files: what is set is put back at every end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use scalewatch_runner::machine::tune::{Tuned, put_back_left_over};

const ASLR: &str = "proc/sys/kernel/randomize_va_space";
const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/// A machine with two settings that are not as they should be, and a state folder.
struct Fake(tempfile::TempDir);

impl Fake {
    fn new() -> Fake {
        let fake = Fake(tempfile::tempdir().expect("a temporary folder"));
        fake.write(ASLR, "2");
        fake.write(GOVERNOR, "powersave");
        let offered = "sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors";
        fake.write(offered, "performance powersave");
        fs::create_dir_all(fake.state()).expect("a folder");
        fake
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    fn is(&self, aslr: &str, governor: &str) -> bool {
        let read = |file| fs::read_to_string(self.root().join(file)).unwrap_or_default();
        read(ASLR) == aslr && read(GOVERNOR) == governor
    }

    fn is_untouched(&self) -> bool {
        self.is("2", "powersave") && !self.state().join("tuned.json").exists()
    }
}

fn tune(root: &Path, state: &Path) -> anyhow::Result<Tuned> {
    Tuned::set(root, state, None, Path::new(env!("CARGO_BIN_EXE_scalewatch-runner")))
}

/// Looks until `what` holds; the tests' only way to wait for another process.
fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be");
        std::thread::yield_now();
    }
}

#[test]
fn what_was_tuned_is_as_before_when_the_run_ends() {
    let fake = Fake::new();
    let tuned = tune(&fake.root(), &fake.state()).expect("files can be written");
    assert!(fake.is("0", "performance"));
    assert_eq!(tuned.remarks.len(), 2);
    assert!(tuned.remarks[0].ends_with("powersave → performance"), "{:?}", tuned.remarks);
    let second = tune(&fake.root(), &fake.state()).expect_err("one at a time");
    assert!(second.to_string().contains("another run"), "{second}");
    drop(tuned);
    assert!(fake.is_untouched());
    drop(tune(&fake.root(), &fake.state()).expect("it is free again"));
    assert!(fake.is_untouched());
}

#[test]
fn what_someone_else_changed_meanwhile_is_left_alone() {
    let fake = Fake::new();
    let tuned = tune(&fake.root(), &fake.state()).expect("files can be written");
    fake.write(GOVERNOR, "ondemand");
    drop(tuned);
    assert!(fake.is("2", "ondemand"));
}

/// A runner that has tuned the machine and hangs, and the process id of its guardian.
fn hanging(fake: &Fake) -> (std::process::Child, u32) {
    let runner = Command::new(std::env::current_exe().expect("this test's executable"))
        .args(["--exact", "tunes_and_hangs", "--ignored", "--nocapture"])
        .env("SCALEWATCH_TEST_DIR", fake.0.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test runs itself");
    until(|| fake.is("0", "performance"));
    let argument = fake.state().display().to_string();
    let is_guardian = |pid: &u32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("__put-back") && line.contains(&argument)
    };
    let guardian = || {
        let numbers = fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let mut pids = numbers.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
        pids.find(is_guardian)
    };
    until(|| guardian().is_some());
    let guardian = guardian().expect("it guards");
    (runner, guardian)
}

#[test]
#[ignore = "the runner that another test kills"]
fn tunes_and_hangs() {
    let Some(dir) = std::env::var_os("SCALEWATCH_TEST_DIR").map(PathBuf::from) else { return };
    let _tuned = tune(&dir.join("root"), &dir.join("state")).expect("files can be written");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_run_that_is_killed_has_its_machine_put_back() {
    let fake = Fake::new();
    let (mut runner, _) = hanging(&fake);
    runner.kill().expect("it runs");
    runner.wait().expect("it was started");
    until(|| fake.is_untouched());
}

#[test]
fn when_the_guardian_is_killed_too_the_next_start_puts_back() {
    let fake = Fake::new();
    let (mut runner, guardian) = hanging(&fake);
    // SAFETY: a process that this test's runner started.
    unsafe { libc::kill(guardian as libc::pid_t, libc::SIGKILL) };
    assert!(put_back_left_over(&fake.state()).is_ok());
    runner.kill().expect("it runs");
    runner.wait().expect("it was started");
    assert!(fake.is("0", "performance"), "nobody is left to put it back");
    until(|| {
        !put_back_left_over(&fake.state()).expect("a sound journal").is_empty()
            || fake.is_untouched()
    });
    assert!(fake.is_untouched());
    assert_eq!(put_back_left_over(&fake.state()).expect("no journal"), [] as [String; 0]);
}

#[test]
fn a_damaged_journal_is_said_and_kept() {
    let fake = Fake::new();
    fs::write(fake.state().join("tuned.json"), "{\"settings\":").expect("a file");
    let error = put_back_left_over(&fake.state()).expect_err("it is damaged");
    assert!(format!("{error:#}").contains("put the settings back by hand"), "{error:#}");
    assert!(fake.state().join("tuned.json").exists());
}
