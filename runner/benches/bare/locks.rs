//! The C library's locks, and the system call beneath them.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::AtomicU32;

use super::{Slot, Task, die, ok};

#[inline(never)]
pub fn futex(slot: &Slot, task: &Task) -> ! {
    let waits = task.is("op", "wait");
    let op = if waits { libc::FUTEX_WAIT } else { libc::FUTEX_WAKE };
    let private = if task.is("scope", "private") { libc::FUTEX_PRIVATE_FLAG } else { 0 };
    let (op, answer) = (op | private, if waits { -1 } else { 0 });
    let word = AtomicU32::new(0);
    let none = std::ptr::null::<libc::timespec>();
    // SAFETY: the word lives as long as the loop.
    slot.count_turns(1, || unsafe {
        if libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1, none, none, 0) != answer {
            die();
        }
    })
}

/// A mutex and a number, on a cache line of their own.
#[repr(C, align(64))]
struct Guarded {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    number: UnsafeCell<u64>,
}

// SAFETY: the mutex is made for threads, and the number is touched under it.
unsafe impl Sync for Guarded {}

impl Guarded {
    const fn new() -> Guarded {
        Guarded {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            number: UnsafeCell::new(0),
        }
    }
}

static SHARED: Guarded = Guarded::new();

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

#[inline(always)]
fn increase(number: *mut u64) {
    // SAFETY: a number that nobody else uses now.
    unsafe { number.write_volatile(number.read_volatile() + 1) };
}

#[inline(always)]
fn locked(slot: &Slot, mutex: *mut libc::pthread_mutex_t, mut inside: impl FnMut()) -> ! {
    // SAFETY: initialised, and never moves.
    slot.count_turns(1, || unsafe {
        ok(-libc::pthread_mutex_lock(mutex));
        inside();
        ok(-libc::pthread_mutex_unlock(mutex));
    })
}

#[inline(never)]
pub fn mutex(slot: &Slot, task: &Task) -> ! {
    let (own, mut local) = (Guarded::new(), 0);
    let (shared, global) = (SHARED.mutex.get(), SHARED.number.get());
    if task.is("variant", "uncontended") {
        locked(slot, own.mutex.get(), || {})
    } else if task.is("variant", "global") {
        locked(slot, shared, || increase(global))
    } else if task.is("variant", "local") {
        locked(slot, shared, move || increase(&raw mut local))
    } else if task.is("variant", "tls") {
        locked(slot, shared, || NUMBER.with(|number| increase(number.as_ptr())))
    } else {
        locked(slot, shared, || {})
    }
}

#[inline(never)]
pub fn semaphore(slot: &Slot, _: &Task) -> ! {
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
