//! The orphan file: blocks of slots, each holding one inode's number. The first form counts free
//! slots under one spin lock and begins at block 0; the final one counts by atomics and begins at a
//! block that depends on the CPU.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Orphans;
use super::timing::Timing;
use crate::harness::{Attempt, Fault, Shared, SpinLock, shared_slice};

/// Slots of a block of 4096 bytes: 4 bytes each, 8 bytes of tail.
const PER_BLOCK: usize = (4096 - 8) / 4;
/// Rounds over a block's slots before giving up.
const ROUNDS: u32 = 3;
/// Task *i* has inode 12 + *i*; 0 is a free slot.
const FIRST_INODE: u32 = 12;

/// What the kernel keeps about a block in memory: 16 bytes, four to a cache line.
#[repr(C)]
struct Block {
    free: AtomicU32,
    buffer: AtomicU64,
}

#[repr(C, align(4096))]
struct Entries([AtomicU32; 1024]);

// SAFETY: atomics only; zero is a block without free slots.
unsafe impl Shared for Block {}
// SAFETY: atomics only; zero is a block of free slots.
unsafe impl Shared for Entries {}

pub(super) struct Slots {
    blocks: &'static [Block],
    entries: &'static [Entries],
    lock: &'static SpinLock,
    lockless: bool,
}

impl Slots {
    pub fn new(blocks: usize, lockless: bool) -> Attempt<Slots> {
        let slots = Slots {
            blocks: shared_slice(blocks)?,
            entries: shared_slice(blocks)?,
            lock: &shared_slice::<SpinLock>(1)?[0],
            lockless,
        };
        for block in slots.blocks {
            block.free.store(PER_BLOCK as u32, Ordering::Relaxed);
        }
        Ok(slots)
    }

    /// Reserves one free slot in some block.
    #[inline]
    fn reserve(&self, timing: &Timing<'_>) -> Option<usize> {
        if self.lockless {
            // SAFETY: sched_getcpu has no arguments; −1 (not supported) begins at block 0.
            let cpu = unsafe { libc::sched_getcpu() }.max(0) as usize;
            return self.reserve_from(cpu * 13 % self.blocks.len());
        }
        timing.locked(
            || self.lock.acquire(),
            || self.lock.release(),
            || {
                let free = |block: &Block| block.free.load(Ordering::Relaxed) > 0;
                let block = self.blocks.iter().position(free)?;
                let count = &self.blocks[block].free;
                count.store(count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
                Some(block)
            },
        )
    }

    /// Lockless: the first block from `start` on whose count can be lowered.
    fn reserve_from(&self, start: usize) -> Option<usize> {
        let lower = |count: u32| count.checked_sub(1);
        (start..self.blocks.len()).chain(0..start).find(|&block| {
            let free = &self.blocks[block].free;
            free.fetch_update(Ordering::AcqRel, Ordering::Relaxed, lower).is_ok()
        })
    }

    /// Puts the inode into a free slot of a block that has one reserved.
    #[inline]
    fn claim(&self, block: usize, inode: u32) -> Option<usize> {
        let entries = &self.entries[block].0[..PER_BLOCK];
        for _ in 0..=ROUNDS {
            for (slot, entry) in entries.iter().enumerate() {
                if entry.load(Ordering::Relaxed) == 0
                    && entry.compare_exchange(0, inode, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                {
                    return Some(block * PER_BLOCK + slot);
                }
            }
        }
        None
    }

    fn give_back(&self, block: usize, timing: &Timing<'_>) {
        let count = &self.blocks[block].free;
        if self.lockless {
            count.fetch_add(1, Ordering::AcqRel);
            return;
        }
        timing.locked(
            || self.lock.acquire(),
            || self.lock.release(),
            || count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
        );
    }
}

impl Orphans for Slots {
    fn add(&self, task: u32, timing: &Timing<'_>) -> Attempt<usize> {
        let full = || Fault::wrong("orphan-file", "no free slot");
        let block = self.reserve(timing).ok_or_else(full)?;
        self.claim(block, task + FIRST_INODE).ok_or_else(full)
    }

    fn del(&self, task: u32, place: usize, timing: &Timing<'_>) -> Attempt<()> {
        let (block, slot) = (place / PER_BLOCK, place % PER_BLOCK);
        let entry = &self.entries[block].0[slot];
        if entry.load(Ordering::Relaxed) != task + FIRST_INODE {
            return Err(Fault::wrong("verify", "a slot was handed out twice"));
        }
        entry.store(0, Ordering::Release);
        self.give_back(block, timing);
        Ok(())
    }

    fn verify(&self) -> Attempt<()> {
        for (block, entries) in self.blocks.iter().zip(self.entries) {
            let used = entries.0.iter().filter(|e| e.load(Ordering::Relaxed) != 0).count();
            let free = block.free.load(Ordering::Relaxed) as usize;
            if used != 0 || free != PER_BLOCK {
                let detail = format!("{used} slots used and {free} counted free at the end");
                return Err(Fault::wrong("verify", detail));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_slot_is_handed_out_once_and_then_there_is_none() {
        let slots = Slots::new(2, true).expect("shared memory");
        let mut seen = BTreeSet::new();
        for task in 0..2 * PER_BLOCK as u32 {
            let block = slots.reserve_from(1).expect("a free slot");
            seen.insert(slots.claim(block, task + FIRST_INODE).expect("a reserved slot"));
        }
        assert_eq!(seen.len(), 2 * PER_BLOCK);
        assert_eq!(slots.reserve_from(0), None);
        assert!(slots.verify().is_err());
    }
}
