//! A bare loop's own process: laid out as a child of the harness is, its tasks placed as the
//! harness places them, its counters and CPU clocks read twice.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use anyhow::ensure;
use scalewatch_runner::harness::{Mode, Placement, cpus_of_tasks};
use scalewatch_runner::machine::Topology;

use super::{COMMON, Loop, Slot, files};

/// Longest wait for the loops to receive CPU time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Wait between looks at whether every loop has begun.
const LOOK: Duration = Duration::from_micros(100);

/// Starts the loop in this many tasks, waits until each has done its first operation and `warmup`
/// more, measures for `length`, prints operations per CPU-second, and ends.
///
/// # Errors
/// What could not be had, or that the loops received no CPU time.
pub fn measure(
    twin: &Loop,
    mode: Mode,
    tasks: usize,
    warmup: Duration,
    length: Duration,
) -> anyhow::Result<()> {
    let slots = slots(tasks)?;
    files::make_shared((twin.shared_bytes)(tasks));
    COMMON.threads.store(mode == Mode::Thread, Relaxed);
    let places = cpus_of_tasks(&Topology::of_this_machine(), &Placement::Core, tasks as u32)?;
    let processes = start(twin, mode, slots, places)?;
    let started = Instant::now();
    while slots.iter().any(|slot| slot.ops.load(Relaxed) == 0) && started.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
    }
    std::thread::sleep(warmup);
    let before = reading(slots, &processes);
    let (began, mut after) = (Instant::now(), before);
    // Again where the loops received no CPU time, as happens on a busy machine.
    while (after.0 == before.0 || after.1 == before.1) && began.elapsed() < PATIENCE {
        std::thread::sleep(length);
        after = reading(slots, &processes);
    }
    for &process in &processes {
        // SAFETY: a child of ours that was not reaped.
        unsafe {
            libc::kill(process, libc::SIGKILL);
            libc::waitpid(process, std::ptr::null_mut(), 0);
        }
    }
    ensure!(after.0 > before.0 && after.1 > before.1, "the loops received no CPU time");
    println!("{}", (after.0 - before.0) as f64 / ((after.1 - before.1) as f64 / 1e9));
    // SAFETY: loops in threads must not see the process unwind.
    unsafe { libc::_exit(0) }
}

/// The slots, in memory that all tasks share and that has a descriptor.
fn slots(tasks: usize) -> anyhow::Result<&'static [Slot]> {
    let bytes = tasks * size_of::<Slot>();
    // SAFETY: the name is NUL-terminated; the descriptor is checked, and owned here alone.
    let memory = unsafe {
        let memory = libc::memfd_create(c"slots".as_ptr(), libc::MFD_CLOEXEC);
        ensure!(memory >= 0, "memfd_create: {}", std::io::Error::last_os_error());
        std::fs::File::from(OwnedFd::from_raw_fd(memory))
    };
    memory.set_len(bytes as u64)?;
    let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, memory.as_raw_fd());
    // SAFETY: a fresh address range.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0) };
    ensure!(start != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
    COMMON.slots.store(fd, Relaxed);
    std::mem::forget(memory);
    // SAFETY: as long as that, zeroed, which is a valid slot, and never unmapped.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), tasks) })
}

/// Process ids of the tasks; none where they are threads.
fn start(
    twin: &Loop,
    mode: Mode,
    slots: &'static [Slot],
    places: Vec<Vec<u32>>,
) -> anyhow::Result<Vec<libc::pid_t>> {
    let mut processes = vec![];
    for (number, (slot, place)) in slots.iter().zip(places).enumerate() {
        let (bare, task) = (twin.bare, twin.task(number, slots.len()));
        if mode == Mode::Thread {
            std::thread::spawn(move || {
                pin(&place);
                bare(slot, &task)
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
            bare(slot, &task);
        }
        processes.push(pid);
    }
    Ok(processes)
}

fn pin(cpus: &[u32]) {
    // SAFETY: the set lives for the call; zero is an empty set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(*cpu as usize, &mut set));
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// Operations so far, and CPU time of the loops, their partners and their children, ns.
fn reading(slots: &[Slot], processes: &[libc::pid_t]) -> (u64, u64) {
    let sum = |part: fn(&Slot) -> u64| slots.iter().map(part).sum::<u64>();
    let partners = slots.iter().map(|slot| slot.partner.load(Relaxed) as libc::pid_t);
    let processes = processes.iter().copied().chain(partners.filter(|pid| *pid != 0));
    let clocks: Vec<libc::clockid_t> = match COMMON.threads.load(Relaxed) {
        true => vec![libc::CLOCK_PROCESS_CPUTIME_ID],
        false => processes.map(process_clock).collect(),
    };
    let ops = sum(|slot| slot.ops.load(Relaxed));
    let own: u64 = clocks.into_iter().map(cpu_ns).sum();
    let children = sum(|slot| slot.children_ns.load(Relaxed));
    (ops, (own + children).saturating_sub(sum(|slot| slot.ready_ns.load(Relaxed))))
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
