//! Mappings, page faults, the heap's end, the C library's memory.

use std::hint::black_box;
use std::sync::Mutex;

use super::files::own_file;
use super::{Slot, Task, die, ok};

const MIB: usize = 1 << 20;
const BIG: usize = 128 * MIB;
/// A program asks the system for it, so a loop over pages does not know it and is not unrolled.
const PAGE: usize = 4096;

/// What is mapped again and again.
struct Mapped {
    bytes: usize,
    kind: libc::c_int,
    fd: libc::c_int,
}

impl Mapped {
    fn of(task: &Task, bytes: usize) -> Mapped {
        let (shared, private) = (libc::MAP_SHARED, libc::MAP_PRIVATE);
        let is = |word| task.is("memory", word);
        if !is("file") && !is("file-private") && !is("file-shared") {
            return Mapped { bytes, kind: private | libc::MAP_ANONYMOUS, fd: -1 };
        }
        let fd = own_file(task.number);
        // SAFETY: touches no memory of ours.
        ok(unsafe { libc::ftruncate(fd, bytes as libc::off_t) });
        Mapped { bytes, kind: if is("file-shared") { shared } else { private }, fd }
    }

    #[inline(always)]
    fn map(&self) -> *mut u8 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let nowhere = std::ptr::null_mut();
        // SAFETY: a fresh address range.
        let start = unsafe { libc::mmap(nowhere, self.bytes, access, self.kind, self.fd, 0) };
        if start == libc::MAP_FAILED {
            die();
        }
        start.cast()
    }

    #[inline(always)]
    fn unmap(&self, start: *mut u8) {
        // SAFETY: a mapping of map that nobody uses any more.
        ok(unsafe { libc::munmap(start.cast(), self.bytes) });
    }
}

#[inline(never)]
pub fn mmap(slot: &Slot, task: &Task) -> ! {
    let mapped = Mapped::of(task, BIG);
    slot.count_turns(1, || mapped.unmap(mapped.map()))
}

#[inline(never)]
pub fn fault(slot: &Slot, task: &Task) -> ! {
    let mapped = Mapped::of(task, task.number_of("mib").map_or(BIG, |mib| mib * MIB));
    let page = black_box(PAGE);
    loop {
        let (start, mut offset) = (mapped.map(), 0);
        while offset < mapped.bytes {
            // SAFETY: within the mapping.
            unsafe { start.add(offset).write_volatile(1) };
            slot.count(1);
            offset += page;
        }
        mapped.unmap(start);
    }
}

#[inline(never)]
pub fn tlb_flush(slot: &Slot, task: &Task) -> ! {
    let of_file = task.is("memory", "file-private") || task.is("memory", "file-shared");
    let mapped = Mapped::of(task, if of_file { BIG } else { MIB });
    let left = u8::from(task.is("memory", "file-shared"));
    let page = black_box(PAGE);
    loop {
        let (start, mut offset) = (mapped.map(), 0);
        while offset < mapped.bytes {
            // SAFETY: within the mapping.
            unsafe {
                let here = start.add(offset);
                here.write_volatile(1);
                ok(libc::madvise(here.cast(), page, libc::MADV_DONTNEED));
                if here.read_volatile() != left {
                    die();
                }
            }
            slot.count(1);
            offset += page;
        }
        mapped.unmap(start);
    }
}

#[inline(never)]
pub fn brk(slot: &Slot, task: &Task) -> ! {
    /// What sbrk moves belongs to all threads.
    static MOVING: Mutex<()> = Mutex::new(());
    let own_page = if task.is("variant", "unshared") { PAGE } else { 0 };
    let moving = MOVING.lock();
    // SAFETY: asks where the heap ends, or makes it end a page further up.
    let end = unsafe { libc::sbrk(own_page as libc::intptr_t).byte_add(own_page) };
    drop(moving);
    let above = end.wrapping_byte_add(PAGE);
    // SAFETY: only what lies above the end comes and goes.
    slot.count_turns(1, || unsafe {
        ok(libc::brk(above));
        slot.count(1);
        ok(libc::brk(end));
    })
}

#[inline(never)]
pub fn malloc(slot: &Slot, task: &Task) -> ! {
    let bytes = task.number_of("size").unwrap_or(BIG);
    // SAFETY: freed once, used by nobody.
    slot.count_turns(1, || unsafe {
        let piece = black_box(libc::malloc(black_box(bytes)));
        if piece.is_null() {
            die();
        }
        libc::free(piece);
    })
}
