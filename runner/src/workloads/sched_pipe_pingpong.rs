//! A byte to a partner and one back, through two pipes, on one core: two switches a turn. The
//! partner is a process or a thread, as tasks are; its CPU time counts as the task's.

use std::os::fd::RawFd;

use super::pairs::{not_read, pairs};
use crate::harness::{Attempt, Fault, Mode, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "sched/pipe-pingpong",
    version: 1,
    description: "a byte to a partner on the same core and one back",
    operation: "one switch to the partner or back, two a turn: write and read of 1 byte",
    stresses: "waking, switching, pipe lock",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup| Ok(pairs(setup, turn, answer)),
};

#[inline(never)]
fn turn(from: RawFd, to: RawFd, ticks: &Ticks) -> Fault {
    loop {
        if let Err(fault) = send(to).and_then(|()| receive(from)) {
            return fault;
        }
        ticks.tick_by(2);
    }
}

#[inline(never)]
fn answer(from: RawFd, to: RawFd) -> Fault {
    loop {
        if let Err(fault) = receive(from).and_then(|()| send(to)) {
            return fault;
        }
    }
}

#[inline(always)]
fn send(to: RawFd) -> Attempt<()> {
    // SAFETY: one byte that lives for the call.
    match unsafe { libc::write(to, [0u8].as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => Err(Fault::errno("write")),
    }
}

#[inline(always)]
fn receive(from: RawFd) -> Attempt<()> {
    let mut byte = [0u8];
    // SAFETY: room for one byte.
    match unsafe { libc::read(from, byte.as_mut_ptr().cast(), 1) } {
        1 => Ok(()),
        read => Err(not_read(read)),
    }
}
