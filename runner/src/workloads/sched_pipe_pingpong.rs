//! A byte to a partner and one back, through two pipes, on one core: two switches a turn. The
//! partner is a process or a thread, as tasks are; its CPU time counts as the task's.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsRawFd;

use crate::harness::{Attempt, Fault, Mode, Partners, Prepared, Setup, Task, Ticks, Workload};

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
        self.partners.start(task, move || answer(&partners))?;
        Ok(Box::new(Ends { from, to }))
    }
}

impl Task for Ends {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.to.as_raw_fd(), self.from.as_raw_fd(), ticks))
    }
}

#[inline(never)]
fn turn(to: libc::c_int, from: libc::c_int, ticks: &Ticks) -> Fault {
    loop {
        if let Err(fault) = send(to).and_then(|()| receive(from)) {
            return fault;
        }
        ticks.tick_by(2);
    }
}

#[inline(never)]
fn answer(ends: &Ends) -> Fault {
    let (from, to) = (ends.from.as_raw_fd(), ends.to.as_raw_fd());
    loop {
        if let Err(fault) = receive(from).and_then(|()| send(to)) {
            return fault;
        }
    }
}

#[inline(always)]
fn send(to: libc::c_int) -> Attempt<()> {
    // SAFETY: one byte that lives for the call.
    match unsafe { libc::write(to, [0u8].as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => Err(Fault::errno("write")),
    }
}

#[inline(always)]
fn receive(from: libc::c_int) -> Attempt<()> {
    let mut byte = [0u8];
    // SAFETY: room for one byte.
    match unsafe { libc::read(from, byte.as_mut_ptr().cast(), 1) } {
        1 => Ok(()),
        0 => Err(Fault::wrong("read", "the other one of the pair is gone")),
        _ => Err(Fault::errno("read")),
    }
}
