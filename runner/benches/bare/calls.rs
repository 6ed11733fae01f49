//! System calls without files worth speaking of, and none at all.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;

use super::{COMMON, Slot, Task, ok};

#[inline(never)]
pub fn int_loop(slot: &Slot, _: &Task) -> ! {
    slot.count_turns(1, || {
        let mut x = black_box(1u64);
        for _ in 0..256 {
            x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        }
        black_box(x);
    })
}

#[inline(never)]
pub fn getppid(slot: &Slot, _: &Task) -> ! {
    // SAFETY: no arguments.
    slot.count_turns(1, || unsafe {
        libc::getppid();
    })
}

#[inline(never)]
pub fn getpid(slot: &Slot, _: &Task) -> ! {
    // SAFETY: no arguments.
    slot.count_turns(1, || unsafe {
        libc::syscall(libc::SYS_getpid);
    })
}

#[inline(never)]
pub fn sched_yield(slot: &Slot, _: &Task) -> ! {
    // SAFETY: no arguments.
    slot.count_turns(1, || unsafe {
        ok(libc::sched_yield());
    })
}

/// The read end of a pipe whose write end is closed.
fn lone_end() -> libc::c_int {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, both ours.
    unsafe {
        ok(libc::pipe(ends.as_mut_ptr()));
        ok(libc::close(ends[1]));
    }
    ends[0]
}

#[inline(never)]
pub fn close(slot: &Slot, _: &Task) -> ! {
    let fd = lone_end();
    // SAFETY: the copy is this loop's own.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::dup(fd))));
    })
}

#[inline(always)]
fn mix_of(fd: libc::c_int, slot: &Slot) -> ! {
    // SAFETY: the copy is this loop's own; the other calls cannot fail.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::dup(fd))));
        libc::syscall(libc::SYS_getpid);
        libc::getuid();
        libc::umask(0o022);
    })
}

#[inline(never)]
pub fn mix(slot: &Slot, _: &Task) -> ! {
    mix_of(lone_end(), slot)
}

/// On one open file that all tasks have from before they were.
#[inline(never)]
pub fn mix_shared(slot: &Slot, _: &Task) -> ! {
    mix_of(COMMON.file.load(Relaxed), slot)
}

extern "C" fn do_nothing(_signal: libc::c_int) {}

#[inline(never)]
pub fn raise(slot: &Slot, _: &Task) -> ! {
    // SAFETY: all-zero is a valid sigaction; the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as usize;
        ok(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()));
    }
    // SAFETY: the signal is handled.
    slot.count_turns(1, || unsafe {
        ok(libc::raise(libc::SIGUSR1));
    })
}
