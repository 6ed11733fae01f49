//! Two reference counts of an open file. Neither hands out a reference once the last is given back.

use crate::harness::atomic::{AtomicU64, Ordering};

/// A way to count references.
pub(super) trait Count: Copy + Sync {
    /// The word of a file with one reference.
    const ONE: u64;
    /// Takes a reference; false when the file is gone.
    fn get(count: &AtomicU64) -> bool;
    /// Gives one back; true for the last.
    fn put(count: &AtomicU64) -> bool;
}

/// The number of references, raised by compare and swap unless it is zero.
#[derive(Clone, Copy)]
pub(super) struct NotZero;

impl Count for NotZero {
    const ONE: u64 = 1;

    #[inline(always)]
    fn get(count: &AtomicU64) -> bool {
        let mut seen = count.load(Ordering::Relaxed);
        while seen != 0 {
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            match count.compare_exchange_weak(seen, seen + 1, success, failure) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline(always)]
    fn put(count: &AtomicU64) -> bool {
        count.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// References less one, raised by an unconditional add. Given back below zero the file is gone once
/// that is confirmed; from then on it counts far below zero, where no add brings it back.
#[derive(Clone, Copy)]
pub(super) struct Unconditional;

const NONE: u64 = u64::MAX;
const DEAD: u64 = 0b111 << 61;

impl Count for Unconditional {
    const ONE: u64 = 0;

    #[inline(always)]
    fn get(count: &AtomicU64) -> bool {
        let now = count.fetch_add(1, Ordering::Acquire).wrapping_add(1);
        if (now as i64) < 0 {
            count.store(DEAD, Ordering::Relaxed);
            return false;
        }
        true
    }

    #[inline(always)]
    fn put(count: &AtomicU64) -> bool {
        let now = count.fetch_sub(1, Ordering::Release).wrapping_sub(1);
        (now as i64) < 0 && is_last(count)
    }
}

/// Whether nobody took a reference in between.
#[cold]
fn is_last(count: &AtomicU64) -> bool {
    count.compare_exchange(NONE, DEAD, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn last_one_out<C: Count>() {
        let count = AtomicU64::new(C::ONE);
        assert!(C::get(&count));
        assert!(!C::put(&count));
        assert_eq!(count.load(Ordering::Relaxed), C::ONE);
        assert!(C::put(&count));
        assert!(!C::get(&count));
        assert!(!C::get(&count));
    }

    #[test]
    fn the_last_reference_is_known_and_none_comes_after_it() {
        last_one_out::<NotZero>();
        last_one_out::<Unconditional>();
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;

    /// Two holders give back what they have while one more asks: the file is given up once, after
    /// the last of those that got it.
    fn given_up_once<C: Count + 'static>() {
        loom::model(|| {
            let count = Arc::new(AtomicU64::new(C::ONE));
            assert!(C::get(&count));
            let asking = count.clone();
            let asker = loom::thread::spawn(move || C::get(&asking) && C::put(&asking));
            let giving = count.clone();
            let giver = loom::thread::spawn(move || C::put(&giving));
            let mut last = u32::from(C::put(&count));
            last += u32::from(asker.join().expect("it does not panic"));
            last += u32::from(giver.join().expect("it does not panic"));
            assert_eq!(last, 1);
            assert!(!C::get(&count));
        });
    }

    #[test]
    fn in_any_order_a_file_is_given_up_once_and_never_found_again() {
        given_up_once::<NotZero>();
        given_up_once::<Unconditional>();
    }
}
