//! The loops of the memory and lock families with nothing around them, at their defaults.

use std::ptr;
use std::sync::atomic::AtomicU64;

use super::{die, tick};

const ACCESS: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const ANONYMOUS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
const LARGE: usize = 128 << 20;

fn map(bytes: usize) -> *mut u8 {
    // SAFETY: the kernel chooses a range that is free.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, ACCESS, ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        die();
    }
    start.cast()
}

fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the whole of a mapping that nothing refers to.
    if unsafe { libc::munmap(start.cast(), bytes) } < 0 {
        die();
    }
}

fn page() -> usize {
    // SAFETY: reads a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

#[inline(never)]
pub fn mmap(counter: &AtomicU64) -> ! {
    loop {
        unmap(map(LARGE), LARGE);
        tick(counter);
    }
}

#[inline(never)]
pub fn fault(counter: &AtomicU64) -> ! {
    let page = page();
    loop {
        let start = map(LARGE);
        for offset in (0..LARGE).step_by(page) {
            // SAFETY: within the mapping.
            unsafe { start.add(offset).write_volatile(1) };
            tick(counter);
        }
        unmap(start, LARGE);
    }
}

#[inline(never)]
pub fn tlb_flush(counter: &AtomicU64) -> ! {
    let (page, bytes) = (page(), 1 << 20);
    loop {
        let start = map(bytes);
        for offset in (0..bytes).step_by(page) {
            // SAFETY: the page at offset lies within the mapping.
            unsafe {
                let here = start.add(offset);
                here.write_volatile(1);
                libc::madvise(here.cast(), page, libc::MADV_DONTNEED);
                if here.read_volatile() != 0 {
                    die();
                }
            }
            tick(counter);
        }
        unmap(start, bytes);
    }
}

#[inline(never)]
pub fn brk(counter: &AtomicU64) -> ! {
    // SAFETY: asks where the heap ends; then only what lies above it comes and goes.
    unsafe {
        let end = libc::sbrk(0);
        let above = end.byte_add(page());
        loop {
            if libc::brk(above) < 0 {
                die();
            }
            tick(counter);
            if libc::brk(end) < 0 {
                die();
            }
            tick(counter);
        }
    }
}

#[inline(never)]
pub fn malloc(counter: &AtomicU64) -> ! {
    loop {
        // SAFETY: what malloc gave, given back once.
        unsafe {
            let piece = std::hint::black_box(libc::malloc(std::hint::black_box(LARGE)));
            if piece.is_null() {
                die();
            }
            libc::free(piece);
        }
        tick(counter);
    }
}

#[inline(never)]
pub fn futex(counter: &AtomicU64) -> ! {
    let mut word = 0u32;
    let none = ptr::null::<libc::timespec>();
    loop {
        // SAFETY: the word lives for the call, the other pointers are null.
        let woken = unsafe {
            libc::syscall(libc::SYS_futex, &raw mut word, libc::FUTEX_WAKE, 1, none, none, 0)
        };
        if woken != 0 {
            die();
        }
        tick(counter);
    }
}

#[inline(never)]
pub fn mutex(counter: &AtomicU64) -> ! {
    let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    let mutex = &raw mut mutex;
    loop {
        // SAFETY: an initialised mutex that does not move.
        if unsafe { libc::pthread_mutex_lock(mutex) | libc::pthread_mutex_unlock(mutex) } != 0 {
            die();
        }
        tick(counter);
    }
}

#[inline(never)]
pub fn sem(counter: &AtomicU64) -> ! {
    // SAFETY: room for one semaphore that does not move, initialised before it is used.
    unsafe {
        let mut semaphore: libc::sem_t = std::mem::zeroed();
        let semaphore = &raw mut semaphore;
        if libc::sem_init(semaphore, 0, 1) < 0 {
            die();
        }
        loop {
            if libc::sem_wait(semaphore) < 0 || libc::sem_post(semaphore) < 0 {
                die();
            }
            tick(counter);
        }
    }
}
