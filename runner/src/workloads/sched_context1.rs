//! `UnixBench`'s context switching: a counter goes to a partner through one pipe and comes back
//! through another; both check that it is the number they expect.

use std::os::fd::RawFd;

use super::pairs::{not_read, pairs};
use super::syscall::LOOPS_PER_S;
use crate::harness::{Attempt, Fault, Mode, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "sched/context1",
    version: 1,
    description: "a counter to a partner and back through two pipes, verified on both sides",
    operation: "one round trip: two switches, two writes and two reads of 8 bytes",
    stresses: "waking, switching, pipe lock",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup| Ok(pairs(setup, turn, answer)),
};

#[inline(never)]
fn turn(from: RawFd, to: RawFd, ticks: &Ticks) -> Fault {
    for count in 0.. {
        if let Err(fault) = send(to, count).and_then(|()| receive(from, count)) {
            return fault;
        }
        ticks.tick();
    }
    Fault::wrong("count", "more round trips than a counter holds")
}

#[inline(never)]
fn answer(from: RawFd, to: RawFd) -> Fault {
    for count in 0.. {
        if let Err(fault) = receive(from, count).and_then(|()| send(to, count)) {
            return fault;
        }
    }
    Fault::wrong("count", "more round trips than a counter holds")
}

#[inline(always)]
fn send(to: RawFd, count: u64) -> Attempt<()> {
    // SAFETY: eight bytes that live for the call.
    match unsafe { libc::write(to, (&raw const count).cast(), 8) } {
        8 => Ok(()),
        _ => Err(Fault::errno("write")),
    }
}

#[inline(always)]
fn receive(from: RawFd, expected: u64) -> Attempt<()> {
    let mut count = 0u64;
    // SAFETY: room for eight bytes.
    match unsafe { libc::read(from, (&raw mut count).cast(), 8) } {
        8 if count == expected => Ok(()),
        8 => Err(Fault::wrong("read", format!("{count} came back for {expected}"))),
        read => Err(not_read(read)),
    }
}
