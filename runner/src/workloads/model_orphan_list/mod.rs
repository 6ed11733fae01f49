//! Model of ext4's orphan list: one operation puts an inode on it, works a little, takes it off.
//! The variants are the locks and the place of the checksum that were tried, and the slots of the
//! orphan file that replaced the list.

mod checksum;
mod list;
mod slots;
mod timing;

use wire::{Direction, Unit};

use crate::harness::{
    Allowed, Attempt, Histogram, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Work,
    Workload,
};

use checksum::Checksum;
use list::{List, Locking};
use slots::Slots;
use timing::{HOLD, Timing, WAIT};

pub(super) const WORKLOAD: Workload = Workload {
    id: "model/orphan-list",
    version: 1,
    description: "model: put an inode on the orphan list and take it off",
    operation: "one add and del of an inode",
    stresses: "one lock of the file system, the superblock's line and its checksum, or slots",
    parameters: &[
        Parameter {
            name: "variant",
            default: "mutex-csum-outside",
            allowed: Allowed::OneOf(&[
                "mutex-csum-outside",
                "mutex-bitlock-csum-inside",
                "mutex-csum-inside",
                "hack2",
                "bitlock-only",
                "slots-spinlock",
                "slots-lockless",
            ]),
            about: "the lock and the checksum's place; hack2 is mutex-csum-outside made by undoing",
        },
        Parameter {
            name: "csum",
            default: "hw",
            allowed: Allowed::OneOf(&["hw", "table", "none"]),
            about: "crc32c of the superblock by instruction, by table, or not at all",
        },
        Parameter {
            name: "work_ns",
            default: "300",
            allowed: Allowed::Whole(0, 1_000_000),
            about: "work between add and del, ns",
        },
        Parameter {
            name: "blocks",
            default: "32",
            allowed: Allowed::Whole(8, 512),
            about: "blocks of the orphan file (slots variants)",
        },
    ],
    metrics: &[
        SideMetric {
            name: "lock_wait_p99_ns",
            unit: Unit::Nanoseconds,
            direction: Direction::Lower,
            value: |window| Histogram::quantile(window, WAIT, 0.99),
        },
        SideMetric {
            name: "lock_hold_p99_ns",
            unit: Unit::Nanoseconds,
            direction: Direction::Lower,
            value: |window| Histogram::quantile(window, HOLD, 0.99),
        },
    ],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: true,
    extra_words: 2 * Histogram::WORDS,
    prepare,
};

/// A set of orphans that one task adds its inode to and takes it from.
trait Orphans: Sync {
    /// Puts in the inode of `task`; answers where, for [`Orphans::del`].
    fn add(&self, task: u32, timing: &Timing<'_>) -> Attempt<usize>;
    /// Takes it out again.
    fn del(&self, task: u32, place: usize, timing: &Timing<'_>) -> Attempt<()>;
    /// Checks that it is empty and whole.
    fn verify(&self) -> Attempt<()>;
}

struct Model<O> {
    orphans: O,
    work: Work,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let work = Work::of(setup.values.whole("work_ns")?);
    let list = |locking| -> Attempt<Box<dyn Prepared>> {
        let checksum = Checksum::named(setup.values.word("csum"))?;
        let orphans = List::new(setup.tasks, locking, checksum)?;
        Ok(Box::new(Model { orphans, work }))
    };
    let slots = |lockless| -> Attempt<Box<dyn Prepared>> {
        let orphans = Slots::new(setup.values.whole("blocks")? as usize, lockless)?;
        Ok(Box::new(Model { orphans, work }))
    };
    match setup.values.word("variant") {
        "mutex-bitlock-csum-inside" => {
            list(Locking { mutex: true, buffer: true, checksum_inside: true })
        }
        "mutex-csum-inside" => list(Locking { mutex: true, buffer: false, checksum_inside: true }),
        "bitlock-only" => list(Locking { mutex: false, buffer: true, checksum_inside: true }),
        "slots-spinlock" => slots(false),
        "slots-lockless" => slots(true),
        _ => list(Locking { mutex: true, buffer: false, checksum_inside: false }),
    }
}

impl<O: Orphans> Prepared for Model<O> {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Truncating { model: self, task }))
    }

    fn verify(&self, _total: &dyn Fn(usize) -> u64) -> Attempt<()> {
        self.orphans.verify()
    }
}

struct Truncating<'a, O> {
    model: &'a Model<O>,
    task: u32,
}

impl<O: Orphans> Task for Truncating<'_, O> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        turns(self.model, self.task, ticks)
    }
}

#[inline(never)]
fn turns<O: Orphans>(model: &Model<O>, task: u32, ticks: &Ticks) -> Attempt<()> {
    let mut timing = Timing::new(ticks);
    while !ticks.stopped() {
        timing.next_turn();
        let place = model.orphans.add(task, &timing)?;
        model.work.run();
        model.orphans.del(task, place, &timing)?;
        ticks.tick();
    }
    Ok(())
}
