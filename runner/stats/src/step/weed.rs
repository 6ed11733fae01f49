//! Takes the worst split out, judges its two neighbours anew, until none has a fault.

use std::collections::BinaryHeap;

/// A split in the heap: worst fault first, then the earliest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    fault: i64,
    earliest: std::cmp::Reverse<usize>,
    stamp: u32,
}

/// A number that orders as `f64::total_cmp` does.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ ((((bits >> 63) as u64) >> 1) as i64)
}

/// Leaves the splits of `0..n` that have no fault, and answers what `judge` said of each last.
/// `judge` sees the start of the segment before, the split and the end of the segment after.
/// O(splits · log splits) calls' bookkeeping, at most three calls a split.
pub(super) fn weed<T>(
    splits: &mut Vec<usize>,
    n: usize,
    mut judge: impl FnMut((usize, usize, usize)) -> (T, Option<f64>),
) -> Vec<T> {
    let count = splits.len();
    // Neighbours in 1..=count, with the ends of the series at 0 and count + 1.
    let mut place = Vec::with_capacity(count + 2);
    place.push(0);
    place.extend_from_slice(splits);
    place.push(n);
    let mut before: Vec<usize> = (0..count + 2).map(|i| i.saturating_sub(1)).collect();
    let mut after: Vec<usize> = (1..count + 3).collect();
    let mut stamps = vec![0u32; count + 2];
    let mut heap = BinaryHeap::new();
    let mut said: Vec<Option<T>> = Vec::with_capacity(count + 2);
    said.push(None);
    for i in 1..=count {
        let (what, fault) = judge((place[i - 1], place[i], place[i + 1]));
        said.push(Some(what));
        if let Some(fault) = fault {
            heap.push(Entry { fault: ordered(fault), earliest: std::cmp::Reverse(i), stamp: 0 });
        }
    }
    while let Some(Entry { earliest: std::cmp::Reverse(i), stamp, .. }) = heap.pop() {
        if stamp != stamps[i] || said[i].is_none() {
            continue;
        }
        said[i] = None;
        let (left, right) = (before[i], after[i]);
        (after[left], before[right]) = (right, left);
        for j in [left, right] {
            if j == 0 || j == count + 1 {
                continue;
            }
            let (what, fault) = judge((place[before[j]], place[j], place[after[j]]));
            said[j] = Some(what);
            stamps[j] += 1;
            if let Some(fault) = fault {
                let (fault, earliest) = (ordered(fault), std::cmp::Reverse(j));
                heap.push(Entry { fault, earliest, stamp: stamps[j] });
            }
        }
    }
    splits.clear();
    splits.extend((1..=count).filter(|&i| said[i].is_some()).map(|i| place[i]));
    said.into_iter().flatten().collect()
}
