//! Sleeping and waking on a word that threads or processes share, and a lock made of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Sleeps while `word` holds `expected`, at most `timeout`; may return early.
pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let limit = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs() as libc::time_t,
        tv_nsec: t.subsec_nanos() as libc::c_long,
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: word lives for the call and limit is null or points to a timespec that does.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, limit) };
}

/// Wakes at most `count` sleepers of `word`.
pub(crate) fn wake(word: &AtomicU32, count: i32) {
    // SAFETY: word lives for the call; FUTEX_WAKE only uses its address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// A futex lock for shared memory; all zero is free. How long it spins before it sleeps is the
/// caller's: a kernel mutex spins optimistically, a bit lock parks at once.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lock {
    state: AtomicU32,
}

impl Lock {
    /// Takes the lock; `spins` tries before sleeping.
    #[inline]
    pub fn acquire(&self, spins: u32) {
        for _ in 0..spins {
            if self.state.load(Ordering::Relaxed) == FREE && self.try_acquire() {
                return;
            }
            std::hint::spin_loop();
        }
        if !self.try_acquire() {
            self.park();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn park(&self) {
        while self.state.swap(CONTENDED, Ordering::Acquire) != FREE {
            wait(&self.state, CONTENDED, None);
        }
    }

    /// Gives the lock back; only its holder may.
    #[inline]
    pub fn release(&self) {
        if self.state.swap(FREE, Ordering::Release) == CONTENDED {
            wake(&self.state, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_lock_lets_one_in_at_a_time_however_it_waits() {
        for spins in [0, 200] {
            let (lock, count) = (Lock::default(), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..5_000 {
                            lock.acquire(spins);
                            // Not atomic as a whole: two holders at once would lose counts.
                            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                            lock.release();
                        }
                    });
                }
            });
            assert_eq!(count.into_inner(), 20_000);
        }
    }
}
