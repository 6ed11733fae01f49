//! Sleeping and waking on a word that threads or processes share, and a lock made of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::atomic::spin_loop;
use word::{Word, sleep_while, wake_one};

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

/// The word a lock is made of, with the two calls of a futex.
#[cfg(not(all(test, loom)))]
mod word {
    pub(super) use std::sync::atomic::AtomicU32 as Word;

    pub(super) fn sleep_while(word: &Word, expected: u32) {
        super::wait(word, expected, None);
    }

    pub(super) fn wake_one(word: &Word) {
        super::wake(word, 1);
    }
}

/// The same for loom's checker: a mutex and a condition do what the kernel's queue does.
#[cfg(all(test, loom))]
mod word {
    use loom::sync::{Condvar, Mutex};
    use std::sync::atomic::Ordering;

    #[derive(Debug, Default)]
    pub(super) struct Word {
        value: loom::sync::atomic::AtomicU32,
        queue: Mutex<()>,
        woken: Condvar,
    }

    impl std::ops::Deref for Word {
        type Target = loom::sync::atomic::AtomicU32;

        fn deref(&self) -> &Self::Target {
            &self.value
        }
    }

    pub(super) fn sleep_while(word: &Word, expected: u32) {
        let queue = word.queue.lock().expect("nothing panics while it holds the queue");
        if word.value.load(Ordering::Relaxed) == expected {
            drop(word.woken.wait(queue));
        }
    }

    pub(super) fn wake_one(word: &Word) {
        drop(word.queue.lock());
        word.woken.notify_one();
    }
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// A futex lock for shared memory; all zero is free. How long it spins before it sleeps is the
/// caller's: a kernel mutex spins optimistically, a bit lock parks at once.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lock {
    state: Word,
}

impl Lock {
    /// Takes the lock; `spins` tries before sleeping.
    #[inline]
    pub fn acquire(&self, spins: u32) {
        for _ in 0..spins {
            if self.state.load(Ordering::Relaxed) == FREE && self.try_acquire() {
                return;
            }
            spin_loop();
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
            sleep_while(&self.state, CONTENDED);
        }
    }

    /// Gives the lock back; only its holder may.
    #[inline]
    pub fn release(&self) {
        if self.state.swap(FREE, Ordering::Release) == CONTENDED {
            wake_one(&self.state);
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

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    /// Loom fails where two are in the cell at once, and where one sleeps for ever.
    #[test]
    fn in_any_order_one_holds_the_lock_and_no_sleeper_is_forgotten() {
        for spins in [0, 1] {
            loom::model(move || {
                let shared = Arc::new((Lock::default(), UnsafeCell::new(0)));
                let enter = move |shared: &(Lock, UnsafeCell<u32>)| {
                    shared.0.acquire(spins);
                    // SAFETY: the lock is held.
                    shared.1.with_mut(|count| unsafe { *count += 1 });
                    shared.0.release();
                };
                let others: Vec<_> = (0..2)
                    .map(|_| {
                        let shared = shared.clone();
                        loom::thread::spawn(move || enter(&shared))
                    })
                    .collect();
                enter(&shared);
                others.into_iter().for_each(|other| other.join().expect("it does not panic"));
                // SAFETY: the others have ended.
                assert_eq!(shared.1.with(|count| unsafe { *count }), 3);
            });
        }
    }
}
