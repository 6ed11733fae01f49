//! Address spaces: mappings, page faults, TLB flushes, the heap's end. Address randomisation is off
//! in every child where the system allows it, so that page tables look the same in each run; the
//! transparent huge pages setting is environment, and decides how many faults anonymous memory takes.

mod brk;
mod fault;
mod malloc;
mod mmap;
mod tlb_flush;

pub(super) use brk::WORKLOAD as BRK;
pub(super) use fault::WORKLOAD as FAULT;
pub(super) use malloc::WORKLOAD as MALLOC;
pub(super) use mmap::WORKLOAD as MMAP;
pub(super) use tlb_flush::WORKLOAD as TLB_FLUSH;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

use super::files::own_file;
use crate::harness::{Attempt, Fault, Prepared, Task, Ticks, check};

const MIB: u64 = 1 << 20;

/// Bytes of a page of this system.
fn page_bytes() -> usize {
    // SAFETY: sysconf reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("every system has a page size")
}

/// What a task maps, again and again: anonymous memory or a sparse file of its own.
struct Mapping {
    bytes: usize,
    flags: libc::c_int,
    file: Option<File>,
}

impl Mapping {
    /// `memory` is `anon`, `file-shared`, or else a private mapping of a file.
    fn new(memory: &str, bytes: u64, task: u32) -> Attempt<Mapping> {
        let flags = match memory {
            "anon" => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            "file-shared" => libc::MAP_SHARED,
            _ => libc::MAP_PRIVATE,
        };
        let file = match memory {
            "anon" => None,
            _ => {
                let file = own_file(task)?;
                file.set_len(bytes).map_err(|e| Fault::io("ftruncate", &e))?;
                Some(file)
            }
        };
        Ok(Mapping { bytes: bytes as usize, flags, file })
    }

    #[inline(always)]
    fn map(&self) -> Attempt<*mut u8> {
        let fd = self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses a range that is free.
        let start = unsafe { libc::mmap(ptr::null_mut(), self.bytes, access, self.flags, fd, 0) };
        if start == libc::MAP_FAILED { Err(Fault::errno("mmap")) } else { Ok(start.cast()) }
    }

    /// # Safety
    /// `start` is what [`Mapping::map`] answered, and is not used any more.
    #[inline(always)]
    unsafe fn unmap(&self, start: *mut u8) -> Attempt<()> {
        // SAFETY: the whole of a mapping that nothing refers to, by contract.
        check("munmap", unsafe { libc::munmap(start.cast(), self.bytes) })?;
        Ok(())
    }
}

/// Maps, works on every page and gives back, again and again, all in one function: with the loop over
/// the pages in a function of its own, a fault took 16 to 20 % longer on one processor.
type Rounds = fn(&Mapping, &Pages, &Ticks) -> Attempt<()>;

/// The pages of a mapping.
#[derive(Clone, Copy)]
struct Pages {
    /// Bytes of all of them.
    bytes: usize,
    /// Bytes of one.
    page: usize,
    /// Whether a page keeps what was stored in it when it is dropped, because its file does.
    kept: bool,
}

/// Tasks that map `bytes` of `memory`, work on it and give it back, again and again.
struct Mappings {
    memory: String,
    bytes: u64,
    rounds: Rounds,
}

impl Prepared for Mappings {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let mapping = Mapping::new(&self.memory, self.bytes, task)?;
        let kept = self.memory == "file-shared";
        let pages = Pages { bytes: mapping.bytes, page: page_bytes(), kept };
        Ok(Box::new(Mapped { mapping, pages, rounds: self.rounds }))
    }
}

struct Mapped {
    mapping: Mapping,
    pages: Pages,
    rounds: Rounds,
}

impl Task for Mapped {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        (self.rounds)(&self.mapping, &self.pages, ticks)
    }
}
