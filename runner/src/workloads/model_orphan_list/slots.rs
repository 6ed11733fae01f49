//! The orphan file: blocks of slots, each holding one inode's number. The first form counts free
//! slots under one spin lock and begins at block 0; the final one counts by atomics and begins at a
//! block that depends on the CPU.

use super::Orphans;
use super::timing::Timing;
use crate::harness::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::harness::{Attempt, Fault, Shared, SpinLock, shared_slice};

/// Slots of a block of 4096 bytes: 4 bytes each, 8 bytes of tail. Loom tries all orders of two.
const PER_BLOCK: usize = if cfg!(loom) { 2 } else { (4096 - 8) / 4 };
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

// Loom's stacks are not much larger than a page.
#[cfg_attr(not(all(test, loom)), repr(C, align(4096)))]
struct Entries([AtomicU32; if cfg!(loom) { PER_BLOCK } else { 1024 }]);

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
            return reserve_from(self.blocks, cpu * 13 % self.blocks.len());
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

/// Lockless: the first block from `start` on whose count can be lowered.
fn reserve_from(blocks: &[Block], start: usize) -> Option<usize> {
    let lower = |count: u32| count.checked_sub(1);
    (start..blocks.len()).chain(0..start).find(|&block| {
        let free = &blocks[block].free;
        free.fetch_update(Ordering::AcqRel, Ordering::Relaxed, lower).is_ok()
    })
}

/// Puts the inode into a free slot of a block that has one reserved.
#[inline]
fn claim(entries: &Entries, inode: u32) -> Option<usize> {
    let claimed = |entry: &AtomicU32| {
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        entry.load(Ordering::Relaxed) == 0
            && entry.compare_exchange(0, inode, order.0, order.1).is_ok()
    };
    (0..=ROUNDS).find_map(|_| entries.0[..PER_BLOCK].iter().position(claimed))
}

impl Orphans for Slots {
    fn add(&self, task: u32, timing: &Timing<'_>) -> Attempt<usize> {
        let full = || Fault::wrong("orphan-file", "no free slot");
        let block = self.reserve(timing).ok_or_else(full)?;
        let slot = claim(&self.entries[block], task + FIRST_INODE).ok_or_else(full)?;
        Ok(block * PER_BLOCK + slot)
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
            let block = reserve_from(slots.blocks, 1).expect("a free slot");
            let slot = claim(&slots.entries[block], task + FIRST_INODE).expect("it is reserved");
            seen.insert((block, slot));
        }
        assert_eq!(seen.len(), 2 * PER_BLOCK);
        assert_eq!(reserve_from(slots.blocks, 0), None);
        assert!(slots.verify().is_err());
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;

    fn slots(blocks: usize) -> Arc<(Vec<Block>, Vec<Entries>)> {
        let block = |_| Block { free: AtomicU32::new(PER_BLOCK as u32), buffer: AtomicU64::new(0) };
        let entries = |_| Entries(std::array::from_fn(|_| AtomicU32::new(0)));
        Arc::new(((0..blocks).map(block).collect(), (0..blocks).map(entries).collect()))
    }

    /// Reserves and claims a slot, starting at `start`.
    fn add((blocks, entries): &(Vec<Block>, Vec<Entries>), start: usize, inode: u32) -> usize {
        let block = reserve_from(blocks, start).expect("there are slots for all");
        let slot = claim(&entries[block], inode).expect("one was reserved");
        block * PER_BLOCK + slot
    }

    fn del((blocks, entries): &(Vec<Block>, Vec<Entries>), place: usize) -> u32 {
        let (block, slot) = (place / PER_BLOCK, place % PER_BLOCK);
        let inode = entries[block].0[slot].load(Ordering::Relaxed);
        entries[block].0[slot].store(0, Ordering::Release);
        blocks[block].free.fetch_add(1, Ordering::AcqRel);
        inode
    }

    #[test]
    fn in_any_order_each_inode_gets_a_slot_of_its_own_and_leaves_it_free() {
        loom::model(|| {
            let slots = slots(1);
            let others = slots.clone();
            let other = loom::thread::spawn(move || {
                let place = add(&others, 0, 12);
                assert_eq!(del(&others, place), 12);
            });
            let place = add(&slots, 0, 13);
            assert_eq!(del(&slots, place), 13);
            other.join().expect("it does not panic");
            assert_eq!(slots.0[0].free.load(Ordering::Relaxed), PER_BLOCK as u32);
            assert!(slots.1[0].0[..PER_BLOCK].iter().all(|e| e.load(Ordering::Relaxed) == 0));
        });
    }

    #[test]
    fn in_any_order_the_last_slots_go_to_one_each() {
        loom::model(|| {
            let slots = slots(2);
            (0..2).for_each(|inode| {
                add(&slots, 0, 20 + inode);
            });
            add(&slots, 1, 30);
            let others = slots.clone();
            let other = loom::thread::spawn(move || reserve_from(&others.0, 0));
            let mine = reserve_from(&slots.0, 1);
            let other = other.join().expect("it does not panic");
            assert!(mine.is_some() != other.is_some(), "{mine:?} and {other:?}");
        });
    }
}
