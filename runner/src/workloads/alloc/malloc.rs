//! Pieces of one size, each replaced in turn, the oldest first: the shortest path through an
//! allocator. With one piece live it is `mm/malloc` with its memory written to.

use super::{ALLOCATOR, Allocator, FRAGMENTATION, PEAK, Slot};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, need_memory,
    shared_slice,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "alloc/malloc",
    version: 1,
    description: "allocator: pieces of one size, the oldest replaced",
    operation: "one free of the oldest piece and one malloc, written to at its ends and in each page",
    stresses: "the allocator's shortest path; large pieces: system calls and page faults",
    parameters: &[
        ALLOCATOR,
        Parameter {
            name: "size",
            default: "1024",
            allowed: Allowed::Whole(1, 1 << 32),
            about: "bytes of a piece",
        },
        Parameter {
            name: "live",
            default: "1",
            allowed: Allowed::Whole(1, 10_000_000),
            about: "pieces each task holds",
        },
    ],
    metrics: &[PEAK, FRAGMENTATION],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

struct Pieces {
    allocator: Allocator,
    size: usize,
    live: usize,
    slots: &'static [Slot],
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let (size, live) = (setup.values.whole("size")? as usize, setup.values.whole("live")? as usize);
    need_memory(setup.tasks, size.saturating_mul(live) as u64)?;
    let slots = shared_slice(live * setup.tasks as usize)?;
    Ok(Box::new(Pieces { allocator: Allocator::of(setup.values), size, live, slots }))
}

impl Prepared for Pieces {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let slots = &self.slots[task as usize * self.live..][..self.live];
        Ok(Box::new(Replacing { allocator: self.allocator, size: self.size, slots }))
    }

    fn watches_memory(&self) -> bool {
        true
    }
}

struct Replacing<'a> {
    allocator: Allocator,
    size: usize,
    slots: &'a [Slot],
}

impl Task for Replacing<'_> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self, ticks))
    }
}

#[inline(never)]
fn turn(task: &Replacing<'_>, ticks: &Ticks) -> Fault {
    loop {
        for slot in task.slots {
            if let Err(fault) = slot.replace(task.allocator, task.size, ticks) {
                return fault;
            }
            ticks.tick();
        }
    }
}
