//! Moving the heap's end up by a page and back. As a process inherits it, the heap still shares its
//! history with its parent and cannot grow in place: each turn makes and removes a mapping. With a
//! page of the task's own below, that mapping grows and shrinks.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use super::page_bytes;
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, check,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "mm/brk",
    version: 1,
    description: "move the heap's end up by a page and back",
    operation: "one brk(); up and down are two",
    stresses: "mmap lock for writing, making and removing or growing and shrinking a mapping",
    parameters: &[Parameter {
        name: "variant",
        default: "shared",
        allowed: Allowed::OneOf(&["shared", "unshared"]),
        about: "from the heap's end as inherited, or from a page of the task's own",
    }],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// Heap the sampler gets before tasks move the heap's end; it must never ask for more, since a task
/// that runs as a thread would take it away. Never touched as a whole.
const RESERVE: libc::c_int = 256 << 20;
/// Pieces of this size and more never lie in the heap.
const MAPPED_FROM: libc::c_int = 64 << 10;

struct Heap {
    unshared: bool,
    /// sbrk moves a variable of the C library that threads share.
    moving: Mutex<()>,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    reserve()?;
    let unshared = setup.values.word("variant") == "unshared";
    Ok(Box::new(Heap { unshared, moving: Mutex::new(()) }))
}

/// Makes the C library's heap grow once, by the whole reserve, and keep it.
fn reserve() -> Attempt<()> {
    // SAFETY: sets options of the allocator, moves nothing.
    let set = unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM) != 0
            && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) != 0
            && libc::mallopt(libc::M_TOP_PAD, RESERVE) != 0
    };
    if !set {
        return Err(Fault::wrong("mallopt", "the heap of the C library cannot be reserved"));
    }
    let before = heap_end(0)?;
    let mut pieces: Vec<Vec<u8>> = vec![];
    while heap_end(0)? == before {
        if pieces.len() > RESERVE as usize / MAPPED_FROM as usize {
            return Err(Fault::wrong("malloc", "the C library does not use the heap"));
        }
        pieces.push(black_box(Vec::with_capacity(MAPPED_FROM as usize / 2)));
    }
    Ok(())
}

/// The heap's end, moved up by `bytes` afterwards.
fn heap_end(bytes: usize) -> Attempt<usize> {
    // SAFETY: the heap only grows.
    let end = unsafe { libc::sbrk(bytes as libc::intptr_t) };
    if end.addr() == usize::MAX { Err(Fault::errno("sbrk")) } else { Ok(end.addr()) }
}

impl Prepared for Heap {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        let page = page_bytes();
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let end = if self.unshared { heap_end(page)? + page } else { heap_end(0)? };
        Ok(Box::new(Moving { end, page }))
    }
}

struct Moving {
    end: usize,
    page: usize,
}

impl Task for Moving {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.end, self.end + self.page, ticks))
    }
}

#[inline(never)]
fn turn(end: usize, above: usize, ticks: &Ticks) -> Fault {
    let (end, above) = (end as *mut libc::c_void, above as *mut libc::c_void);
    loop {
        // SAFETY: nothing lies above the end, which is where this task or its heap ended.
        if let Err(fault) = check("brk", unsafe { libc::brk(above) }) {
            return fault;
        }
        ticks.tick();
        // SAFETY: as above.
        if let Err(fault) = check("brk", unsafe { libc::brk(end) }) {
            return fault;
        }
        ticks.tick();
    }
}
