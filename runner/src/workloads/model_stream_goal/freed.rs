//! Freed extents, which only a commit gives back: without the delay a file's blocks would be used
//! again at once, as no file system with a journal does.
//!
//! How it works: extents are appended to one of two lists under a spin lock; a commit swaps the
//! lists under that lock and gives back what the other holds without it, one commit at a time.

use crate::harness::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::harness::{Lock, Shared, SpinLock};

/// Tries of a task that must wait for a commit before it sleeps.
const COMMIT_SPINS: u32 = 200;

/// Bits of an extent's length.
const LENGTH_BITS: u32 = 16;

/// One freed extent: its first block and its length in one word.
#[repr(C)]
pub(super) struct Cell(AtomicU64);

// SAFETY: one atomic.
unsafe impl Shared for Cell {}

/// Which list is appended to, and how long it is.
#[repr(C, align(64))]
pub(super) struct State {
    commit: Lock,
    active: AtomicU32,
    length: AtomicU32,
}

// SAFETY: a lock and atomics; zero is two empty lists.
unsafe impl Shared for State {}

/// The deferred list.
#[derive(Clone, Copy)]
pub(super) struct Freed<'a> {
    pub lock: &'a SpinLock,
    pub state: &'a State,
    /// Both lists, one after the other.
    pub cells: &'a [Cell],
}

impl Freed<'_> {
    /// Appends an extent; false when the list is full and a commit must come first.
    #[inline]
    pub fn push(&self, start: u64, len: u32) -> bool {
        let capacity = self.cells.len() / 2;
        self.lock.acquire();
        let length = self.state.length.load(Relaxed) as usize;
        if length < capacity {
            let list = self.state.active.load(Relaxed) as usize * capacity;
            self.cells[list + length].0.store(start << LENGTH_BITS | u64::from(len), Relaxed);
            self.state.length.store(length as u32 + 1, Relaxed);
        }
        self.lock.release();
        length < capacity
    }

    /// Gives everything appended so far to `put`.
    pub fn commit(&self, mut put: impl FnMut(u64, u32)) {
        let capacity = self.cells.len() / 2;
        self.state.commit.acquire(COMMIT_SPINS);
        self.lock.acquire();
        let (active, length) = (self.state.active.load(Relaxed), self.state.length.load(Relaxed));
        self.state.active.store(1 - active, Relaxed);
        self.state.length.store(0, Relaxed);
        self.lock.release();
        for cell in &self.cells[active as usize * capacity..][..length as usize] {
            let extent = cell.0.load(Relaxed);
            put(extent >> LENGTH_BITS, (extent & ((1 << LENGTH_BITS) - 1)) as u32);
        }
        self.state.commit.release();
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;
    use std::sync::Mutex;

    struct Parts {
        lock: SpinLock,
        state: State,
        cells: Vec<Cell>,
        /// What commits gave back; not part of the protocol, so invisible to loom.
        back: Mutex<Vec<(u64, u32)>>,
    }

    impl Parts {
        fn freed(&self) -> Freed<'_> {
            Freed { lock: &self.lock, state: &self.state, cells: &self.cells }
        }

        fn commit(&self) {
            self.freed().commit(|start, len| {
                self.back.lock().expect("nothing panics here").push((start, len));
            });
        }
    }

    #[test]
    fn in_any_order_each_freed_extent_comes_back_once() {
        loom::model(|| {
            let parts = Arc::new(Parts {
                lock: SpinLock::default(),
                state: State {
                    commit: Lock::default(),
                    active: AtomicU32::new(0),
                    length: AtomicU32::new(0),
                },
                cells: (0..4).map(|_| Cell(AtomicU64::new(0))).collect(),
                back: Mutex::default(),
            });
            let committing = parts.clone();
            let committer = loom::thread::spawn(move || committing.commit());
            for start in [1, 2, 3] {
                while !parts.freed().push(start, 2) {
                    parts.commit();
                }
            }
            committer.join().expect("it does not panic");
            parts.commit();
            let mut back = parts.back.lock().expect("nothing panics here").clone();
            back.sort_unstable();
            assert_eq!(back, [(1, 2), (2, 2), (3, 2)]);
        });
    }
}
