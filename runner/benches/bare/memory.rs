//! Mappings, page faults, the C library's memory and locks.

use std::cell::UnsafeCell;
use std::hint::black_box;

use super::{Slot, die, ok};

const BIG: usize = 128 << 20;
const SMALL: usize = 1 << 20;
const PAGE: usize = 4096;

fn map(bytes: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh address range.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        die();
    }
    start.cast()
}

fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: a mapping of map that nobody uses any more.
    ok(unsafe { libc::munmap(start.cast(), bytes) });
}

#[inline(never)]
pub fn mmap(slot: &Slot, _: usize) -> ! {
    slot.count_turns(1, || unmap(map(BIG), BIG))
}

#[inline(never)]
pub fn fault(slot: &Slot, _: usize) -> ! {
    loop {
        let start = map(BIG);
        for offset in (0..BIG).step_by(PAGE) {
            // SAFETY: within the mapping.
            unsafe { start.add(offset).write_volatile(1) };
            slot.count(1);
        }
        unmap(start, BIG);
    }
}

#[inline(never)]
pub fn tlb_flush(slot: &Slot, _: usize) -> ! {
    loop {
        let start = map(SMALL);
        for offset in (0..SMALL).step_by(PAGE) {
            // SAFETY: within the mapping.
            unsafe {
                let here = start.add(offset);
                here.write_volatile(1);
                ok(libc::madvise(here.cast(), PAGE, libc::MADV_DONTNEED));
                if here.read_volatile() != 0 {
                    die();
                }
            }
            slot.count(1);
        }
        unmap(start, SMALL);
    }
}

#[inline(never)]
pub fn brk(slot: &Slot, _: usize) -> ! {
    // SAFETY: asks where the heap ends; then only what lies above it comes and goes.
    unsafe {
        let end = libc::sbrk(0);
        let above = end.byte_add(PAGE);
        slot.count_turns(2, || {
            ok(libc::brk(above));
            ok(libc::brk(end));
        })
    }
}

#[inline(never)]
pub fn malloc(slot: &Slot, _: usize) -> ! {
    // SAFETY: freed once, used by nobody.
    slot.count_turns(1, || unsafe {
        let piece = black_box(libc::malloc(black_box(BIG)));
        if piece.is_null() {
            die();
        }
        libc::free(piece);
    })
}

#[inline(never)]
pub fn futex(slot: &Slot, _: usize) -> ! {
    let word = 0u32;
    let none = std::ptr::null::<libc::timespec>();
    // SAFETY: the word lives as long as the loop.
    slot.count_turns(1, || unsafe {
        libc::syscall(libc::SYS_futex, &raw const word, libc::FUTEX_WAKE, 1, none, none, 0);
    })
}

struct Shared(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made to be used by several threads.
unsafe impl Sync for Shared {}

#[inline(never)]
pub fn mutex(slot: &Slot, _: usize) -> ! {
    static MUTEX: Shared = Shared(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
    // SAFETY: initialised, and never moves.
    slot.count_turns(1, || unsafe {
        ok(-libc::pthread_mutex_lock(MUTEX.0.get()));
        ok(-libc::pthread_mutex_unlock(MUTEX.0.get()));
    })
}

#[inline(never)]
pub fn semaphore(slot: &Slot, _: usize) -> ! {
    // SAFETY: room for a semaphore, which sem_init then makes one.
    let semaphore = UnsafeCell::new(unsafe { std::mem::zeroed::<libc::sem_t>() });
    let semaphore = semaphore.get();
    // SAFETY: room for one semaphore that does not move.
    ok(unsafe { libc::sem_init(semaphore, 0, 1) });
    // SAFETY: initialised just now; it lives as long as the loop.
    slot.count_turns(1, || unsafe {
        ok(libc::sem_wait(semaphore));
        ok(libc::sem_post(semaphore));
    })
}
