//! Busy parts of models: a spin lock, and work of a given length.

use std::hint::black_box;

#[cfg(not(all(test, loom)))]
use super::atomic::spin_loop;
use super::atomic::{AtomicU32, Ordering, yield_now};
use super::sys::monotonic_ns;

/// A test-and-test-and-set lock for shared memory; all zero is free. A kernel spin lock cannot be
/// preempted; this one can, so a long wait gives the CPU away.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct SpinLock {
    held: AtomicU32,
}

/// Tries before the CPU is given away: longer than any hold, shorter than a time slice.
#[cfg(not(all(test, loom)))]
const TRIES: u32 = 10_000;

impl SpinLock {
    /// Takes the lock.
    #[inline]
    pub fn acquire(&self) {
        while !self.try_acquire() {
            self.await_release();
        }
    }

    /// Waits until the lock looks free.
    #[cfg(not(all(test, loom)))]
    #[inline]
    fn await_release(&self) {
        let mut tries = 0;
        while self.is_held() {
            tries += 1;
            if tries % TRIES == 0 {
                yield_now();
            }
            spin_loop();
        }
    }

    /// Loom would try every number of looks.
    #[cfg(all(test, loom))]
    fn await_release(&self) {
        yield_now();
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether someone holds it just now.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed) != 0
    }

    /// Gives the lock back; only its holder may.
    #[inline]
    pub fn release(&self) {
        self.held.store(0, Ordering::Release);
    }
}

/// Work in registers that takes about a given time on this CPU.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    steps: u64,
}

/// Steps of one calibration, and how many of them the fastest is taken of.
const CALIBRATION_STEPS: u64 = 20_000;
const CALIBRATIONS: u32 = 32;

impl Work {
    /// Work of `ns` nanoseconds, by the fastest of some trials: a disturbed one is never it.
    pub fn of(ns: u64) -> Work {
        Work { steps: ns * CALIBRATION_STEPS / fastest_calibration() }
    }

    /// Work of so many steps.
    #[cfg(feature = "inject")]
    pub(crate) fn of_steps(steps: u64) -> Work {
        Work { steps }
    }

    /// Does it.
    #[inline(never)]
    pub fn run(&self) {
        let mut x = black_box(1u64);
        for _ in 0..self.steps {
            x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        }
        black_box(x);
    }
}

/// Time of the fastest calibration, ns.
fn fastest_calibration() -> u64 {
    let trial = |_| {
        let began = monotonic_ns();
        Work { steps: CALIBRATION_STEPS }.run();
        monotonic_ns() - began
    };
    (0..CALIBRATIONS).map(trial).min().unwrap_or(1).max(1)
}

/// Work that adds to the time of many operations what may be less than a step for each: done in
/// pieces, each at the operation that is due, for work of a few steps runs beside an operation and
/// may cost nothing, or a mispredicted branch.
#[cfg(feature = "inject")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub steps_in_256: u64,
}

/// Steps of a piece, as a power of two.
#[cfg(feature = "inject")]
const PIECE_BITS: u32 = 8;

#[cfg(feature = "inject")]
impl Spread {
    /// Work of `ns` nanoseconds an operation.
    pub fn of(ns: f64) -> Spread {
        let steps = ns * CALIBRATION_STEPS as f64 / fastest_calibration() as f64;
        Spread { steps_in_256: (steps * 256.0).round() as u64 }
    }

    /// Does the pieces that are due at the `nth` operation.
    #[inline(always)]
    pub fn run(self, nth: u64) {
        let until = |n: u64| n.wrapping_mul(self.steps_in_256) >> (8 + PIECE_BITS);
        let due = until(nth + 1).wrapping_sub(until(nth));
        if due > 0 {
            Work::of_steps(due << PIECE_BITS).run();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_spin_lock_lets_one_in_at_a_time() {
        let (lock, count) = (SpinLock::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        lock.acquire();
                        // Not atomic as a whole: two holders at once would lose counts.
                        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        lock.release();
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 20_000);
    }

    #[test]
    fn no_work_is_no_step_and_more_work_more_steps() {
        assert_eq!(Work::of(0).steps, 0);
        assert!(Work::of(1_000_000).steps > Work::of(1_000).steps);
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    /// Loom itself fails where two threads are in the cell at once.
    fn enter(cell: &UnsafeCell<u32>) {
        // SAFETY: the lock is held.
        cell.with_mut(|count| unsafe { *count += 1 });
    }

    #[test]
    fn in_any_order_one_holds_a_spin_lock_and_a_try_fails_only_when_it_is_held() {
        loom::model(|| {
            let shared = Arc::new((SpinLock::default(), UnsafeCell::new(0)));
            let other = shared.clone();
            let waiting = loom::thread::spawn(move || {
                other.0.acquire();
                enter(&other.1);
                other.0.release();
            });
            let took = shared.0.try_acquire();
            if took {
                enter(&shared.1);
                shared.0.release();
            }
            waiting.join().expect("it does not panic");
            assert!(!shared.0.is_held());
            // SAFETY: the other thread has ended.
            let count = shared.1.with(|count| unsafe { *count });
            assert_eq!(count, 1 + u32::from(took));
        });
    }
}
