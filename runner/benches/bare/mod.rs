//! The loops of the catalogue written down bare: one task, one counter store an operation, nothing
//! else. They follow what each workload does and share no code with it.

mod calls;
mod channels;
mod files;
mod memory;

pub use channels::THREADS;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where a bare loop counts, and where it says who its partner is.
pub struct Slot {
    pub ops: AtomicU64,
    pub partner: AtomicU64,
    _alone: [u64; 30],
}

/// Sets up and loops until it is ended from outside; gets the number of its task.
pub type Bare = fn(&Slot, usize) -> !;

/// Every loop, by the id of the workload that does the same at its defaults.
pub const LOOPS: &[(&str, Bare)] = &[
    ("ctl/int-loop", calls::int_loop),
    ("sys/getppid", calls::getppid),
    ("syscall/mix-private-fd", calls::mix),
    ("syscall/close", calls::close),
    ("syscall/getpid", calls::getpid),
    ("signal/raise", calls::raise),
    ("sched/yield", calls::sched_yield),
    ("sched/pipe-pingpong", channels::pingpong),
    ("ipc/pipe", channels::pipe),
    ("ipc/unix", channels::unix),
    ("ipc/eventfd", channels::eventfd),
    ("poll/1", channels::poll::<1>),
    ("poll/128", channels::poll::<128>),
    ("file/open", files::open),
    ("file/dup", files::dup),
    ("file/unlink", files::unlink),
    ("file/lseek", files::lseek),
    ("file/read", files::read),
    ("file/write", files::write),
    ("file/pread", files::pread),
    ("file/pwrite", files::pwrite),
    ("file/seek-read", files::seek_read),
    ("file/seek-write", files::seek_write),
    ("lock/posix", files::lock),
    ("fallocate/append-truncate", files::fallocate),
    ("aim/creat-close", files::creat_close),
    ("mm/mmap", memory::mmap),
    ("mm/fault", memory::fault),
    ("mm/tlb-flush", memory::tlb_flush),
    ("mm/brk", memory::brk),
    ("mm/malloc", memory::malloc),
    ("sync/futex", memory::futex),
    ("sync/mutex", memory::mutex),
    ("sync/sem", memory::semaphore),
];

impl Slot {
    #[inline(always)]
    fn count(&self, n: u64) {
        self.ops.store(self.ops.load(Relaxed) + n, Relaxed);
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
