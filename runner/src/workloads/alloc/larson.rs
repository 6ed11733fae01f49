//! A server's life after Larson and Krishnan, "Memory allocation for long-running server
//! applications" (1998): each task replaces pieces of random size at random places of its table.
//! From time to time threads pass their tables on, so that a piece is freed by another thread than
//! took it. As processes the tasks keep their tables.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{ALLOCATOR, Allocator, FRAGMENTATION, PEAK, Random, Slot};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, need_memory,
    shared_slice,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "alloc/larson",
    version: 1,
    description: "allocator: a server that replaces pieces of random size, passed on among threads",
    operation: "one free of a random piece and one malloc in its place",
    stresses: "the allocator's caches, size classes and frees from another thread",
    parameters: &[
        ALLOCATOR,
        Parameter {
            name: "min",
            default: "8",
            allowed: Allowed::Whole(1, 1 << 20),
            about: "bytes of the least piece",
        },
        Parameter {
            name: "max",
            default: "1000",
            allowed: Allowed::Whole(1, 1 << 20),
            about: "bytes of the greatest piece",
        },
        Parameter {
            name: "pieces",
            default: "5000",
            allowed: Allowed::Whole(1, 10_000_000),
            about: "places of each table",
        },
        Parameter {
            name: "rounds",
            default: "100",
            allowed: Allowed::Whole(1, 1_000_000),
            about: "replacements, in tables full, before a table is passed on",
        },
    ],
    metrics: &[PEAK, FRAGMENTATION],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

struct Server {
    allocator: Allocator,
    least: usize,
    sizes: usize,
    pieces: usize,
    replacements: u64,
    /// Tables one after the other: each task begins with the one of its number.
    slots: &'static [Slot],
    /// Tables that no task has, one for each thread; their numbers.
    waiting: &'static [AtomicU64],
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let whole = |name| setup.values.whole(name).map(|n| n as usize);
    let (least, most, pieces) = (whole("min")?, whole("max")?, whole("pieces")?);
    if least > most {
        return Err(Fault::wrong("set-up", format!("min={least} is more than max={most}")));
    }
    let tasks = setup.tasks as usize;
    let others = if setup.mode == Mode::Thread { tasks } else { 0 };
    // Twice what is live, for what the allocator adds.
    need_memory((tasks + others) as u32, (pieces * (least + most)) as u64)?;
    let waiting = shared_slice::<AtomicU64>(others)?;
    for (table, cell) in (setup.tasks.into()..).zip(waiting) {
        cell.store(table, Ordering::Relaxed);
    }
    Ok(Box::new(Server {
        allocator: Allocator::of(setup.values),
        least,
        sizes: most - least + 1,
        pieces,
        replacements: (pieces * whole("rounds")?) as u64,
        slots: shared_slice((tasks + others) * pieces)?,
        waiting,
    }))
}

impl Prepared for Server {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Serving { server: self, table: task as usize, random: Random::of_task(task) }))
    }

    fn watches_memory(&self) -> bool {
        true
    }
}

struct Serving<'a> {
    server: &'a Server,
    table: usize,
    random: Random,
}

impl Task for Serving<'_> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let server = self.server;
        // Each thread begins at another cell, and the next time at the one after it.
        for turn in self.table.. {
            let slots = &server.slots[self.table * server.pieces..][..server.pieces];
            serve(server, slots, &mut self.random, ticks)?;
            if let Some(cells) = server.waiting.len().checked_sub(1) {
                let cell = &server.waiting[turn % (cells + 1)];
                self.table = cell.swap(self.table as u64, Ordering::AcqRel) as usize;
            }
        }
        Ok(())
    }
}

#[inline(never)]
fn serve(server: &Server, slots: &[Slot], random: &mut Random, ticks: &Ticks) -> Attempt<()> {
    for _ in 0..server.replacements {
        // SAFETY: the number is below the length.
        let slot = unsafe { slots.get_unchecked(random.below(slots.len())) };
        let bytes = server.least + random.below(server.sizes);
        slot.replace(server.allocator, bytes, ticks)?;
        ticks.tick();
    }
    Ok(())
}
