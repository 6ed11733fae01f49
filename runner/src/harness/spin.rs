//! Busy parts of models: a spin lock, and work of a given length.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU32, Ordering};

use super::sys::monotonic_ns;

/// A test-and-test-and-set lock for shared memory; all zero is free. A kernel spin lock cannot be
/// preempted; this one can, so a long wait gives the CPU away.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct SpinLock {
    held: AtomicU32,
}

/// Tries before the CPU is given away: longer than any hold, shorter than a time slice.
const TRIES: u32 = 10_000;

impl SpinLock {
    /// Takes the lock.
    #[inline]
    pub fn acquire(&self) {
        while self.held.swap(1, Ordering::Acquire) != 0 {
            let mut tries = 0;
            while self.held.load(Ordering::Relaxed) != 0 {
                tries += 1;
                if tries % TRIES == 0 {
                    std::thread::yield_now();
                }
                spin_loop();
            }
        }
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
        let trial = |_| {
            let began = monotonic_ns();
            Work { steps: CALIBRATION_STEPS }.run();
            monotonic_ns() - began
        };
        let fastest = (0..CALIBRATIONS).map(trial).min().unwrap_or(1).max(1);
        Work { steps: ns * CALIBRATION_STEPS / fastest }
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
