//! The windows in which a long history is judged: a point more must cost the same after a hundred
//! runs and after a hundred thousand. Borders are revisions chosen by a hash of their rank, so they
//! depend on what is stored and never on its order of arrival; a window is judged among the runs
//! around it, and only the steps between its own borders count. A run that arrives, however late,
//! bears on the windows that it lies in or beside, and on no other. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use crate::model::step::HistoryRow;
use crate::model::{BranchId, SeriesId};

/// Most runs of a series on a branch that are judged whole.
pub const LONG: usize = 640;

/// Runs before a window that are judged with it, where there are as many: what a test looks back.
pub const BEFORE: usize = 256;

/// Runs behind a window that are judged with it: a step at its end must show what follows.
pub const AFTER: usize = 64;

/// One revision in so many is a border.
pub const EVERY: u64 = 64;

/// A piece of a long history, by ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Steps to these ranks are its own.
    pub own: Range<i64>,
    /// Runs at these ranks are judged.
    pub context: RangeInclusive<i64>,
}

/// The branches on which some series has more than [`LONG`] of these runs.
pub fn long_branches(rows: &[HistoryRow]) -> BTreeSet<BranchId> {
    let mut runs: BTreeMap<(BranchId, SeriesId), usize> = BTreeMap::new();
    for row in rows {
        *runs.entry((row.branch, row.series)).or_default() += 1;
    }
    runs.into_iter().filter(|(_, runs)| *runs > LONG).map(|((branch, _), _)| branch).collect()
}

/// First and last rank of each series that has at least `most` of these rows at the ranks that
/// `side` names: no more than `most` were read, so that more may lie beyond.
pub fn full(
    rows: &[HistoryRow],
    most: usize,
    side: impl Fn(i64) -> bool,
) -> Vec<RangeInclusive<i64>> {
    let mut series: BTreeMap<SeriesId, (usize, i64, i64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| side(row.rank)) {
        let one = series.entry(row.series).or_insert((0, row.rank, row.rank));
        *one = (one.0 + 1, one.1.min(row.rank), one.2.max(row.rank));
    }
    series.into_values().filter(|one| one.0 >= most).map(|one| one.1..=one.2).collect()
}

/// A stretch of a branch's history without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Ranks in order, and how many runs the series with most of them has there.
    pub ranks: Vec<(i64, usize)>,
    /// Whether it begins with the history.
    pub from_start: bool,
    /// Whether it ends with the history.
    pub to_end: bool,
}

impl Stretch {
    /// The ranks of these rows of one branch. Runs at `cut.0` and before, at `cut.1` and behind, may
    /// be missing; none where none is.
    pub fn of(rows: &[HistoryRow], cut: (Option<i64>, Option<i64>)) -> Stretch {
        let mut runs: BTreeMap<(i64, SeriesId), usize> = BTreeMap::new();
        let inside =
            |rank: i64| cut.0.is_none_or(|cut| rank > cut) && cut.1.is_none_or(|cut| rank < cut);
        for row in rows.iter().filter(|row| inside(row.rank)) {
            *runs.entry((row.rank, row.series)).or_default() += 1;
        }
        let mut ranks: BTreeMap<i64, usize> = BTreeMap::new();
        for ((rank, _), runs) in runs {
            let most = ranks.entry(rank).or_default();
            *most = runs.max(*most);
        }
        let ranks = ranks.into_iter().collect();
        Stretch { ranks, from_start: cut.0.is_none(), to_end: cut.1.is_none() }
    }

    /// The windows on which runs at the changed ranks bear; none where the stretch is too short to
    /// tell. O(ranks + windows · context).
    pub fn touched(&self, changed: &RangeInclusive<i64>) -> Option<Vec<Window>> {
        let ranks = &self.ranks;
        let starts: Vec<usize> =
            (0..ranks.len()).filter(|&i| i == 0 || is_border(ranks[i].0)).collect();
        let mut found = Vec::new();
        for (n, &start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).copied();
            let (before, after) = (self.before(start), self.after(end.unwrap_or(ranks.len())));
            let begins = start > 0 || self.from_start || is_border(ranks[0].0);
            let ends = end.is_some() || self.to_end;
            let context = before.unwrap_or(i64::MIN)..=after.unwrap_or(i64::MAX);
            if context.end() < changed.start() || changed.end() < context.start() {
                continue;
            }
            let whole = (before.is_some() || self.from_start) && (after.is_some() || self.to_end);
            if !(begins && ends && whole) {
                return None;
            }
            let from = if start == 0 && self.from_start { i64::MIN } else { ranks[start].0 };
            let to = end.map_or(i64::MAX, |end| ranks[end].0);
            found.push(Window { own: from..to, context });
        }
        (!found.is_empty()).then_some(found)
    }

    /// First rank of the context of a window that starts at this index; none where it has less.
    fn before(&self, start: usize) -> Option<i64> {
        enough(self.ranks[..start].iter().rev(), BEFORE)
    }

    /// Last rank of the context of a window that ends before this index; none where it has less.
    fn after(&self, end: usize) -> Option<i64> {
        enough(self.ranks[end..].iter(), AFTER)
    }
}

/// The rank at which so many runs are reached.
fn enough<'a>(ranks: impl Iterator<Item = &'a (i64, usize)>, least: usize) -> Option<i64> {
    let mut runs = 0;
    for (rank, more) in ranks {
        runs += more;
        if runs >= least {
            return Some(*rank);
        }
    }
    None
}

/// Whether a window begins at this rank: by `SplitMix64`'s mixer, so that ranks in steps of any
/// size are borders as often as any others.
fn is_border(rank: i64) -> bool {
    let mut bits = rank.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)).is_multiple_of(EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: RangeInclusive<i64> = i64::MIN..=i64::MAX;

    fn stretch(ranks: impl Iterator<Item = i64>, from_start: bool, to_end: bool) -> Stretch {
        Stretch { ranks: ranks.map(|rank| (rank, 1)).collect(), from_start, to_end }
    }

    #[test]
    fn the_windows_of_a_history_hold_every_rank_once() {
        let windows = stretch((1..=5000).map(|i| i * 10), true, true).touched(&EVERYTHING).unwrap();
        assert!((40..=120).contains(&windows.len()), "{}", windows.len());
        assert_eq!(windows[0].own.start, i64::MIN);
        assert_eq!(windows.last().unwrap().own.end, i64::MAX);
        assert!(windows.windows(2).all(|pair| pair[0].own.end == pair[1].own.start));
        for window in &windows[6..windows.len() - 6] {
            assert_eq!((window.own.start - window.context.start()) / 10, BEFORE as i64);
            assert_eq!((window.context.end() - window.own.end) / 10, AFTER as i64 - 1);
        }
    }

    #[test]
    fn a_run_changes_the_windows_it_touches_and_no_other() {
        let whole = |ranks: &mut dyn Iterator<Item = i64>| {
            stretch(ranks, true, true).touched(&EVERYTHING).unwrap()
        };
        let before = whole(&mut (1..=3000).filter(|rank| *rank != 1500));
        let (all, after) = (stretch(1..=3000, true, true), whole(&mut (1..=3000)));
        let touched = all.touched(&(1500..=1500)).unwrap();
        assert!((3..=20).contains(&touched.len()), "{}", touched.len());
        let other = |windows: &[Window]| -> Vec<Window> {
            let is_touched = |one: &Window| one.context.contains(&1500);
            windows.iter().filter(|one| !is_touched(one)).cloned().collect()
        };
        assert_eq!(other(&before), other(&after));
        assert_eq!(after.len() - other(&after).len(), touched.len());
    }

    #[test]
    fn a_stretch_tells_the_same_windows_as_the_whole_or_that_it_is_too_short() {
        let whole = stretch(1..=5000, true, true);
        let mut told = 0;
        for late in (1000..=4990).step_by(30) {
            let end = (late + 1280).min(5000);
            let near = stretch(late - 640..=end, false, end == 5000);
            if let Some(windows) = near.touched(&(late..=late)) {
                told += 1;
                assert_eq!(Some(windows), whole.touched(&(late..=late)), "{late}");
            }
        }
        assert!(told > 100, "{told}");
        assert_eq!(stretch(4000..=5000, false, true).touched(&(3990..=5000)), None);
        assert_eq!(stretch(1..=300, true, false).touched(&(200..=200)), None);
    }
}
