//! The list: doubly linked in memory, singly linked on disk from the superblock's last orphan.
//!
//! Every variant does the same to the lists under its lock; they differ in which locks there are
//! and whether the checksum of the superblock is made inside or after. Links are checked each time.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Orphans;
use super::checksum::{Block, Checksum};
use super::timing::Timing;
use crate::harness::{Attempt, Fault, Lock, Shared, shared_slice};

/// Tries of the mutex before it sleeps: about the length of a hold. The bit lock sleeps at once.
const MUTEX_SPINS: u32 = 200;
const BIT_LOCK_SPINS: u32 = 0;

/// Word of the superblock with the number of the last orphan, and the one with the checksum.
const LAST_ORPHAN: usize = 0xE8 / 8;
const CHECKSUM: usize = 127;

/// The first inode that is not reserved; task *i* has inode 12 + *i*.
const FIRST_INODE: u32 = 12;

/// Which locks a variant takes and where it makes the checksum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locking {
    /// The file system's orphan mutex, which spins before it sleeps.
    pub mutex: bool,
    /// The superblock buffer's bit lock, which sleeps at once.
    pub buffer: bool,
    /// Checksum made under the innermost lock, else after all are given back.
    pub checksum_inside: bool,
}

#[repr(C)]
struct Head {
    mutex: Lock,
    buffer: Lock,
    superblock: SuperBlock,
}

#[repr(C, align(64))]
struct SuperBlock(Block);

// SAFETY: locks and atomics only; zero is two free locks and an empty superblock.
unsafe impl Shared for Head {}

/// A link; number 0 is the list's head, task *i* has number *i* + 1.
#[repr(C, align(128))]
struct Node {
    next: AtomicU32,
    prev: AtomicU32,
    next_on_disk: AtomicU32,
}

// SAFETY: atomics only; zero links to the head.
unsafe impl Shared for Node {}

pub(super) struct List {
    head: &'static Head,
    nodes: &'static [Node],
    locking: Locking,
    checksum: Checksum,
}

impl List {
    pub fn new(tasks: u32, locking: Locking, checksum: Checksum) -> Attempt<List> {
        let head = &shared_slice::<Head>(1)?[0];
        let list = List { head, nodes: shared_slice(tasks as usize + 1)?, locking, checksum };
        list.seal();
        Ok(list)
    }

    fn superblock(&self) -> &'static Block {
        &self.head.superblock.0
    }

    fn node(&self, number: u32) -> &'static Node {
        &self.nodes[number as usize]
    }

    /// Puts the checksum into the superblock.
    #[inline]
    fn seal(&self) {
        if let Some(crc) = self.checksum.of(self.superblock()) {
            self.superblock()[CHECKSUM].store(u64::from(crc) << 32, Relaxed);
        }
    }

    /// Writes the last orphan, with the buffer locked and sealed where the variant says so.
    #[inline]
    fn write_superblock(&self, last_orphan: u32) {
        let nested = self.locking.mutex && self.locking.buffer;
        if nested {
            self.head.buffer.acquire(BIT_LOCK_SPINS);
        }
        self.superblock()[LAST_ORPHAN].store(u64::from(last_orphan), Relaxed);
        if self.locking.checksum_inside {
            self.seal();
        }
        if nested {
            self.head.buffer.release();
        }
    }

    /// Changes the list under the outer lock; `change` answers whether it wrote the superblock.
    #[inline]
    fn change(&self, timing: &Timing<'_>, change: impl FnOnce() -> Attempt<bool>) -> Attempt<()> {
        let (lock, spins) = match self.locking.mutex {
            true => (&self.head.mutex, MUTEX_SPINS),
            false => (&self.head.buffer, BIT_LOCK_SPINS),
        };
        let wrote = timing.locked(|| lock.acquire(spins), || lock.release(), change)?;
        if wrote && !self.locking.checksum_inside {
            self.seal();
        }
        Ok(())
    }

    fn link(&self, number: u32) -> bool {
        let (head, node) = (self.node(0), self.node(number));
        node.next_on_disk.store(self.last_orphan(), Relaxed);
        self.write_superblock(number - 1 + FIRST_INODE);
        let first = head.next.load(Relaxed);
        node.next.store(first, Relaxed);
        node.prev.store(0, Relaxed);
        self.node(first).prev.store(number, Relaxed);
        head.next.store(number, Relaxed);
        true
    }

    fn unlink(&self, number: u32) -> Attempt<bool> {
        let node = self.node(number);
        let (next, prev) = (node.next.load(Relaxed), node.prev.load(Relaxed));
        let linked = self.node(prev).next.load(Relaxed) == number
            && self.node(next).prev.load(Relaxed) == number;
        let first = prev == 0;
        let inode = number - 1 + FIRST_INODE;
        if !linked || first != (self.last_orphan() == inode) {
            return Err(broken(number));
        }
        self.node(prev).next.store(next, Relaxed);
        self.node(next).prev.store(prev, Relaxed);
        let next_on_disk = node.next_on_disk.load(Relaxed);
        if first {
            self.write_superblock(next_on_disk);
        } else {
            self.node(prev).next_on_disk.store(next_on_disk, Relaxed);
        }
        Ok(first)
    }

    fn last_orphan(&self) -> u32 {
        self.superblock()[LAST_ORPHAN].load(Relaxed) as u32
    }
}

#[cold]
fn broken(number: u32) -> Fault {
    Fault::wrong("verify", format!("the orphan list is broken at task {}", number - 1))
}

impl Orphans for List {
    fn add(&self, task: u32, timing: &Timing<'_>) -> Attempt<usize> {
        self.change(timing, || Ok(self.link(task + 1)))?;
        Ok(0)
    }

    fn del(&self, task: u32, _place: usize, timing: &Timing<'_>) -> Attempt<()> {
        self.change(timing, || self.unlink(task + 1))
    }

    fn verify(&self) -> Attempt<()> {
        let head = self.node(0);
        let empty = head.next.load(Relaxed) == 0 && head.prev.load(Relaxed) == 0;
        if !empty || self.last_orphan() != 0 {
            return Err(Fault::wrong("verify", "the orphan list is not empty at the end"));
        }
        let crc = self.checksum.of(self.superblock()).map(u64::from);
        let kept = self.superblock()[CHECKSUM].load(Relaxed) >> 32;
        if self.locking.checksum_inside && crc.is_some_and(|crc| crc != kept) {
            return Err(Fault::wrong("verify", "the superblock's checksum is wrong at the end"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let locking = Locking { mutex: true, buffer: true, checksum_inside: true };
        List::new(3, locking, Checksum::Table).expect("shared memory")
    }

    #[test]
    fn orphans_come_off_in_any_order_and_leave_an_empty_sealed_list() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] {
            let list = list();
            (1..=3).for_each(|number| assert!(list.link(number)));
            assert_eq!(list.last_orphan(), 14);
            assert!(list.verify().is_err());
            for number in order {
                list.unlink(number).expect("it is on the list");
            }
            assert_eq!(list.verify(), Ok(()));
        }
    }

    #[test]
    fn taking_off_what_is_not_on_is_seen() {
        let list = list();
        list.link(1);
        list.link(2);
        list.unlink(2).expect("it is on the list");
        assert_eq!(list.unlink(2).expect_err("it is off").call, "verify");
    }

    #[test]
    fn a_superblock_written_without_its_checksum_is_seen() {
        let list = list();
        list.superblock()[3].store(7, Relaxed);
        assert!(list.verify().is_err());
    }
}
