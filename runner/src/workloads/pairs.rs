//! Tasks with a partner on the same core, which talk through two pipes.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, RawFd};

use crate::harness::{Attempt, Fault, Partners, Prepared, Setup, Task, Ticks};

/// The task's loop: reads from the first pipe's end, writes to the second.
pub(super) type Turns = fn(RawFd, RawFd, &Ticks) -> Fault;
/// The partner's.
pub(super) type Answers = fn(RawFd, RawFd) -> Fault;

/// Pairs of a task at `turns` and a partner at `answers`.
pub(super) fn pairs(setup: &Setup<'_>, turns: Turns, answers: Answers) -> Box<dyn Prepared> {
    Box::new(Pairs { partners: setup.partners, turns, answers })
}

struct Pairs {
    partners: Partners,
    turns: Turns,
    answers: Answers,
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
        let (partners, answers) = (Ends { from: partners_from, to: partners_to }, self.answers);
        let answer = move || answers(partners.from.as_raw_fd(), partners.to.as_raw_fd());
        self.partners.start(task, answer)?;
        Ok(Box::new(Talking { ends: Ends { from, to }, turns: self.turns }))
    }
}

struct Talking {
    ends: Ends,
    turns: Turns,
}

impl Task for Talking {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err((self.turns)(self.ends.from.as_raw_fd(), self.ends.to.as_raw_fd(), ticks))
    }
}

/// The fault of a read from a pipe that gave `read` bytes where more were due.
#[cold]
pub(super) fn not_read(read: isize) -> Fault {
    match read {
        0 => Fault::wrong("read", "the other one of the pair is gone"),
        _ => Fault::errno("read"),
    }
}
