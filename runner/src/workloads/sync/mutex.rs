//! The C library's mutex: lock, perhaps change a number, unlock. As threads the tasks contend for
//! one mutex, unless it is on each one's stack; as processes each has its own copy of it.

use std::cell::{Cell, UnsafeCell};

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "sync/mutex",
    version: 1,
    description: "lock and unlock a mutex of the C library",
    operation: "one pthread_mutex_lock and pthread_mutex_unlock",
    stresses: "one contended cache line and futex among threads; else user-space atomics alone",
    parameters: &[Parameter {
        name: "variant",
        default: "contended",
        allowed: Allowed::OneOf(&["contended", "uncontended", "global", "local", "tls"]),
        about: "one mutex for all or each its own; or one for all, and a number increased under it \
                that is global, on the stack, or the thread's own",
    }],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// A mutex and the number beside it, as two static variables of a C program lie.
#[repr(C, align(64))]
struct Guarded {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    number: UnsafeCell<u64>,
}

// SAFETY: the mutex is made for threads, and the number is touched only by who holds it.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new() -> Guarded {
        Guarded {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            number: UnsafeCell::new(0),
        }
    }
}

struct OneForAll {
    variant: String,
    guarded: Guarded,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let variant = setup.values.word("variant").to_owned();
    Ok(Box::new(OneForAll { variant, guarded: Guarded::new() }))
}

impl Prepared for OneForAll {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Locking { all: self }))
    }
}

struct Locking<'a> {
    all: &'a OneForAll,
}

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

impl Task for Locking<'_> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let guarded = &self.all.guarded;
        let (own, mut local) = (Guarded::new(), 0);
        let global = guarded.number.get();
        // SAFETY: each mutex lives until its loop ends; the numbers are touched under the lock.
        Err(unsafe {
            match &*self.all.variant {
                "uncontended" => turn(&own, || {}, ticks),
                "global" => turn(guarded, || increase(global), ticks),
                // In the loop's own frame.
                "local" => turn(guarded, move || increase(&raw mut local), ticks),
                "tls" => turn(guarded, || NUMBER.with(|number| increase(number.as_ptr())), ticks),
                _ => turn(guarded, || {}, ticks),
            }
        })
    }
}

/// One load and one store, whatever the compiler thinks of them.
///
/// # Safety
/// Nobody else uses the number meanwhile.
#[inline(always)]
unsafe fn increase(number: *mut u64) {
    // SAFETY: by contract.
    unsafe { number.write_volatile(number.read_volatile().wrapping_add(1)) };
}

/// # Safety
/// `update` may be called by whoever holds the mutex.
#[inline(never)]
unsafe fn turn(guarded: &Guarded, mut update: impl FnMut(), ticks: &Ticks) -> Fault {
    let mutex = guarded.mutex.get();
    loop {
        // SAFETY: an initialised mutex that does not move.
        let locked = unsafe { libc::pthread_mutex_lock(mutex) };
        update();
        // SAFETY: held since the line above.
        let unlocked = unsafe { libc::pthread_mutex_unlock(mutex) };
        if (locked | unlocked) != 0 {
            let error = std::io::Error::from_raw_os_error(locked | unlocked);
            return Fault::io("pthread_mutex_lock", &error);
        }
        ticks.tick();
    }
}
