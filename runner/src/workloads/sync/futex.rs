//! The futex call where nobody sleeps: a wake that finds no sleeper, or a wait for a value that is
//! not there. Each task has a word of its own; what they share is the kernel's hash table.

use std::sync::atomic::AtomicU32;

use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "sync/futex",
    version: 1,
    description: "futex calls that neither wake nor sleep",
    operation: "one futex(FUTEX_WAKE) without a sleeper, or futex(FUTEX_WAIT) for another value",
    stresses: "futex key and hash bucket; for shared ones the page behind the address",
    parameters: &[
        Parameter {
            name: "op",
            default: "wake",
            allowed: Allowed::OneOf(&["wake", "wait"]),
            about: "wake one sleeper, or sleep while the word has a value it has not",
        },
        Parameter {
            name: "scope",
            default: "shared",
            allowed: Allowed::OneOf(&["shared", "private"]),
            about: "whether other processes could use the word",
        },
    ],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

#[derive(Clone, Copy)]
struct Call {
    op: libc::c_int,
    value: u32,
    /// The call's answer; below 0 the errno.
    answer: libc::c_long,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let (op, value, answer) = match setup.values.word("op") {
        "wait" => (libc::FUTEX_WAIT, 1, -libc::c_long::from(libc::EAGAIN)),
        _ => (libc::FUTEX_WAKE, 1, 0),
    };
    let scope = match setup.values.word("scope") {
        "private" => libc::FUTEX_PRIVATE_FLAG,
        _ => 0,
    };
    Ok(Box::new(Call { op: op | scope, value, answer }))
}

impl Prepared for Call {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(*self))
    }
}

impl Task for Call {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(*self, ticks))
    }
}

#[inline(never)]
fn turn(call: Call, ticks: &Ticks) -> Fault {
    let word = AtomicU32::new(0);
    let none = std::ptr::null::<libc::timespec>();
    loop {
        // SAFETY: the word lives for the call, the other pointers are null.
        let answer = unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), call.op, call.value, none, none, 0)
        };
        if answer != call.answer && (answer >= 0 || -errno() != call.answer) {
            return Fault::errno("futex");
        }
        ticks.tick();
    }
}

#[inline(always)]
fn errno() -> libc::c_long {
    // SAFETY: answers the address of the calling thread's own variable.
    libc::c_long::from(unsafe { *libc::__errno_location() })
}
