//! Processes and programs: forked, replaced, put into a place of their own.

use std::ffi::CString;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use super::{COMMON, Slot, Task, add, die, files, ok};

/// First argument of the benchmark's program as one of the chain of [`execl`].
pub const NEXT_ARGUMENT: &str = "__next";

const TRUE: &std::ffi::CStr = c"/bin/true";
const ITSELF: &std::ffi::CStr = c"/proc/self/exe";

/// Waits for a child that must end well; its CPU time counts.
#[inline(always)]
fn wait_for(child: libc::pid_t, slot: &Slot) {
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage; both are valid for the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        ok(libc::wait4(child, &raw mut status, 0, &raw mut usage));
        usage
    };
    if status != 0 {
        die();
    }
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    add(&slot.children_ns, (us(usage.ru_utime) + us(usage.ru_stime)) * 1000);
}

#[inline(never)]
pub fn spawn(slot: &Slot, _: &Task) -> ! {
    // SAFETY: the child does nothing but exit.
    slot.count_turns(1, || unsafe {
        let child = ok(libc::fork());
        if child == 0 {
            libc::_exit(0);
        }
        wait_for(child, slot);
    })
}

#[inline(never)]
pub fn exec(slot: &Slot, _: &Task) -> ! {
    // SAFETY: the child executes a program or exits; NUL-terminated strings, a null at the end.
    slot.count_turns(1, || unsafe {
        let child = ok(libc::fork());
        if child == 0 {
            libc::execl(TRUE.as_ptr(), TRUE.as_ptr(), ptr::null::<libc::c_char>());
            libc::_exit(127);
        }
        wait_for(child, slot);
    })
}

/// Replaces itself by the same program for ever; the first one begins the chain.
#[inline(never)]
pub fn execl(_: &Slot, task: &Task) -> ! {
    let memory = COMMON.slots.load(Relaxed);
    // SAFETY: the descriptor is open; the next programs need it.
    ok(unsafe { libc::fcntl(memory, libc::F_SETFD, 0) });
    replace(memory, task.number * size_of::<Slot>(), 0)
}

/// One program of the chain: counts by a store into the memory of the slots, and goes on.
pub fn next_program(arguments: impl Iterator<Item = String>) -> ! {
    let numbers: Vec<usize> = arguments.filter_map(|number| number.parse().ok()).collect();
    let [memory, place, count] = numbers[..] else { die() };
    let count = count as u64 + 1;
    let bytes = count.to_ne_bytes();
    // SAFETY: the bytes live for the call.
    let written = unsafe {
        let (memory, place) = (memory as libc::c_int, place as libc::off_t);
        libc::pwrite(memory, bytes.as_ptr().cast(), bytes.len(), place)
    };
    super::whole(written, bytes.len());
    replace(memory as libc::c_int, place, count)
}

fn replace(memory: libc::c_int, place: usize, count: u64) -> ! {
    let numbers = [memory.to_string(), place.to_string(), count.to_string()];
    let words = ["bare".to_owned(), NEXT_ARGUMENT.to_owned()].into_iter().chain(numbers);
    let words: Vec<CString> = words.map(files::path).collect();
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(ptr::null());
    // SAFETY: NUL-terminated strings in a null-terminated list, which live for the call.
    unsafe { libc::execv(ITSELF.as_ptr(), pointers.as_ptr()) };
    die()
}

/// The loop of fallocate in a folder of its own, or in a mount of its own too.
#[inline(never)]
pub fn container(slot: &Slot, task: &Task) -> ! {
    let folder = files::path(format!("container{}", task.number));
    // SAFETY: pointers are null or to NUL-terminated strings that live for the calls.
    unsafe {
        ok(libc::mkdir(folder.as_ptr(), 0o700));
        if task.is("isolation", "namespace") {
            let (user, group) = (libc::geteuid(), libc::getegid());
            if libc::unshare(libc::CLONE_NEWNS) < 0 {
                ok(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS));
                let write = |file: &str, text: String| {
                    std::fs::write(format!("/proc/self/{file}"), text).unwrap_or_else(|_| die());
                };
                write("setgroups", "deny".into());
                write("uid_map", format!("{user} {user} 1"));
                write("gid_map", format!("{group} {group} 1"));
            }
            let (none, from) = (ptr::null(), folder.as_ptr());
            let apart = libc::MS_REC | libc::MS_PRIVATE;
            ok(libc::mount(none, c"/".as_ptr(), none, apart, ptr::null()));
            ok(libc::mount(from, from, none, libc::MS_BIND, ptr::null()));
        }
        ok(libc::chdir(folder.as_ptr()));
    }
    files::fallocate(slot, task)
}
