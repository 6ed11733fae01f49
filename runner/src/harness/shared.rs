//! Memory that all tasks of a point see, in either mode: `MAP_SHARED|MAP_ANONYMOUS`, zeroed, never
//! unmapped before the child exits. Each task has its own area of counters, 256 bytes or more.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::fault::{Attempt, Fault, check};

/// Words of the part of a task's area that is counted in: 256 bytes.
pub(crate) const HEAD: usize = 32;

/// Word of a task's area that holds the CPU time of children it waited for, ns.
pub(crate) const CHILDREN_CPU: usize = HEAD - 3;

/// Types that may live in shared zeroed memory.
///
/// # Safety
/// All-zero bytes must be a valid value, and every field must be safe to use from several
/// processes at once (atomics, locks of [`super::Lock`], padding).
pub unsafe trait Shared: Sync + 'static {}

// SAFETY: plain atomics; zero is valid.
unsafe impl Shared for AtomicU64 {}
// SAFETY: plain atomics; zero is valid.
unsafe impl Shared for AtomicU32 {}
// SAFETY: plain atomics; zero is valid.
unsafe impl Shared for AtomicI32 {}
// SAFETY: never in shared memory: loom's checker makes them one by one.
#[cfg(all(test, loom))]
unsafe impl Shared for loom::sync::atomic::AtomicU64 {}
// SAFETY: as above.
#[cfg(all(test, loom))]
unsafe impl Shared for loom::sync::atomic::AtomicU32 {}
// SAFETY: one atomic; zero is the free lock.
unsafe impl Shared for super::Lock {}
// SAFETY: one atomic; zero is the free lock.
unsafe impl Shared for super::SpinLock {}

/// A zeroed slice of `len` values in shared memory, there until the process exits.
///
/// # Errors
/// The errno of mmap.
pub fn shared_slice<T: Shared>(len: usize) -> Attempt<&'static [T]> {
    map(len, -1)
}

/// Maps `len` zeroed values of the file `memory`, or of nameless memory for −1.
fn map<T: Shared>(len: usize, memory: RawFd) -> Attempt<&'static [T]> {
    let bytes = len.checked_mul(size_of::<T>()).ok_or(Fault::wrong("mmap", "size overflows"))?;
    let nameless = if memory < 0 { libc::MAP_ANONYMOUS } else { 0 };
    // SAFETY: a mapping of a fresh address range touches nothing of ours.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes.max(1),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | nameless,
            memory,
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(Fault::errno("mmap"));
    }
    // SAFETY: the mapping is page-aligned, long enough, zeroed (valid by T: Shared), never unmapped.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<T>(), len) })
}

/// What tasks and sampler tell each other.
#[repr(C, align(4096))]
#[derive(Default)]
pub(crate) struct Control {
    /// Arrivals of tasks at the gate, all openings together.
    pub ready: AtomicU32,
    /// How often the gate has been opened.
    pub gate: AtomicU32,
    /// Raised when a task failed or the child was told to end.
    pub alarm: AtomicU32,
    /// 1 asks the tasks that can stop to do so.
    pub stop: AtomicU32,
    /// Tasks that stopped.
    pub stopped: AtomicU32,
    /// Work spun for every operation, in steps of 256 operations.
    #[cfg(feature = "inject")]
    pub injected: AtomicU64,
    /// The memory of all counters: its descriptor, and where it is mapped.
    counters: AtomicI32,
    counters_at: AtomicUsize,
    fault: FaultCell,
}

// SAFETY: atomics only; zero is valid.
unsafe impl Shared for Control {}

const CALL_BYTES: usize = 64;
const DETAIL_BYTES: usize = 512;
/// Longest wait for a fault to be written down; only a task killed at it takes so long.
const WRITING_LIMIT: Duration = Duration::from_secs(2);

#[repr(C)]
struct FaultCell {
    /// 0 none, 1 being written, 2 written.
    state: AtomicU32,
    task: AtomicU32,
    errno: AtomicI32,
    call: [AtomicU8; CALL_BYTES],
    detail: [AtomicU8; DETAIL_BYTES],
}

impl Default for FaultCell {
    fn default() -> FaultCell {
        FaultCell {
            state: AtomicU32::new(0),
            task: AtomicU32::new(0),
            errno: AtomicI32::new(0),
            call: [const { AtomicU8::new(0) }; CALL_BYTES],
            detail: [const { AtomicU8::new(0) }; DETAIL_BYTES],
        }
    }
}

impl Control {
    /// Tells the sampler that `task` failed; the first fault stays.
    pub fn report(&self, task: u32, fault: &Fault) {
        let cell = &self.fault;
        if cell.state.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            cell.task.store(task, Ordering::Relaxed);
            cell.errno.store(fault.errno.unwrap_or(0), Ordering::Relaxed);
            put(&cell.call, fault.call);
            put(&cell.detail, &fault.detail);
            cell.state.store(2, Ordering::Release);
        } else {
            // The alarm must not ring while another task is still writing down its fault.
            let began = Instant::now();
            while cell.state.load(Ordering::Acquire) != 2 && began.elapsed() < WRITING_LIMIT {
                std::thread::yield_now();
            }
        }
        self.raise_alarm();
    }

    /// Wakes the sampler out of its window.
    pub fn raise_alarm(&self) {
        self.alarm.store(1, Ordering::Release);
        super::futex::wake(&self.alarm, 1);
        super::futex::wake(&self.ready, 1);
    }

    /// The first fault reported, as it goes into the report.
    pub fn fault(&self) -> Option<wire::Failure> {
        let cell = &self.fault;
        if cell.state.load(Ordering::Acquire) != 2 {
            return None;
        }
        let errno = cell.errno.load(Ordering::Relaxed);
        Some(wire::Failure {
            call: taken(&cell.call),
            errno: (errno != 0).then_some(errno),
            task: Some(cell.task.load(Ordering::Relaxed)),
            detail: taken(&cell.detail),
        })
    }
}

fn put(bytes: &[AtomicU8], text: &str) {
    let end = text.floor_char_boundary(bytes.len());
    for (cell, byte) in bytes.iter().zip(text[..end].bytes()) {
        cell.store(byte, Ordering::Relaxed);
    }
}

fn taken(bytes: &[AtomicU8]) -> String {
    let text: Vec<u8> =
        bytes.iter().map(|b| b.load(Ordering::Relaxed)).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&text).into_owned()
}

/// Counters of all tasks, in memory that has a descriptor.
pub(crate) struct Areas {
    words: &'static [AtomicU64],
    stride: usize,
    memory: OwnedFd,
}

impl Areas {
    /// Areas of `tasks` tasks with `extra` words beyond the head each.
    pub fn new(tasks: u32, extra: usize) -> Attempt<Areas> {
        let stride = HEAD + extra.next_multiple_of(HEAD);
        let len = stride * tasks as usize;
        // SAFETY: the name is NUL-terminated.
        let memory = unsafe { libc::memfd_create(c"counters".as_ptr(), libc::MFD_CLOEXEC) };
        let memory = check("memfd_create", memory)?;
        // SAFETY: new and owned here.
        let memory = unsafe { OwnedFd::from_raw_fd(memory) };
        let bytes = (len * size_of::<AtomicU64>()) as libc::off_t;
        // SAFETY: the descriptor is open.
        check("ftruncate", unsafe { libc::ftruncate(memory.as_raw_fd(), bytes) })?;
        Ok(Areas { words: map(len, memory.as_raw_fd())?, stride, memory })
    }

    /// Lets the tasks know where their counters are.
    pub fn tell(&self, control: &Control) {
        control.counters.store(self.memory.as_raw_fd(), Ordering::Relaxed);
        control.counters_at.store(self.words.as_ptr().addr(), Ordering::Relaxed);
    }

    /// The area of one task.
    pub fn of(&self, task: u32) -> &'static [AtomicU64] {
        &self.words[task as usize * self.stride..][..self.stride]
    }
}

/// What a task counts with. Word 0 is the operations; the rest is the workload's own.
#[derive(Clone, Copy)]
pub struct Ticks {
    head: &'static [AtomicU64; HEAD],
    extra: &'static [AtomicU64],
    control: &'static Control,
    /// Spun at every operation.
    #[cfg(feature = "inject")]
    injected: super::spin::Spread,
}

impl Ticks {
    pub(crate) fn new(area: &'static [AtomicU64], control: &'static Control) -> Ticks {
        let (head, extra) = area.split_first_chunk().expect("an area is at least HEAD words long");
        #[cfg(feature = "inject")]
        let steps_in_256 = control.injected.load(Ordering::Relaxed);
        Ticks {
            head,
            extra,
            control,
            #[cfg(feature = "inject")]
            injected: super::spin::Spread { steps_in_256 },
        }
    }

    /// Counts one operation: a plain load and a plain store, never a locked add.
    #[inline(always)]
    pub fn tick(&self) {
        #[cfg(feature = "inject")]
        self.injected.run(self.head[0].load(Ordering::Relaxed));
        self.add(0, 1);
    }

    /// Counts `n` operations that make one turn of the loop.
    #[inline(always)]
    pub fn tick_by(&self, n: u64) {
        #[cfg(feature = "inject")]
        (0..n).for_each(|i| self.injected.run(self.head[0].load(Ordering::Relaxed) + i));
        self.add(0, n);
    }

    /// Notes the CPU time of a child that a task has waited for: the task received it.
    #[inline(always)]
    pub fn add_cpu_of_child(&self, usage: &libc::rusage) {
        let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        self.add(CHILDREN_CPU, (us(usage.ru_utime) + us(usage.ru_stime)) * 1000);
    }

    /// Where the operations are counted, for a task that replaces its program: a descriptor of the
    /// memory, and the place in it.
    pub(crate) fn in_memory(&self) -> (RawFd, u64) {
        let base = self.control.counters_at.load(Ordering::Relaxed);
        let place = self.head.as_ptr().addr() - base;
        (self.control.counters.load(Ordering::Relaxed), place as u64)
    }

    /// Adds to word `word` (1 to 28) of the task's own counters.
    #[inline(always)]
    pub fn add(&self, word: usize, n: u64) {
        let cell = &self.head[word];
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// The words beyond the head, for histograms.
    pub fn extra(&self) -> &'static [AtomicU64] {
        self.extra
    }

    /// Whether the task was asked to stop; only for workloads that say they can.
    #[inline(always)]
    pub fn stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_stays_and_long_details_are_cut_at_a_character() {
        let control = Control::default();
        assert!(control.fault().is_none());
        control.report(3, &Fault::wrong("list", "ä".repeat(400)));
        control.report(4, &Fault::wrong("other", "later"));
        let failure = control.fault().expect("one was reported");
        assert_eq!((failure.call.as_str(), failure.task), ("list", Some(3)));
        assert_eq!(failure.detail, "ä".repeat(256));
        assert_eq!(failure.errno, None);
    }

    #[test]
    fn areas_do_not_share_a_cache_line() {
        let areas = Areas::new(3, 5).expect("shared memory");
        let control = Box::leak(Box::default());
        for task in 0..3 {
            Ticks::new(areas.of(task), control).tick();
            assert_eq!(areas.of(task).as_ptr().addr() % 256, 0);
            assert_eq!(areas.of(task)[0].load(Ordering::Relaxed), 1);
        }
    }
}
