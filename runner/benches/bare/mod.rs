//! The loops of the catalogue written down bare: one task, one counter store an operation, nothing
//! else. They follow what each workload does and share no code with it. Set-up may be as it likes;
//! what a loop does in an operation, and on what memory and files, is the same.

mod calls;
mod catalogue;
mod channels;
mod files;
mod locks;
mod memory;
pub mod process;
pub mod programs;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

pub use catalogue::{LOOPS, WITHOUT};

/// One loop, by the workload that does the same.
#[derive(Clone, Copy)]
pub struct Loop {
    /// Id of the workload.
    pub id: &'static str,
    /// Parameters that are not the workload's defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Bytes of the file that all tasks share, by their number.
    pub shared_bytes: fn(usize) -> usize,
    /// Whether it runs as processes only.
    pub processes_only: bool,
    pub bare: Bare,
}

/// Sets up and loops until it is ended from outside.
pub type Bare = fn(&Slot, &Task) -> !;

/// What a loop is told.
#[derive(Clone, Copy)]
pub struct Task {
    /// From 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    parameters: &'static [(&'static str, &'static str)],
}

impl Loop {
    /// `mm/fault memory=file-shared`.
    pub fn name(&self) -> String {
        let words = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.id.to_owned()).chain(words).collect()
    }

    /// The task of this number.
    pub fn task(&self, number: usize, of: usize) -> Task {
        Task { number, of, parameters: self.parameters }
    }
}

impl Task {
    /// Whether a parameter has this value; the defaults are not known here.
    fn is(&self, name: &str, value: &str) -> bool {
        self.parameters.contains(&(name, value))
    }

    /// A parameter that the loop's entry gives as a number.
    fn number_of(&self, name: &str) -> Option<usize> {
        self.parameters.iter().find(|(given, _)| *given == name)?.1.parse().ok()
    }
}

/// Where a bare loop counts, and what its clock does not tell.
#[repr(C)]
pub struct Slot {
    pub ops: AtomicU64,
    /// Process id of its partner; 0 without.
    pub partner: AtomicU64,
    /// CPU time of children it waited for, ns.
    pub children_ns: AtomicU64,
    /// CPU time that made a piece of fixed work ready, ns; not part of what is measured.
    pub ready_ns: AtomicU64,
    _alone: [u64; 28],
}

/// What the loops of one process tree have in common, made before any task.
pub struct Common {
    /// Whether tasks are threads.
    pub threads: AtomicBool,
    /// The file that all tasks share, open.
    pub file: AtomicI32,
    /// The memory of the slots.
    pub slots: AtomicI32,
}

pub static COMMON: Common =
    Common { threads: AtomicBool::new(false), file: AtomicI32::new(-1), slots: AtomicI32::new(-1) };

impl Slot {
    #[inline(always)]
    fn count(&self, n: u64) {
        add(&self.ops, n);
    }

    /// Loops over `turn`, which is `n` operations.
    #[inline(always)]
    fn count_turns(&self, n: u64, mut turn: impl FnMut()) -> ! {
        loop {
            turn();
            self.count(n);
        }
    }
}

/// A plain load and a plain store.
#[inline(always)]
fn add(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Relaxed) + n, Relaxed);
}

/// Ends a bare loop whose call failed.
#[cold]
fn die() -> ! {
    eprintln!("a bare loop failed: {}", std::io::Error::last_os_error());
    // SAFETY: ends this process only.
    unsafe { libc::_exit(1) }
}

/// The answer of a call that fails below 0.
#[inline(always)]
fn ok(answer: libc::c_int) -> libc::c_int {
    if answer < 0 {
        die();
    }
    answer
}

/// Ends the loop unless a transfer moved all its bytes.
#[inline(always)]
fn whole(moved: isize, bytes: usize) {
    if moved != bytes as isize {
        die();
    }
}
