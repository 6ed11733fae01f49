//! One block group: a bitmap, its free buddies and the few fields a scan reads without the lock.
//!
//! Requests are pairs of blocks at even places, so everything free consists of such pairs. Whatever
//! changes a group holds its lock; all fields are atomics only because the memory is shared.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::harness::{Attempt, Fault, Shared, SpinLock};

/// Blocks of a group.
pub(super) const BLOCKS: u32 = 32_768;
/// Blocks of a request.
pub(super) const REQUEST: u32 = 2;
/// Order of a request, and of the largest buddy.
pub(super) const ORDER: usize = 1;
const LARGEST: usize = 13;

const BITMAP_WORDS: usize = BLOCKS as usize / 64;
/// First word of each order's part in `buddies`; the last entry is the number of words.
const LEVELS: [usize; LARGEST + 2] = levels();

const fn levels() -> [usize; LARGEST + 2] {
    let mut starts = [0; LARGEST + 2];
    let mut order = ORDER;
    while order <= LARGEST {
        let buddies = BLOCKS as usize >> order;
        starts[order + 1] = starts[order] + buddies.div_ceil(64);
        order += 1;
    }
    starts
}

/// A group in shared memory. All zero is a group whose blocks are all free but unknown: see
/// [`Group::make_free`].
#[repr(C, align(128))]
pub(super) struct Group {
    /// Held by whoever changes the group.
    pub lock: SpinLock,
    summary: Summary,
    /// A set bit is a block in use.
    bitmap: [AtomicU64; BITMAP_WORDS],
    /// A set bit is a free buddy of exactly that order.
    buddies: [AtomicU64; LEVELS[LARGEST + 1]],
}

/// What a scan reads without the lock.
#[repr(C, align(128))]
struct Summary {
    free: AtomicU32,
    fragments: AtomicU32,
    largest_order: AtomicU32,
    counts: [AtomicU32; LARGEST + 1],
}

// SAFETY: a lock and atomics; zero is valid.
unsafe impl Shared for Group {}

impl Group {
    /// Gives an all-zero group its free buddies.
    pub fn make_free(&self) {
        for index in 0..BLOCKS >> LARGEST {
            self.set_buddy(LARGEST, index);
        }
        self.summary.free.store(BLOCKS, Relaxed);
        self.summary.fragments.store(1, Relaxed);
        self.note_largest();
    }

    /// Free blocks.
    #[inline]
    pub fn free(&self) -> u32 {
        self.summary.free.load(Relaxed)
    }

    /// Runs of free blocks.
    #[inline]
    pub fn fragments(&self) -> u32 {
        self.summary.fragments.load(Relaxed)
    }

    /// Order of the largest free buddy; 0 where there is none.
    #[inline]
    pub fn largest_order(&self) -> usize {
        self.summary.largest_order.load(Relaxed) as usize
    }

    /// Takes a pair, under the lock: the one at `wish` if that is free, else the first of the
    /// smallest buddies. Answers its first block.
    #[inline]
    pub fn take(&self, wish: Option<u32>) -> Option<u32> {
        let wished = wish.and_then(|block| Some((self.buddy_over(block)?, block)));
        let (order, block) = wished.or_else(|| self.first_buddy())?;
        self.split(order, block);
        raise(&self.bitmap[block as usize / 64], 0b11 << (block % 64));
        let beside = self.is_free(block.wrapping_sub(1)) + self.is_free(block + REQUEST);
        self.change_summary(0u32.wrapping_sub(REQUEST), beside.wrapping_sub(1));
        Some(block)
    }

    /// Gives back `len` blocks from `start` on, under the lock.
    ///
    /// # Errors
    /// When one of them is free already.
    pub fn put(&self, start: u32, len: u32) -> Attempt<()> {
        if words_of(start, len).any(|(word, mask)| self.bitmap[word].load(Relaxed) & mask != mask) {
            return Err(Fault::wrong("verify", format!("blocks {start}+{len} were freed twice")));
        }
        let beside = self.is_free(start.wrapping_sub(1)) + self.is_free(start + len);
        for (word, mask) in words_of(start, len) {
            lower(&self.bitmap[word], mask);
        }
        let (mut at, end) = (start, start + len);
        while at < end {
            let order = at.trailing_zeros().min((end - at).ilog2()).min(LARGEST as u32);
            self.join(order as usize, at >> order);
            at += 1 << order;
        }
        self.change_summary(len, 1u32.wrapping_sub(beside));
        Ok(())
    }

    fn buddy_over(&self, block: u32) -> Option<usize> {
        if self.is_free(block) == 0 {
            return None;
        }
        (ORDER..=LARGEST).find(|&order| self.is_buddy(order, block >> order))
    }

    /// Order and first block of the first of the smallest buddies.
    #[inline]
    fn first_buddy(&self) -> Option<(usize, u32)> {
        let order =
            (ORDER..=LARGEST).find(|&order| self.summary.counts[order].load(Relaxed) > 0)?;
        let level = &self.buddies[LEVELS[order]..LEVELS[order + 1]];
        let word = level.iter().position(|word| word.load(Relaxed) != 0)?;
        let index = word as u32 * 64 + level[word].load(Relaxed).trailing_zeros();
        Some((order, index << order))
    }

    /// Takes the buddy of `order` over `block` apart until `block` begins a pair of its own.
    #[inline]
    fn split(&self, order: usize, block: u32) {
        self.clear_buddy(order, block >> order);
        for order in (ORDER..order).rev() {
            self.set_buddy(order, (block >> order) ^ 1);
        }
    }

    /// Makes a free buddy, joined with its neighbour for as long as that is free too.
    #[inline]
    fn join(&self, mut order: usize, mut index: u32) {
        while order < LARGEST && self.is_buddy(order, index ^ 1) {
            self.clear_buddy(order, index ^ 1);
            order += 1;
            index /= 2;
        }
        self.set_buddy(order, index);
    }

    #[inline]
    fn buddy_word(&self, order: usize, index: u32) -> (&AtomicU64, u64) {
        (&self.buddies[LEVELS[order] + index as usize / 64], 1 << (index % 64))
    }

    #[inline]
    fn is_buddy(&self, order: usize, index: u32) -> bool {
        let (word, mask) = self.buddy_word(order, index);
        word.load(Relaxed) & mask != 0
    }

    #[inline]
    fn set_buddy(&self, order: usize, index: u32) {
        let (word, mask) = self.buddy_word(order, index);
        raise(word, mask);
        let count = &self.summary.counts[order];
        count.store(count.load(Relaxed) + 1, Relaxed);
    }

    #[inline]
    fn clear_buddy(&self, order: usize, index: u32) {
        let (word, mask) = self.buddy_word(order, index);
        lower(word, mask);
        let count = &self.summary.counts[order];
        count.store(count.load(Relaxed) - 1, Relaxed);
    }

    /// 1 where the block is in the group and free, else 0.
    #[inline]
    fn is_free(&self, block: u32) -> u32 {
        let word = self.bitmap.get(block as usize / 64);
        word.map_or(0, |word| (!word.load(Relaxed) >> (block % 64)) as u32 & 1)
    }

    /// Adds to the free blocks and to the fragments, wrapping, and notes the largest order.
    #[inline]
    fn change_summary(&self, free: u32, fragments: u32) {
        let summary = &self.summary;
        summary.free.store(self.free().wrapping_add(free), Relaxed);
        summary.fragments.store(self.fragments().wrapping_add(fragments), Relaxed);
        self.note_largest();
    }

    #[inline]
    fn note_largest(&self) {
        let counts = &self.summary.counts;
        let largest = counts.iter().rposition(|count| count.load(Relaxed) > 0).unwrap_or(0);
        if largest != self.largest_order() {
            self.summary.largest_order.store(largest as u32, Relaxed);
        }
    }

    /// Whether both blocks of a pair are in use.
    pub fn is_used(&self, block: u32) -> bool {
        self.is_free(block) == 0 && self.is_free(block + 1) == 0
    }

    /// Checks that bitmap, buddies and summary say the same.
    ///
    /// # Errors
    /// What contradicts what.
    pub fn check(&self) -> Attempt<()> {
        let mut free = [0u64; BITMAP_WORDS];
        for order in ORDER..=LARGEST {
            let buddies = (0..BLOCKS >> order).filter(|&index| self.is_buddy(order, index));
            let mut count = 0;
            for index in buddies {
                count += 1;
                if order < LARGEST && self.is_buddy(order, index ^ 1) {
                    return Err(Fault::wrong("verify", "two free buddies are not joined"));
                }
                for (word, mask) in words_of(index << order, 1 << order) {
                    if free[word] & mask != 0 {
                        return Err(Fault::wrong("verify", "a block is free in two buddies"));
                    }
                    free[word] |= mask;
                }
            }
            if count != self.summary.counts[order].load(Relaxed) {
                return Err(Fault::wrong("verify", format!("buddies of order {order} miscounted")));
            }
        }
        let agrees = self.bitmap.iter().zip(&free).all(|(used, free)| !used.load(Relaxed) == *free);
        let blocks: u32 = free.iter().map(|word| word.count_ones()).sum();
        let run_begins = |block: u32| self.is_free(block) > self.is_free(block.wrapping_sub(1));
        let runs = (0..BLOCKS).filter(|&block| run_begins(block)).count() as u32;
        if !agrees || (blocks, runs) != (self.free(), self.fragments()) {
            let said = (self.free(), self.fragments());
            let detail = format!("{blocks} blocks free in {runs} runs, the summary says {said:?}");
            return Err(Fault::wrong("verify", detail));
        }
        Ok(())
    }
}

/// Sets bits without a locked instruction: the group's lock is held.
#[inline]
fn raise(word: &AtomicU64, bits: u64) {
    word.store(word.load(Relaxed) | bits, Relaxed);
}

/// Clears bits, likewise.
#[inline]
fn lower(word: &AtomicU64, bits: u64) {
    word.store(word.load(Relaxed) & !bits, Relaxed);
}

/// The words of a bitmap that hold `len` bits from `start` on, each with the mask of its bits.
fn words_of(start: u32, len: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = start + len;
    let mut at = start;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let bits = (64 - at % 64).min(end - at);
            let mask = (u64::MAX >> (64 - bits)) << (at % 64);
            let word = at as usize / 64;
            at += bits;
            (word, mask)
        })
    })
}
