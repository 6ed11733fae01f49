//! Memory allocators side by side in one program, each called by its own names: no one replaces
//! `malloc`. All are called the same way, through a pointer to the function, and what tasks note
//! down about their pieces lies in shared memory, so that it is no part of what they hold.

mod false_sharing;
mod larson;
mod malloc;
mod xmalloc;

pub(super) use false_sharing::{SCRATCH as CACHE_SCRATCH, THRASH as CACHE_THRASH};
pub(super) use larson::WORKLOAD as LARSON;
pub(super) use malloc::WORKLOAD as MALLOC;
pub(super) use xmalloc::WORKLOAD as XMALLOC;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use wire::{Direction, Unit};

use crate::harness::{
    Allowed, Attempt, Fault, Parameter, Shared, SideMetric, Tally, Ticks, Values,
};

const ALLOCATOR: Parameter = Parameter {
    name: "allocator",
    default: "glibc",
    allowed: Allowed::OneOf(&["glibc", "jemalloc", "mimalloc"]),
    about: "whose malloc and free are called",
};

const PEAK: SideMetric = SideMetric {
    name: "peak_rss",
    unit: Unit::Kibibytes,
    direction: Direction::Lower,
    value: |window| window.held.map(|held| held.peak_kib as f64),
};

const FRAGMENTATION: SideMetric = SideMetric {
    name: "fragmentation",
    unit: Unit::Ratio,
    direction: Direction::Lower,
    value: fragmentation,
};

/// Counter word: bytes asked for and not given back. A piece may be given back by another task, so
/// only the sum over all tasks means anything.
const LIVE: usize = 1;

/// Resident memory ÷ live bytes; not defined where so little is live that fixed costs decide.
fn fragmentation(window: &Tally) -> Option<f64> {
    let live = window.total(LIVE);
    let held = window.held.filter(|_| (1 << 20..1 << 60).contains(&live))?;
    Some(held.now_kib as f64 * 1024.0 / live as f64)
}

/// One allocator.
#[derive(Clone, Copy)]
struct Allocator {
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Allocator {
    fn of(values: &Values) -> Allocator {
        match values.word(ALLOCATOR.name) {
            "jemalloc" => {
                Allocator { malloc: tikv_jemalloc_sys::malloc, free: tikv_jemalloc_sys::free }
            }
            "mimalloc" => {
                Allocator { malloc: libmimalloc_sys::mi_malloc, free: libmimalloc_sys::mi_free }
            }
            _ => Allocator { malloc: libc::malloc, free: libc::free },
        }
    }

    /// A piece, its ends and each of its pages written to.
    #[inline(always)]
    fn take(self, bytes: usize) -> Attempt<*mut u8> {
        // SAFETY: any size may be asked for.
        let piece = unsafe { (self.malloc)(bytes) }.cast::<u8>();
        if piece.is_null() {
            return Err(Fault::errno("malloc"));
        }
        let mut offset = 0;
        while offset < bytes {
            // SAFETY: below bytes.
            unsafe { piece.add(offset).write_volatile(1) };
            offset += 4096;
        }
        // SAFETY: the last byte, or the only one.
        unsafe { piece.add(bytes.saturating_sub(1)).write_volatile(1) };
        Ok(piece)
    }

    /// # Safety
    /// What [`Allocator::take`] answered and nobody gave back, or null.
    #[inline(always)]
    unsafe fn give(self, piece: *mut u8) {
        // SAFETY: by contract; null is allowed.
        unsafe { (self.free)(piece.cast()) };
    }
}

/// Where a task notes down a piece; zero is none. Never used by two tasks at once.
struct Slot {
    piece: AtomicPtr<u8>,
    bytes: AtomicUsize,
}

// SAFETY: atomics only; zero is no piece.
unsafe impl Shared for Slot {}

impl Slot {
    /// Gives the slot's piece back and takes another.
    #[inline(always)]
    fn replace(&self, allocator: Allocator, bytes: usize, ticks: &Ticks) -> Attempt<()> {
        // SAFETY: the slot's piece, which is replaced before anyone can see it again.
        unsafe { allocator.give(self.piece.load(Relaxed)) };
        let gone = self.bytes.load(Relaxed);
        self.piece.store(allocator.take(bytes)?, Relaxed);
        self.bytes.store(bytes, Relaxed);
        ticks.add(LIVE, (bytes as u64).wrapping_sub(gone as u64));
        Ok(())
    }
}

/// Random numbers that are the same in each run: xorshift64*, by Vigna.
struct Random(u64);

impl Random {
    fn of_task(task: u32) -> Random {
        Random((u64::from(task) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A number below `end`, which is below 2^32.
    #[inline(always)]
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * end as u64) >> 32) as usize
    }
}

/// Name and version of each allocator built into this program.
pub fn versions() -> Vec<(&'static str, String)> {
    let found =
        [("allocator.jemalloc", jemalloc_version()), ("allocator.mimalloc", mimalloc_version())];
    found.into_iter().filter_map(|(name, version)| Some((name, version?))).collect()
}

fn jemalloc_version() -> Option<String> {
    let mut text: *const c_char = ptr::null();
    let mut bytes = size_of_val(&text);
    // SAFETY: "version" is a pointer to a static string, and text has room for one.
    let answer = unsafe {
        tikv_jemalloc_sys::mallctl(
            c"version".as_ptr(),
            (&raw mut text).cast(),
            &raw mut bytes,
            ptr::null_mut(),
            0,
        )
    };
    // SAFETY: a static NUL-terminated string, where the call succeeded.
    let text = (answer == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(text.to_string_lossy().into_owned())
}

fn mimalloc_version() -> Option<String> {
    unsafe extern "C" {
        safe fn mi_version() -> c_int;
    }
    let version = mi_version();
    Some(format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn three_allocators_are_three_and_each_takes_back_what_it_gave() {
        let mut addresses = std::collections::BTreeSet::new();
        for word in ["glibc", "jemalloc", "mimalloc"] {
            let values = Values(BTreeMap::from([("allocator".into(), word.into())]));
            let allocator = Allocator::of(&values);
            assert!(addresses.insert(allocator.malloc as usize), "{word} is another one's");
            for bytes in [1, 4096, 10_000, 1 << 20] {
                let piece = allocator.take(bytes).expect("memory");
                // SAFETY: taken just now.
                unsafe { allocator.give(piece) };
            }
        }
    }

    #[test]
    fn fragmentation_is_what_is_resident_over_what_is_live_and_needs_enough_of_it() {
        let window = |live: u64, now_kib| Tally {
            totals: vec![0, live],
            held: Some(crate::harness::Held { now_kib, peak_kib: 9 }),
            ..Tally::default()
        };
        assert_eq!(fragmentation(&window(2 << 20, 3072)), Some(1.5));
        assert_eq!(fragmentation(&window(1000, 3072)), None);
        assert_eq!(fragmentation(&window(0u64.wrapping_sub(8), 3072)), None);
        assert_eq!(fragmentation(&Tally { held: None, ..window(2 << 20, 1) }), None);
    }

    #[test]
    fn random_numbers_stay_below_their_end_and_differ_between_tasks() {
        let (mut a, mut b) = (Random::of_task(0), Random::of_task(1));
        let drawn: Vec<_> = (0..1000).map(|_| (a.below(10), b.below(10))).collect();
        assert!(drawn.iter().all(|&(x, y)| x < 10 && y < 10));
        assert!(drawn.iter().filter(|(x, y)| x != y).count() > 800);
        assert!((0..10).all(|n| drawn.iter().any(|&(x, _)| x == n)));
    }

    #[test]
    fn versions_are_numbers() {
        for (name, version) in versions() {
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{name}: {version}");
        }
        assert_eq!(versions().len(), 2);
    }
}
