//! Model of ext4's block allocator under stream allocations: where the goal of the last allocation
//! is kept, how a locked group is met, and which lock the list of freed extents shares.
//!
//! One operation takes two blocks. A file is 128 of them; then its extents go to the freed list,
//! which a committer empties every `commit_ms`. Each task has one inode.

mod freed;
mod goal;
mod group;
mod space;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use wire::{Direction, Unit};

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Shared, SideMetric, SpinLock, Tally,
    Task, Ticks, Workload, at_end, possible_cpus, shared_slice,
};

use freed::Freed;
use goal::{Goals, Locked, Packed, Padded, Single, Striped};
use group::{BLOCKS, REQUEST};
use space::{Effort, LockPolicy, Space, place};

pub(super) const WORKLOAD: Workload = Workload {
    id: "model/stream-goal",
    version: 1,
    description: "model: allocate blocks near the goal of the last allocation",
    operation: "one allocation of 2 blocks; 128 make a file, whose blocks are then freed",
    stresses: "the goal's line or lock, group locks, and the list of freed extents",
    parameters: &[
        Parameter {
            name: "goal",
            default: "striped",
            allowed: Allowed::OneOf(&[
                "lock",
                "relaxed",
                "acqrel",
                "striped",
                "striped-padded",
                "packed",
            ]),
            about: "how the goal is kept: under a lock, in one word, in several by inode, or packed",
        },
        Parameter {
            name: "lock_policy",
            default: "try-skip",
            allowed: Allowed::OneOf(&["spin", "try-skip"]),
            about: "whether a locked group is waited for or passed over",
        },
        Parameter {
            name: "free_list",
            default: "own-lock",
            allowed: Allowed::OneOf(&["same-lock", "own-lock"]),
            about: "whether freed extents are listed under the goal's lock",
        },
        Parameter {
            name: "groups",
            default: "1600",
            allowed: Allowed::Whole(4, 65_536),
            about: "block groups of 32768 blocks",
        },
        Parameter {
            name: "commit_ms",
            default: "20",
            allowed: Allowed::Whole(1, 60_000),
            about: "time between two commits, which give freed blocks back, ms",
        },
        Parameter {
            name: "ino_stride",
            default: "1",
            allowed: Allowed::Whole(0, 1 << 20),
            about: "distance of the tasks' inodes; 0: all have the same goal",
        },
    ],
    metrics: &[
        SideMetric {
            name: "extents_per_file",
            unit: Unit::Count,
            direction: Direction::Lower,
            value: |window| window.ratio(EXTENTS, FILES),
        },
        SideMetric {
            name: "mean_extent_kib",
            unit: Unit::Kibibytes,
            direction: Direction::Higher,
            value: mean_extent_kib,
        },
        SideMetric {
            name: "groups_considered_per_op",
            unit: Unit::CountPerOp,
            direction: Direction::Lower,
            value: |window| window.ratio(CONSIDERED, 0),
        },
        SideMetric {
            name: "trylock_failures_per_op",
            unit: Unit::CountPerOp,
            direction: Direction::Lower,
            value: |window| window.ratio(SKIPPED, 0),
        },
        SideMetric {
            name: FREE_FRAGMENTS,
            unit: Unit::Count,
            direction: Direction::Lower,
            value: at_end,
        },
    ],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: true,
    extra_words: 0,
    prepare,
};

const FREE_FRAGMENTS: &str = "free_fragments_at_end";

/// Counter words.
const EXTENTS: usize = 1;
const FILES: usize = 2;
const CONSIDERED: usize = 3;
const SKIPPED: usize = 4;

/// Requests of a file, and KiB of a block.
const FILE: usize = 128;
const BLOCK_KIB: u64 = 4;
/// Freed extents a transaction has room for.
const TRANSACTION: usize = 1 << 20;
/// Task *i* has inode 12 + *i* × stride.
const FIRST_INODE: u32 = 12;

fn mean_extent_kib(window: &Tally) -> Option<f64> {
    let file_kib = FILE as u64 * u64::from(REQUEST) * BLOCK_KIB;
    window.ratio(FILES, EXTENTS).map(|files| files * file_kib as f64)
}

/// What a task's file holds: known to all, so that the end can be verified.
#[repr(C, align(128))]
struct File {
    held: AtomicU32,
    blocks: [AtomicU64; FILE],
}

// SAFETY: atomics only; zero is an empty file.
unsafe impl Shared for File {}

/// What went wrong in a commit, and what was found at the end.
#[repr(C)]
struct Found {
    bad_frees: AtomicU64,
    free_fragments: AtomicU64,
}

// SAFETY: atomics only.
unsafe impl Shared for Found {}

#[derive(Clone, Copy)]
struct Model<G> {
    goals: G,
    space: Space,
    freed: Freed<'static>,
    files: &'static [File],
    found: &'static Found,
    stride: u32,
    commit_every: Duration,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let groups = setup.values.whole("groups")? as usize;
    let count = (possible_cpus() as usize).min(groups.div_ceil(4));
    let lock = &shared_slice::<SpinLock>(1)?[0];
    match setup.values.word("goal") {
        "lock" => model(setup, lock, Locked { lock, pair: &shared_slice(1)?[0] }),
        "relaxed" => model(setup, lock, Single::<false>(&shared_slice(1)?[0])),
        "acqrel" => model(setup, lock, Single::<true>(&shared_slice(1)?[0])),
        "striped-padded" => model(setup, lock, Padded(shared_slice(count)?)),
        "packed" => model(setup, lock, Packed(&shared_slice(1)?[0])),
        _ => model(setup, lock, Striped(shared_slice(count)?)),
    }
}

fn model<G: Goals + 'static>(
    setup: &Setup<'_>,
    goal_lock: &'static SpinLock,
    goals: G,
) -> Attempt<Box<dyn Prepared>> {
    let groups = setup.values.whole("groups")?;
    let files = u64::from(setup.tasks) * FILE as u64 * u64::from(REQUEST);
    if files > groups * u64::from(BLOCKS) / 2 {
        let detail = format!("{groups} groups are too few for the files of {} tasks", setup.tasks);
        return Err(Fault::wrong("set-up", detail));
    }
    let policy = match setup.values.word("lock_policy") {
        "spin" => LockPolicy::Spin,
        _ => LockPolicy::TrySkip,
    };
    let lock = match setup.values.word("free_list") {
        "same-lock" => goal_lock,
        _ => &shared_slice::<SpinLock>(1)?[0],
    };
    Ok(Box::new(Model {
        goals,
        space: Space::new(groups as usize, policy)?,
        freed: Freed { lock, state: &shared_slice(1)?[0], cells: shared_slice(2 * TRANSACTION)? },
        files: shared_slice(setup.tasks as usize)?,
        found: &shared_slice::<Found>(1)?[0],
        stride: setup.values.whole("ino_stride")? as u32,
        commit_every: Duration::from_millis(setup.values.whole("commit_ms")?),
    }))
}

impl<G: Goals> Model<G> {
    /// Gives the freed blocks back.
    fn commit(&self) {
        self.freed.commit(|start, len| {
            if self.space.put(start, len).is_err() {
                self.found.bad_frees.fetch_add(1, Relaxed);
            }
        });
    }

    /// Frees what the file holds and counts its extents.
    fn truncate(&self, file: &File, ticks: &Ticks) {
        let mut extents = 0;
        let (mut start, mut len) = (file.blocks[0].load(Relaxed), REQUEST);
        let mut free = |start, len| {
            extents += 1;
            while !self.freed.push(start, len) {
                self.commit();
            }
        };
        for block in file.blocks[1..].iter().map(|block| block.load(Relaxed)) {
            if block == start + u64::from(len) {
                len += REQUEST;
            } else {
                free(start, len);
                (start, len) = (block, REQUEST);
            }
        }
        free(start, len);
        file.held.store(0, Relaxed);
        ticks.add(EXTENTS, extents);
        ticks.add(FILES, 1);
    }
}

impl<G: Goals> Prepared for Model<G> {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let inode = FIRST_INODE.wrapping_add(task.wrapping_mul(self.stride));
        Ok(Box::new(Appending { model: *self, inode, file: &self.files[task as usize] }))
    }

    fn tended_every(&self) -> Option<Duration> {
        Some(self.commit_every)
    }

    fn tend(&self) {
        self.commit();
    }

    /// No block was handed out twice, and none is lost.
    fn verify(&self, total: &dyn Fn(usize) -> u64) -> Attempt<()> {
        self.commit();
        let bad_frees = self.found.bad_frees.load(Relaxed);
        if bad_frees > 0 {
            let detail = format!("{bad_frees} extents held blocks that were free already");
            return Err(Fault::wrong("verify", detail));
        }
        let held = |file: &'static File| file.blocks[..file.held.load(Relaxed) as usize].iter();
        let owned: Vec<u64> = self.files.iter().flat_map(held).map(|b| b.load(Relaxed)).collect();
        let (counted, made) = (total(0), total(FILES) * FILE as u64 + owned.len() as u64);
        if counted != made {
            let detail = format!("{counted} allocations were counted, {made} were made");
            return Err(Fault::wrong("verify", detail));
        }
        self.found.free_fragments.store(self.space.verify(owned)?, Relaxed);
        Ok(())
    }

    fn found(&self) -> Vec<(&'static str, f64)> {
        vec![(FREE_FRAGMENTS, self.found.free_fragments.load(Relaxed) as f64)]
    }
}

struct Appending<G> {
    model: Model<G>,
    inode: u32,
    file: &'static File,
}

impl<G: Goals> Task for Appending<G> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        turns(&self.model, self.inode, self.file, ticks);
        Ok(())
    }
}

#[inline(never)]
fn turns<G: Goals>(model: &Model<G>, inode: u32, file: &File, ticks: &Ticks) {
    loop {
        for (held, kept) in (1..).zip(&file.blocks) {
            if ticks.stopped() {
                return;
            }
            let block = allocate(model, inode, ticks);
            kept.store(block, Relaxed);
            file.held.store(held, Relaxed);
            ticks.tick();
        }
        model.truncate(file, ticks);
    }
}

/// One allocation. When every group is full it commits, as a file system does that would
/// otherwise refuse: files hold at most half of the blocks, so there is room afterwards.
#[inline]
fn allocate<G: Goals>(model: &Model<G>, inode: u32, ticks: &Ticks) -> u64 {
    let mut effort = Effort::default();
    let block = loop {
        if let Some(block) = model.space.take(model.goals.load(inode), &mut effort) {
            break block;
        }
        model.commit();
    };
    let (group, within) = place(block);
    model.goals.store(inode, group as u32, within + REQUEST);
    ticks.add(CONSIDERED, effort.considered);
    ticks.add(SKIPPED, effort.skipped);
    block
}
