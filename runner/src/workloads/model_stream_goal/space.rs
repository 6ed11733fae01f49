//! All groups, and the search for one that has room: criteria from strict to lax, groups from the
//! goal on, each looked at without its lock first.

use super::goal::Goal;
use super::group::{BLOCKS, Group, ORDER, REQUEST};
use crate::harness::{Attempt, Fault, need_memory, shared_slice};

/// How a locked group is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockPolicy {
    /// Waited for.
    Spin,
    /// Passed over, except at the last criterion.
    TrySkip,
}

/// What a group must promise to be tried. Requests are aligned pairs and so is everything free:
/// what a lax criterion finds is a pair too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Criterion {
    /// A free buddy of the request's order.
    Power2Aligned,
    /// Runs as long as the request on average.
    GoalLenFast,
    /// As many free blocks as the request.
    GoalLenSlow,
    /// Anything; locked groups are waited for.
    AnyFree,
}

const CRITERIA: [Criterion; 4] =
    [Criterion::Power2Aligned, Criterion::GoalLenFast, Criterion::GoalLenSlow, Criterion::AnyFree];

/// What a search cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effort {
    /// Groups looked at.
    pub considered: u64,
    /// Groups passed over because they were locked.
    pub skipped: u64,
}

/// The file system's blocks.
#[derive(Clone, Copy)]
pub(super) struct Space {
    groups: &'static [Group],
    policy: LockPolicy,
}

impl Space {
    /// `groups` groups, all free.
    pub fn new(groups: usize, policy: LockPolicy) -> Attempt<Space> {
        need_memory(1, (groups * size_of::<Group>()) as u64)?;
        let space = Space { groups: shared_slice(groups)?, policy };
        space.groups.iter().for_each(Group::make_free);
        Ok(space)
    }

    /// Takes a pair of blocks near `goal`; none when every group is full.
    #[inline]
    pub fn take(&self, goal: Goal, effort: &mut Effort) -> Option<u64> {
        for criterion in CRITERIA {
            let mut number = goal.group as usize;
            for _ in 0..self.groups.len() {
                let wish = goal.block.filter(|_| number == goal.group as usize);
                if let Some(block) = self.take_from(&self.groups[number], criterion, wish, effort) {
                    return Some(number as u64 * u64::from(BLOCKS) + u64::from(block));
                }
                number = if number + 1 == self.groups.len() { 0 } else { number + 1 };
            }
        }
        None
    }

    #[inline]
    fn take_from(
        &self,
        group: &Group,
        criterion: Criterion,
        wish: Option<u32>,
        effort: &mut Effort,
    ) -> Option<u32> {
        let skips = self.policy == LockPolicy::TrySkip && criterion != Criterion::AnyFree;
        effort.considered += 1;
        if skips && group.lock.is_held() {
            effort.skipped += 1;
            return None;
        }
        if !criterion.suits(group) {
            return None;
        }
        if !skips {
            group.lock.acquire();
        } else if !group.lock.try_acquire() {
            effort.skipped += 1;
            return None;
        }
        let block = if criterion.suits(group) { group.take(wish) } else { None };
        group.lock.release();
        block
    }

    /// Gives back a run of blocks, which may reach into the next group.
    pub fn put(&self, start: u64, len: u32) -> Attempt<()> {
        let (mut at, end) = (start, start + u64::from(len));
        while at < end {
            let (number, block) = place(at);
            let here = u64::from(BLOCKS - block).min(end - at);
            let group = self
                .groups
                .get(number)
                .ok_or_else(|| Fault::wrong("verify", format!("there is no block {at}")))?;
            group.lock.acquire();
            let put = group.put(block, here as u32);
            group.lock.release();
            put?;
            at += here;
        }
        Ok(())
    }

    /// Checks the groups, and that the blocks in use are those of `owned`, each owned once.
    /// Answers the runs of free blocks.
    pub fn verify(&self, mut owned: Vec<u64>) -> Attempt<u64> {
        owned.sort_unstable();
        if let Some(twice) = owned.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Fault::wrong("verify", format!("block {} has two owners", twice[0])));
        }
        for &start in &owned {
            let (number, block) = place(start);
            if !self.groups[number].is_used(block) {
                return Err(Fault::wrong("verify", format!("block {start} is owned and free")));
            }
        }
        let (mut used, mut fragments) = (0, 0);
        for group in self.groups {
            group.check()?;
            used += u64::from(BLOCKS - group.free());
            fragments += u64::from(group.fragments());
        }
        let expected = owned.len() as u64 * u64::from(REQUEST);
        if used != expected {
            let detail = format!("{used} blocks are in use, {expected} are owned");
            return Err(Fault::wrong("verify", detail));
        }
        Ok(fragments)
    }
}

impl Criterion {
    #[inline]
    fn suits(self, group: &Group) -> bool {
        match self {
            Criterion::Power2Aligned => group.largest_order() >= ORDER,
            Criterion::GoalLenFast => {
                let (free, runs) = (group.free(), group.fragments());
                runs > 0 && free / runs >= REQUEST
            }
            Criterion::GoalLenSlow => group.free() >= REQUEST,
            Criterion::AnyFree => group.free() > 0,
        }
    }
}

/// Group and block within it.
pub(super) fn place(block: u64) -> (usize, u32) {
    ((block / u64::from(BLOCKS)) as usize, (block % u64::from(BLOCKS)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TOP: Goal = Goal { group: 0, block: None };

    fn space(groups: usize, policy: LockPolicy) -> Space {
        Space::new(groups, policy).expect("shared memory")
    }

    #[test]
    fn every_pair_is_handed_out_once_and_then_there_is_none_until_some_come_back() {
        let (space, mut effort) = (space(2, LockPolicy::TrySkip), Effort::default());
        let pairs = 2 * u64::from(BLOCKS / REQUEST);
        let mut owned: BTreeSet<u64> =
            (0..pairs).filter_map(|_| space.take(TOP, &mut effort)).collect();
        assert_eq!(owned.len() as u64, pairs);
        assert_eq!(space.take(TOP, &mut effort), None);
        let middle = u64::from(BLOCKS) - 4;
        space.put(middle, 8).expect("they are in use");
        (middle..middle + 8).for_each(|block| {
            owned.remove(&block);
        });
        assert_eq!(space.verify(owned.iter().copied().collect()), Ok(2));
        assert_eq!(space.put(middle, 2).expect_err("they are free").call, "verify");
        let again: Vec<_> = (0..5).map(|_| space.take(TOP, &mut effort)).collect();
        assert_eq!(again.iter().flatten().count(), 4);
    }

    #[test]
    fn a_locked_group_is_passed_over_and_counted() {
        let (space, mut effort) = (space(3, LockPolicy::TrySkip), Effort::default());
        space.groups[0].lock.acquire();
        assert_eq!(space.take(TOP, &mut effort), Some(u64::from(BLOCKS)));
        assert_eq!((effort.considered, effort.skipped), (2, 1));
    }

    #[test]
    fn the_wished_block_is_taken_if_it_is_free_and_else_the_first() {
        let (space, mut effort) = (space(1, LockPolicy::Spin), Effort::default());
        let wish = |block| Goal { group: 0, block: Some(block) };
        assert_eq!(space.take(wish(4098), &mut effort), Some(4098));
        assert_eq!(space.take(wish(4098), &mut effort), Some(4096));
        assert_eq!(space.take(wish(BLOCKS), &mut effort), Some(4100));
        assert_eq!(space.verify(vec![4096, 4098, 4100]), Ok(2));
    }

    #[test]
    fn a_lost_block_and_one_with_two_owners_are_seen() {
        let (space, mut effort) = (space(1, LockPolicy::Spin), Effort::default());
        let block = space.take(TOP, &mut effort).expect("room");
        assert!(space.verify(vec![]).is_err());
        assert!(space.verify(vec![block, block]).is_err());
        assert!(space.verify(vec![block, block + 2]).is_err());
        assert_eq!(space.verify(vec![block]), Ok(1));
    }

    #[test]
    fn tasks_that_take_and_give_back_at_once_never_share_a_block() {
        for policy in [LockPolicy::Spin, LockPolicy::TrySkip] {
            let space = space(2, policy);
            let kept: Vec<Vec<u64>> = std::thread::scope(|scope| {
                let churn = |task: u64| {
                    let (mut mine, mut effort) = (vec![], Effort::default());
                    for turn in 0..4_000u64 {
                        mine.push(space.take(TOP, &mut effort).expect("room"));
                        if (turn * 7 + task).is_multiple_of(3) {
                            let block = mine.swap_remove(turn as usize * 5 % mine.len());
                            space.put(block, REQUEST).expect("it was taken");
                        }
                    }
                    mine
                };
                let tasks: Vec<_> = (0..3).map(|task| scope.spawn(move || churn(task))).collect();
                tasks.into_iter().map(|task| task.join().expect("it does not panic")).collect()
            });
            let fragments = space.verify(kept.into_iter().flatten().collect());
            assert!(fragments.is_ok_and(|fragments| fragments > 0), "{policy:?}");
        }
    }
}
