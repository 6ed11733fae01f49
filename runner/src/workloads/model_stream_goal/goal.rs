//! The stream goal: where the last allocation ended and the next search begins, in the forms it
//! had, was tried in, and has.

use std::hint::black_box;

use crate::harness::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::harness::{Shared, SpinLock};

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Goal {
    /// The group.
    pub group: u32,
    /// The block to try first, where the form keeps one.
    pub block: Option<u32>,
}

/// A form of the goal. `inode` is that of the file that allocates.
pub(super) trait Goals: Copy + Sync {
    /// Where the search for a block begins.
    fn load(&self, inode: u32) -> Goal;
    /// The allocation ended before `block` of `group`.
    fn store(&self, inode: u32, group: u32, block: u32);
}

/// Group and block of the last allocation under a lock that the freed list may share.
#[repr(C)]
pub(super) struct Pair {
    group: AtomicU32,
    block: AtomicU32,
}

// SAFETY: atomics only.
unsafe impl Shared for Pair {}

/// `lock`: both words under the lock, twice an allocation. The kernel copied the block too, and its
/// search for an aligned pair never looked at it.
#[derive(Clone, Copy)]
pub(super) struct Locked<'a> {
    pub lock: &'a SpinLock,
    pub pair: &'a Pair,
}

impl Goals for Locked<'_> {
    #[inline]
    fn load(&self, _inode: u32) -> Goal {
        self.lock.acquire();
        let group = self.pair.group.load(Ordering::Relaxed);
        black_box(self.pair.block.load(Ordering::Relaxed));
        self.lock.release();
        Goal { group, block: None }
    }

    #[inline]
    fn store(&self, _inode: u32, group: u32, block: u32) {
        self.lock.acquire();
        self.pair.group.store(group, Ordering::Relaxed);
        self.pair.block.store(block, Ordering::Relaxed);
        self.lock.release();
    }
}

/// One word alone on its lines.
#[repr(C, align(128))]
pub(super) struct Alone(AtomicU32);

// SAFETY: one atomic.
unsafe impl Shared for Alone {}

/// `relaxed` and `acqrel`: the group alone, in one word for all.
#[derive(Clone, Copy)]
pub(super) struct Single<'a, const ACQREL: bool>(pub &'a Alone);

impl<const ACQREL: bool> Goals for Single<'_, ACQREL> {
    #[inline]
    fn load(&self, _inode: u32) -> Goal {
        let order = if ACQREL { Ordering::Acquire } else { Ordering::Relaxed };
        Goal { group: self.0.0.load(order), block: None }
    }

    #[inline]
    fn store(&self, _inode: u32, group: u32, _block: u32) {
        let order = if ACQREL { Ordering::Release } else { Ordering::Relaxed };
        self.0.0.store(group, order);
    }
}

/// `striped`: one goal of several by the inode's number, 16 to a cache line.
#[derive(Clone, Copy)]
pub(super) struct Striped<'a>(pub &'a [AtomicU32]);

impl Goals for Striped<'_> {
    #[inline]
    fn load(&self, inode: u32) -> Goal {
        let goal = &self.0[inode as usize % self.0.len()];
        Goal { group: goal.load(Ordering::Relaxed), block: None }
    }

    #[inline]
    fn store(&self, inode: u32, group: u32, _block: u32) {
        self.0[inode as usize % self.0.len()].store(group, Ordering::Relaxed);
    }
}

/// `striped-padded`: the same, each goal alone on its lines.
#[derive(Clone, Copy)]
pub(super) struct Padded<'a>(pub &'a [Alone]);

impl Goals for Padded<'_> {
    #[inline]
    fn load(&self, inode: u32) -> Goal {
        let goal = &self.0[inode as usize % self.0.len()].0;
        Goal { group: goal.load(Ordering::Relaxed), block: None }
    }

    #[inline]
    fn store(&self, inode: u32, group: u32, _block: u32) {
        self.0[inode as usize % self.0.len()].0.store(group, Ordering::Relaxed);
    }
}

/// Group and block in one word.
#[repr(C, align(128))]
pub(super) struct Word(AtomicU64);

// SAFETY: one atomic.
unsafe impl Shared for Word {}

/// `packed`: group and block together without a lock, and the search tries that block first.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a>(pub &'a Word);

impl Goals for Packed<'_> {
    #[inline]
    fn load(&self, _inode: u32) -> Goal {
        let word = self.0.0.load(Ordering::Relaxed);
        Goal { group: (word >> 32) as u32, block: Some(word as u32) }
    }

    #[inline]
    fn store(&self, _inode: u32, group: u32, block: u32) {
        self.0.0.store(u64::from(group) << 32 | u64::from(block), Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;

    const STORED: [(u32, u32); 2] = [(3, 30), (4, 40)];

    #[test]
    fn in_any_order_a_packed_goal_is_one_that_was_stored() {
        loom::model(|| {
            let word = Arc::new(Word(AtomicU64::new(3 << 32 | 30)));
            let storing = word.clone();
            let other = loom::thread::spawn(move || Packed(&storing).store(0, 4, 40));
            let goal = Packed(&word).load(0);
            assert!(STORED.contains(&(goal.group, goal.block.unwrap_or(0))));
            other.join().expect("it does not panic");
            assert_eq!(Packed(&word).load(0), Goal { group: 4, block: Some(40) });
        });
    }

    #[test]
    fn in_any_order_the_locked_pair_stays_a_pair() {
        loom::model(|| {
            let shared = Arc::new((
                SpinLock::default(),
                Pair { group: AtomicU32::new(0), block: AtomicU32::new(0) },
            ));
            let store = |shared: &(SpinLock, Pair), (group, block)| {
                Locked { lock: &shared.0, pair: &shared.1 }.store(0, group, block);
            };
            let other = shared.clone();
            let storing = loom::thread::spawn(move || store(&other, STORED[0]));
            store(&shared, STORED[1]);
            storing.join().expect("it does not panic");
            let pair = &shared.1;
            let kept = (pair.group.load(Ordering::Relaxed), pair.block.load(Ordering::Relaxed));
            assert!(STORED.contains(&kept), "{kept:?}");
        });
    }
}
