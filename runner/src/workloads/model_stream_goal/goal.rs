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
