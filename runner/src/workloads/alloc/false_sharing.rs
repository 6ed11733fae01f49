//! Whether an allocator makes tasks share cache lines, after Berger's cache-scratch and
//! cache-thrash ("Hoard", 2000). Thrash: each task takes small pieces and writes to them; lines are
//! shared where the allocator cuts one line into pieces for several threads. Scratch: each task
//! first gives back a piece that one thread took for all; lines are shared where it gets that
//! piece, and so a part of that line, again.

use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use super::{ALLOCATOR, Allocator, PEAK, Slot};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, shared_slice,
};

const PARAMETERS: &[Parameter] = &[
    ALLOCATOR,
    Parameter {
        name: "size",
        default: "8",
        allowed: Allowed::Whole(1, 4096),
        about: "bytes of a piece",
    },
    Parameter {
        name: "writes",
        default: "1000",
        allowed: Allowed::Whole(1, 1_000_000),
        about: "times each byte of a piece is increased",
    },
];

pub(crate) const THRASH: Workload = Workload {
    id: "alloc/cache-thrash",
    version: 1,
    description: "allocator: small pieces that tasks write to; does it hand out parts of a line",
    operation: "one malloc, the writes, checked, and one free",
    stresses: "cache lines shared because the allocator cuts them up for several threads",
    parameters: PARAMETERS,
    metrics: &[PEAK],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup| prepare(setup, 0),
};

pub(crate) const SCRATCH: Workload = Workload {
    id: "alloc/cache-scratch",
    description: "allocator: the same after each task gave back a piece of one line; does it get \
                  that again",
    stresses: "cache lines shared because a piece returns to whoever gave it back",
    prepare: |setup| prepare(setup, setup.tasks),
    ..THRASH
};

struct Lines {
    allocator: Allocator,
    size: usize,
    writes: u64,
    /// One piece for each task, taken by one thread; none where there is nothing to give back.
    given: &'static [Slot],
}

fn prepare(setup: &Setup<'_>, given: u32) -> Attempt<Box<dyn Prepared>> {
    let allocator = Allocator::of(setup.values);
    let size = setup.values.whole("size")? as usize;
    let given = shared_slice::<Slot>(given as usize)?;
    for slot in given {
        slot.piece.store(allocator.take(size)?, Relaxed);
    }
    Ok(Box::new(Lines { allocator, size, writes: setup.values.whole("writes")?, given }))
}

impl Prepared for Lines {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        if let Some(slot) = self.given.get(task as usize) {
            let piece: &AtomicPtr<u8> = &slot.piece;
            // SAFETY: taken for this task; as a process it gives back its own copy of it.
            unsafe { self.allocator.give(piece.load(Relaxed)) };
        }
        Ok(Box::new(Writing { lines: self }))
    }

    fn watches_memory(&self) -> bool {
        true
    }
}

struct Writing<'a> {
    lines: &'a Lines,
}

impl Task for Writing<'_> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let Lines { allocator, size, writes, .. } = *self.lines;
        loop {
            let piece = allocator.take(size)?;
            // SAFETY: a piece of size bytes that nobody else has.
            let last = unsafe { write(piece, size, writes) };
            if last != writes as u8 {
                return Err(Fault::wrong("malloc", "two tasks have the same piece"));
            }
            // SAFETY: taken above.
            unsafe { allocator.give(piece) };
            ticks.tick();
        }
    }
}

/// Zeroes the piece, increases each byte `writes` times and answers the last one.
///
/// # Safety
/// `size` bytes from `piece` are the caller's, and at least one.
#[inline(never)]
unsafe fn write(piece: *mut u8, size: usize, writes: u64) -> u8 {
    // SAFETY: all accesses lie within the piece.
    unsafe {
        piece.write_bytes(0, size);
        for _ in 0..writes {
            for offset in 0..size {
                let byte = piece.add(offset);
                byte.write_volatile(byte.read_volatile().wrapping_add(1));
            }
        }
        piece.add(size - 1).read_volatile()
    }
}
