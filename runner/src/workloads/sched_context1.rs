//! `UnixBench`'s context switching: a counter goes to a partner through one pipe and comes back
//! through another; both check that it is the number they expect.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, RawFd};

use super::syscall::LOOPS_PER_S;
use crate::harness::{Attempt, Fault, Mode, Partners, Prepared, Setup, Task, Ticks, Workload};

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
    prepare: |setup: &Setup<'_>| Ok(Box::new(Pairs { partners: setup.partners })),
};

struct Pairs {
    partners: Partners,
}

/// What one of a pair reads from and writes to. Nobody else holds these ends, so a partner that is
/// gone is noticed.
struct Ends {
    from: PipeReader,
    to: PipeWriter,
}

impl Prepared for Pairs {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let pipe = || std::io::pipe().map_err(|e| Fault::io("pipe", &e));
        let ((partners_from, to), (from, partners_to)) = (pipe()?, pipe()?);
        let partners = Ends { from: partners_from, to: partners_to };
        self.partners
            .start(task, move || answer(partners.from.as_raw_fd(), partners.to.as_raw_fd()))?;
        Ok(Box::new(Ends { from, to }))
    }
}

impl Task for Ends {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.from.as_raw_fd(), self.to.as_raw_fd(), ticks))
    }
}

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
        0 => Err(Fault::wrong("read", "the other one of the pair is gone")),
        _ => Err(Fault::errno("read")),
    }
}
