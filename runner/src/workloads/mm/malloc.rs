//! The C library's malloc and free of one piece at a time. A large piece is a mapping of its own,
//! with one page touched; a small one comes back from the thread's cache without a system call.

use std::hint::black_box;

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "mm/malloc",
    version: 1,
    description: "malloc and free of the C library, one piece at a time",
    operation: "one malloc and free",
    stresses: "large: mmap, munmap and one page fault; small: the allocator's cache, no system call",
    parameters: &[Parameter {
        name: "size",
        default: "134217728",
        allowed: Allowed::Whole(1, 1 << 40),
        about: "bytes of the piece; 134217728 is large, 1024 is small",
    }],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

#[derive(Clone, Copy)]
struct Piece {
    bytes: usize,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    Ok(Box::new(Piece { bytes: setup.values.whole("size")? as usize }))
}

impl Prepared for Piece {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(*self))
    }
}

impl Task for Piece {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.bytes, ticks))
    }
}

#[inline(never)]
fn turn(bytes: usize, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: malloc may be asked for any size.
        let piece = black_box(unsafe { libc::malloc(black_box(bytes)) });
        if piece.is_null() {
            return Fault::errno("malloc");
        }
        // SAFETY: what malloc gave, given back once.
        unsafe { libc::free(piece) };
        ticks.tick();
    }
}
