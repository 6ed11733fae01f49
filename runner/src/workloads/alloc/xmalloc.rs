//! Pieces that one thread takes and another gives back, after Lever and Boreham's study of malloc
//! in a multithreaded Linux environment (2000). Threads pass pieces on in batches, through a queue
//! for each that takes so many and no more; who can do nothing sleeps a little.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::Duration;

use super::{ALLOCATOR, Allocator, FRAGMENTATION, LIVE, PEAK, Random};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Shared, Task, Ticks, Workload,
    shared_slice,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "alloc/xmalloc",
    version: 1,
    description: "allocator: pieces that one thread takes and another gives back",
    operation: "one malloc, or one free of what another thread took",
    stresses: "frees from another thread, and the memory that piles up by them",
    parameters: &[
        ALLOCATOR,
        Parameter {
            name: "roles",
            default: "ring",
            allowed: Allowed::OneOf(&["ring", "pairs"]),
            about: "each thread takes for the next one; or every second one only takes, and the \
                    one after it only gives back",
        },
        Parameter {
            name: "min",
            default: "8",
            allowed: Allowed::Whole(8, 1 << 20),
            about: "bytes of the least piece",
        },
        Parameter {
            name: "max",
            default: "512",
            allowed: Allowed::Whole(8, 1 << 20),
            about: "bytes of the greatest piece",
        },
        Parameter {
            name: "batch",
            default: "256",
            allowed: Allowed::Whole(1, 1 << 16),
            about: "pieces passed on at once; a queue holds 64 batches",
        },
    ],
    metrics: &[PEAK, FRAGMENTATION],
    needs_directory: false,
    modes: &[Mode::Thread],
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// Batches a queue holds.
const BATCHES: usize = 64;
/// How long a thread sleeps that can do nothing: shorter than a full queue lasts.
const NAP: Duration = Duration::from_micros(50);

struct Exchange {
    allocator: Allocator,
    least: usize,
    sizes: usize,
    batch: usize,
    tasks: usize,
    pairs: bool,
    ends: &'static [Ends],
    /// The queues' pieces, one queue after the other.
    pieces: &'static [AtomicPtr<u8>],
}

/// How many batches went into a queue and came out of it, on a cache line of its own each.
#[repr(C, align(128))]
struct Ends {
    put: AtomicUsize,
    apart: [AtomicUsize; 15],
    got: AtomicUsize,
}

// SAFETY: atomics only; zero is an empty queue.
unsafe impl Shared for Ends {}
// SAFETY: an atomic; zero is no piece.
unsafe impl Shared for AtomicPtr<u8> {}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let whole = |name| setup.values.whole(name).map(|n| n as usize);
    let (least, most, batch) = (whole("min")?, whole("max")?, whole("batch")?);
    if least > most {
        return Err(Fault::wrong("set-up", format!("min={least} is more than max={most}")));
    }
    let tasks = setup.tasks as usize;
    Ok(Box::new(Exchange {
        allocator: Allocator::of(setup.values),
        least,
        sizes: most - least + 1,
        batch,
        tasks,
        pairs: setup.values.word("roles") == "pairs",
        ends: shared_slice(tasks)?,
        pieces: shared_slice(tasks * BATCHES * batch)?,
    }))
}

/// The queues a thread puts into and gets from.
#[derive(Debug, PartialEq)]
struct Role {
    to: Option<usize>,
    from: Option<usize>,
}

/// A thread without a partner is its own.
fn role(task: usize, tasks: usize, pairs: bool) -> Role {
    match pairs {
        false => Role { to: Some((task + 1) % tasks), from: Some(task) },
        true if task % 2 == 1 => Role { to: None, from: Some(task) },
        true if task + 1 < tasks => Role { to: Some(task + 1), from: None },
        true => Role { to: Some(task), from: Some(task) },
    }
}

impl Prepared for Exchange {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let role = role(task as usize, self.tasks, self.pairs);
        Ok(Box::new(Passing { exchange: self, role, random: Random::of_task(task) }))
    }

    fn watches_memory(&self) -> bool {
        true
    }
}

struct Passing<'a> {
    exchange: &'a Exchange,
    role: Role,
    random: Random,
}

impl Task for Passing<'_> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            let mut did = false;
            if let Some(queue) = self.role.to {
                did |= self.exchange.put(queue, &mut self.random, ticks)?;
            }
            if let Some(queue) = self.role.from {
                did |= self.exchange.get(queue, ticks)?;
            }
            if !did {
                std::thread::sleep(NAP);
            }
        }
    }
}

impl Exchange {
    fn cells(&self, queue: usize, batch: usize) -> &'static [AtomicPtr<u8>] {
        let first = (queue * BATCHES + batch % BATCHES) * self.batch;
        &self.pieces[first..][..self.batch]
    }

    /// Takes a batch of pieces into a queue, unless it is full. Each piece holds its size.
    #[inline(never)]
    fn put(&self, queue: usize, random: &mut Random, ticks: &Ticks) -> Attempt<bool> {
        let ends = &self.ends[queue];
        let put = ends.put.load(Ordering::Relaxed);
        if put - ends.got.load(Ordering::Acquire) == BATCHES {
            return Ok(false);
        }
        for cell in self.cells(queue, put) {
            let bytes = self.least + random.below(self.sizes);
            let piece = self.allocator.take(bytes)?;
            // SAFETY: a piece of at least 8 bytes, aligned for any number.
            unsafe { piece.cast::<u64>().write(bytes as u64) };
            cell.store(piece, Ordering::Relaxed);
            ticks.add(LIVE, bytes as u64);
            ticks.tick();
        }
        ends.put.store(put + 1, Ordering::Release);
        Ok(true)
    }

    /// Gives back a batch of pieces from a queue, unless it is empty.
    #[inline(never)]
    fn get(&self, queue: usize, ticks: &Ticks) -> Attempt<bool> {
        let ends = &self.ends[queue];
        let got = ends.got.load(Ordering::Relaxed);
        if ends.put.load(Ordering::Acquire) == got {
            return Ok(false);
        }
        for cell in self.cells(queue, got) {
            let piece = cell.load(Ordering::Relaxed);
            // SAFETY: put there by the queue's other end, with its size in its first bytes.
            let bytes = unsafe { piece.cast::<u64>().read() };
            if !(self.least..self.least + self.sizes).contains(&(bytes as usize)) {
                return Err(Fault::wrong("malloc", "a piece does not hold what was written to it"));
            }
            // SAFETY: it came out of the queue, once.
            unsafe { self.allocator.give(piece) };
            ticks.add(LIVE, 0u64.wrapping_sub(bytes));
            ticks.tick();
        }
        ends.got.store(got + 1, Ordering::Release);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_has_one_thread_that_puts_and_one_that_gets() {
        for (tasks, pairs) in (1..6).flat_map(|tasks| [(tasks, false), (tasks, true)]) {
            let roles: Vec<Role> = (0..tasks).map(|task| role(task, tasks, pairs)).collect();
            let mut to: Vec<usize> = roles.iter().filter_map(|role| role.to).collect();
            let mut from: Vec<usize> = roles.iter().filter_map(|role| role.from).collect();
            to.sort_unstable();
            from.sort_unstable();
            assert_eq!(to, from, "{tasks} tasks, pairs: {pairs}");
            assert!(to.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(roles.iter().all(|role| role.to.is_some() || role.from.is_some()));
        }
    }
}
