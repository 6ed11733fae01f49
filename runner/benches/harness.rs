//! What the harness costs: operations per CPU-second of each loop inside it against the same loop
//! bare (one process, one counter store an operation), in interleaved pairs of one run. The goal is
//! a ratio of 0.99 or more.

mod bare;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use scalewatch_runner::harness::{self, Mode, Placement, PointPlan, cpus_of_tasks, shared_slice};
use scalewatch_runner::machine::Topology;
use wire::{Outcome, Source};

const PAIRS: usize = 10;
const WINDOW: Duration = Duration::from_millis(400);
const GOAL: f64 = 0.99;
const BARE_ARGUMENT: &str = "__bare";

type Bare = fn(&AtomicU64) -> !;

const LOOPS: [(&str, Bare); 14] = [
    ("ctl/int-loop", bare_int_loop),
    ("sys/getppid", bare_getppid),
    ("file/open", bare_open),
    ("file/dup", bare_dup),
    ("fallocate/append-truncate", bare_fallocate),
    ("aim/creat-close", bare_creat_close),
    ("mm/mmap", bare::mmap),
    ("mm/fault", bare::fault),
    ("mm/tlb-flush", bare::tlb_flush),
    ("mm/brk", bare::brk),
    ("mm/malloc", bare::malloc),
    ("sync/futex", bare::futex),
    ("sync/mutex", bare::mutex),
    ("sync/sem", bare::sem),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|a| a == BARE_ARGUMENT) {
        return measure_bare(&arguments[2]);
    }
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let dir = tempfile::tempdir_in(base)?;
    println!("ops per CPU-second, median of {PAIRS} interleaved pairs, files in {:?}", dir.path());
    println!("{:<28}{:>14}{:>14}{:>9}  goal {GOAL}", "loop", "bare", "in harness", "ratio");
    let wanted = arguments.iter().skip(1).find(|a| !a.starts_with('-'));
    for (id, _) in LOOPS.iter().filter(|(id, _)| wanted.is_none_or(|part| id.contains(&**part))) {
        let mut pairs = vec![];
        for pair in 0..PAIRS {
            // Which one goes first alternates, so that a drift favours neither.
            if pair % 2 == 0 {
                let bare = run_bare(id, dir.path())?;
                pairs.push((bare, run_inside(id, dir.path())?));
            } else {
                let inside = run_inside(id, dir.path())?;
                pairs.push((run_bare(id, dir.path())?, inside));
            }
        }
        let ratio = median(pairs.iter().map(|(bare, inside)| inside / bare));
        let (bare, inside) = (median(pairs.iter().map(|p| p.0)), median(pairs.iter().map(|p| p.1)));
        let word = if ratio >= GOAL { "met" } else { "missed" };
        println!("{id:<28}{bare:>14.0}{inside:>14.0}{ratio:>9.4}  {word}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

fn run_inside(id: &str, dir: &Path) -> anyhow::Result<f64> {
    let plan = PointPlan {
        workload: id.into(),
        parameters: BTreeMap::new(),
        mode: Mode::Process,
        tasks: 1,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: 1,
        window: WINDOW,
        dir: dir.into(),
    };
    let measured = match harness::measure(&plan, &mut |_, _| {})?.outcome {
        Outcome::Measured(measured) => measured,
        Outcome::Failed(failure) => anyhow::bail!("{id}: {}", failure.detail),
    };
    let metric = measured.metrics.iter().find(|m| m.source == Source::OpsPerCpuSecond);
    let values = measured.values(metric.expect("every point has ops per CPU-second"));
    values.first().copied().ok_or_else(|| anyhow::anyhow!("{id}: no CPU time received"))
}

/// Starts this program again for one bare loop, laid out as a child of the harness is.
fn run_bare(id: &str, dir: &Path) -> anyhow::Result<f64> {
    let dir = tempfile::tempdir_in(dir)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([BARE_ARGUMENT, id]).current_dir(dir.path()).stderr(Stdio::inherit());
    let fix_addresses = || {
        // SAFETY: a plain system call between fork and exec.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    let output = unsafe { command.pre_exec(fix_addresses) }.output()?;
    anyhow::ensure!(output.status.success(), "bare {id}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Forks the loop, pins it as the harness does, reads its counter and CPU clock twice.
fn measure_bare(id: &str) -> anyhow::Result<()> {
    let (_, bare) = LOOPS.iter().find(|(known, _)| *known == id).expect("one of the loops");
    let counter = &shared_slice::<AtomicU64>(32).expect("shared memory")[0];
    let places = cpus_of_tasks(&Topology::of_this_machine(), &Placement::Core, 1)?;
    // SAFETY: one thread; the copy pins itself and loops until it is killed.
    let task = unsafe { libc::fork() };
    anyhow::ensure!(task >= 0, "fork: {}", std::io::Error::last_os_error());
    if task == 0 {
        // SAFETY: the set lives for the call; zero is an empty set.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            places[0].iter().for_each(|cpu| libc::CPU_SET(*cpu as usize, &mut set));
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
        }
        bare(counter);
    }
    let mut clock = 0;
    // SAFETY: clock is valid for the call.
    unsafe { libc::clock_getcpuclockid(task, &raw mut clock) };
    std::thread::sleep(WINDOW);
    let before = (counter.load(Relaxed), cpu_ns(clock));
    std::thread::sleep(WINDOW);
    let after = (counter.load(Relaxed), cpu_ns(clock));
    // SAFETY: a child of ours that was not reaped.
    unsafe {
        libc::kill(task, libc::SIGKILL);
        libc::waitpid(task, std::ptr::null_mut(), 0);
    }
    anyhow::ensure!(after.1 > before.1, "the loop received no CPU time");
    println!("{}", (after.0 - before.0) as f64 / ((after.1 - before.1) as f64 / 1e9));
    Ok(())
}

fn cpu_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is valid for the call.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[inline(always)]
fn tick(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

/// Ends a bare loop whose call failed.
#[cold]
fn die() -> ! {
    // SAFETY: ends this process only.
    unsafe { libc::_exit(1) }
}

#[inline(never)]
fn bare_int_loop(counter: &AtomicU64) -> ! {
    loop {
        let mut x = std::hint::black_box(1u64);
        for _ in 0..256 {
            x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        }
        std::hint::black_box(x);
        tick(counter);
    }
}

#[inline(never)]
fn bare_getppid(counter: &AtomicU64) -> ! {
    loop {
        // SAFETY: getppid cannot fail.
        unsafe { libc::getppid() };
        tick(counter);
    }
}

fn own_file(path: &str) -> (CString, libc::c_int) {
    let path = CString::new(path).expect("no NUL byte");
    // SAFETY: path is a NUL-terminated string.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600) };
    if fd < 0 {
        die();
    }
    (path, fd)
}

#[inline(never)]
fn bare_open(counter: &AtomicU64) -> ! {
    if std::fs::create_dir("dir").is_err() {
        die();
    }
    let (path, _) = own_file("dir/file0");
    loop {
        // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
        unsafe {
            let fd = libc::open(path.as_ptr(), libc::O_RDWR);
            if fd < 0 {
                die();
            }
            libc::close(fd);
        }
        tick(counter);
    }
}

#[inline(never)]
fn bare_dup(counter: &AtomicU64) -> ! {
    let (path, fd) = own_file("file0");
    // SAFETY: path is a NUL-terminated string.
    unsafe { libc::unlink(path.as_ptr()) };
    loop {
        // SAFETY: fd stays open; the copy is this loop's own.
        unsafe {
            let copy = libc::dup(fd);
            if copy < 0 {
                die();
            }
            libc::close(copy);
        }
        tick(counter);
    }
}

#[inline(never)]
fn bare_fallocate(counter: &AtomicU64) -> ! {
    let (path, fd) = own_file("file0");
    // SAFETY: path is a NUL-terminated string.
    unsafe { libc::unlink(path.as_ptr()) };
    let mut place = 0;
    loop {
        // SAFETY: fd stays open.
        unsafe {
            if libc::fallocate(fd, 0, place, 8192) < 0 {
                die();
            }
            place += 8192;
            if place >= 1 << 20 {
                libc::ftruncate(fd, 0);
                place = 0;
            }
        }
        tick(counter);
    }
}

#[inline(never)]
fn bare_creat_close(counter: &AtomicU64) -> ! {
    let path = CString::new("tmpb.0").expect("no NUL byte");
    loop {
        for _ in 0..1000 {
            // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
            unsafe {
                let fd = libc::creat(path.as_ptr(), 0o777);
                if fd < 0 {
                    die();
                }
                libc::close(fd);
            }
            tick(counter);
        }
        // SAFETY: path is a NUL-terminated string.
        unsafe { libc::unlink(path.as_ptr()) };
    }
}
