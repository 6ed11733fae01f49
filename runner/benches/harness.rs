//! What the harness costs: operations per CPU-second of each loop inside it against the same loop
//! bare, in interleaved pairs, with one task and with two, as processes and as threads. The goal is
//! a ratio of 0.99 or more.
//!
//! A word on the command line chooses loops; `BENCH_PAIRS` and `BENCH_WINDOW_MS` set the effort.

mod bare;

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, ensure};
use bare::{Bare, LOOPS, Slot};
use scalewatch_runner::harness::{self, Mode, Placement, PointPlan, cpus_of_tasks, shared_slice};
use scalewatch_runner::machine::Topology;
use wire::{Outcome, Source};

const GOAL: f64 = 0.99;
const TRIES: u32 = 5;
const BARE_ARGUMENT: &str = "__bare";

const SHAPES: [Shape; 4] = [
    Shape { mode: Mode::Process, tasks: 1 },
    Shape { mode: Mode::Process, tasks: 2 },
    Shape { mode: Mode::Thread, tasks: 1 },
    Shape { mode: Mode::Thread, tasks: 2 },
];

#[derive(Clone, Copy)]
struct Shape {
    mode: Mode,
    tasks: u32,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, id, mode, tasks] = &arguments[..]
        && flag == BARE_ARGUMENT
    {
        let mode = if mode == Mode::Thread.word() { Mode::Thread } else { Mode::Process };
        return measure_bare(id, Shape { mode, tasks: tasks.parse()? });
    }
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let dir = tempfile::tempdir_in(base)?;
    let pairs = effort("BENCH_PAIRS", 6)?;
    println!("ops per CPU-second, median of {pairs} interleaved pairs, files in {:?}", dir.path());
    println!(
        "{:<26}{:>9}{:>6}{:>14}{:>14}{:>9}  goal {GOAL}",
        "loop", "mode", "tasks", "bare", "in harness", "ratio"
    );
    let wanted = arguments.iter().skip(1).find(|a| !a.starts_with('-'));
    for (id, _) in LOOPS.iter().filter(|(id, _)| wanted.is_none_or(|part| id.contains(&**part))) {
        for shape in SHAPES {
            compare(id, shape, pairs, dir.path())?;
        }
    }
    Ok(())
}

/// A number from the environment.
fn effort(name: &str, usual: u64) -> anyhow::Result<u64> {
    match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}: {text:?} is not a number")),
        Err(_) => Ok(usual),
    }
}

fn window() -> anyhow::Result<Duration> {
    Ok(Duration::from_millis(effort("BENCH_WINDOW_MS", 200)?))
}

fn compare(id: &str, shape: Shape, pairs: u64, dir: &Path) -> anyhow::Result<()> {
    let mut both = vec![];
    let bare = || patiently(|| run_bare(id, shape, dir));
    let inside = || patiently(|| run_inside(id, shape, dir));
    for pair in 0..pairs {
        // Which one goes first alternates, so that a drift favours neither.
        if pair % 2 == 0 {
            let bare = bare()?;
            both.push((bare, inside()?));
        } else {
            let inside = inside()?;
            both.push((bare()?, inside));
        }
    }
    let ratio = median(both.iter().map(|(bare, inside)| inside / bare));
    let (bare, inside) = (median(both.iter().map(|p| p.0)), median(both.iter().map(|p| p.1)));
    let word = if ratio >= GOAL { "met" } else { "missed" };
    let (mode, tasks) = (shape.mode.word(), shape.tasks);
    println!("{id:<26}{mode:>9}{tasks:>6}{bare:>14.0}{inside:>14.0}{ratio:>9.4}  {word}");
    std::io::stdout().flush()?;
    Ok(())
}

/// Again where a loop received no CPU time, as happens on a busy machine.
fn patiently(run: impl Fn() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    (0..TRIES).find_map(|_| run().ok()).map_or_else(run, Ok)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

fn run_inside(id: &str, shape: Shape, dir: &Path) -> anyhow::Result<f64> {
    let plan = PointPlan {
        workload: id.into(),
        parameters: BTreeMap::new(),
        mode: shape.mode,
        tasks: shape.tasks,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: 1,
        window: window()?,
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
fn run_bare(id: &str, shape: Shape, dir: &Path) -> anyhow::Result<f64> {
    let dir = tempfile::tempdir_in(dir)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([BARE_ARGUMENT, id, shape.mode.word(), &shape.tasks.to_string()]);
    command.current_dir(dir.path()).stderr(Stdio::inherit());
    let fix_addresses = || {
        // SAFETY: a plain system call between fork and exec.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    let output = unsafe { command.pre_exec(fix_addresses) }.output()?;
    ensure!(output.status.success(), "bare {id}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Starts the loops, places them as the harness does, reads counters and CPU clocks twice.
fn measure_bare(id: &str, shape: Shape) -> anyhow::Result<()> {
    let (_, bare) = LOOPS.iter().find(|(known, _)| *known == id).expect("one of the loops");
    let words = shared_slice::<AtomicU64>(32 * shape.tasks as usize).expect("shared memory");
    // SAFETY: a slot is 32 words long, and all-zero is a valid one.
    let slots: &'static [Slot] =
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), shape.tasks as usize) };
    let places = cpus_of_tasks(&Topology::of_this_machine(), &Placement::Core, shape.tasks)?;
    let tasks = start(*bare, shape, slots, places)?;
    std::thread::sleep(window()?);
    let before = reading(slots, &tasks);
    std::thread::sleep(window()?);
    let after = reading(slots, &tasks);
    for &task in &tasks {
        // SAFETY: a child of ours that was not reaped.
        unsafe {
            libc::kill(task, libc::SIGKILL);
            libc::waitpid(task, std::ptr::null_mut(), 0);
        }
    }
    ensure!(after.0 > before.0 && after.1 > before.1, "the loops received no CPU time");
    println!("{}", (after.0 - before.0) as f64 / ((after.1 - before.1) as f64 / 1e9));
    // SAFETY: loops in threads must not see the process unwind.
    unsafe { libc::_exit(0) }
}

/// Process ids of the loops; none where they are threads.
fn start(
    bare: Bare,
    shape: Shape,
    slots: &'static [Slot],
    places: Vec<Vec<u32>>,
) -> anyhow::Result<Vec<libc::pid_t>> {
    let mut tasks = vec![];
    for (task, (slot, place)) in slots.iter().zip(places).enumerate() {
        if shape.mode == Mode::Thread {
            bare::THREADS.store(true, Relaxed);
            std::thread::spawn(move || {
                pin(&place);
                bare(slot, task)
            });
            continue;
        }
        // SAFETY: one thread; the copy pins itself and loops until it is killed.
        let pid = unsafe { libc::fork() };
        ensure!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
        if pid == 0 {
            // SAFETY: prctl with constants.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            pin(&place);
            bare(slot, task);
        }
        tasks.push(pid);
    }
    Ok(tasks)
}

fn pin(cpus: &[u32]) {
    // SAFETY: the set lives for the call; zero is an empty set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(*cpu as usize, &mut set));
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// Operations so far, and CPU time of the loops and their partners, ns.
fn reading(slots: &[Slot], tasks: &[libc::pid_t]) -> (u64, u64) {
    let ops = slots.iter().map(|slot| slot.ops.load(Relaxed)).sum();
    let partners = slots.iter().map(|slot| slot.partner.load(Relaxed) as libc::pid_t);
    let processes = tasks.iter().copied().chain(partners.filter(|pid| *pid != 0));
    let clocks: Vec<libc::clockid_t> = match tasks.is_empty() {
        true => vec![libc::CLOCK_PROCESS_CPUTIME_ID],
        false => processes.map(process_clock).collect(),
    };
    (ops, clocks.into_iter().map(cpu_ns).sum())
}

fn process_clock(pid: libc::pid_t) -> libc::clockid_t {
    let mut clock = 0;
    // SAFETY: clock is valid for the call.
    unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    clock
}

fn cpu_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is valid for the call.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
