//! Bytes that a task sends to itself: a pipe, a pair of sockets, an event counter. Nobody waits;
//! what is measured is the way in and out.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check};

pub(super) const PIPE: Workload = Workload {
    id: "ipc/pipe",
    version: 1,
    description: "write a byte into a pipe and read it back",
    operation: "one write and read of 1 byte",
    stresses: "pipe buffer, its lock, waking of readers",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Kind::Pipe)),
};

pub(super) const UNIX: Workload = Workload {
    id: "ipc/unix",
    description: "send a byte through a pair of unix sockets",
    operation: "one write into one socket and read from the other, 1 byte",
    stresses: "socket buffer allocation, memory cgroup charge, queue lock",
    prepare: |_: &Setup<'_>| Ok(Box::new(Kind::Unix)),
    ..PIPE
};

pub(super) const EVENTFD: Workload = Workload {
    id: "ipc/eventfd",
    description: "add to an event counter and take it back",
    operation: "one write and read of 8 bytes",
    stresses: "lock of the counter's wait queue",
    prepare: |_: &Setup<'_>| Ok(Box::new(Kind::Eventfd)),
    ..PIPE
};

enum Kind {
    Pipe,
    Unix,
    Eventfd,
}

impl Prepared for Kind {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(match self {
            Kind::Pipe => {
                let (reader, writer) = std::io::pipe().map_err(|e| Fault::io("pipe", &e))?;
                Box::new(Pipe { reader, writer })
            }
            Kind::Unix => {
                let (reader, writer) =
                    UnixStream::pair().map_err(|e| Fault::io("socketpair", &e))?;
                Box::new(Unix { reader, writer })
            }
            Kind::Eventfd => {
                // SAFETY: touches no memory of ours.
                let fd = check("eventfd", unsafe { libc::eventfd(0, 0) })?;
                // SAFETY: fresh and ours.
                Box::new(Eventfd { counter: unsafe { OwnedFd::from_raw_fd(fd) } })
            }
        })
    }
}

struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
}

struct Unix {
    reader: UnixStream,
    writer: UnixStream,
}

struct Eventfd {
    counter: OwnedFd,
}

impl Task for Pipe {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.writer.as_raw_fd(), self.reader.as_raw_fd(), [0u8; 1], ticks))
    }
}

impl Task for Unix {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.writer.as_raw_fd(), self.reader.as_raw_fd(), [0u8; 1], ticks))
    }
}

impl Task for Eventfd {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let fd = self.counter.as_raw_fd();
        Err(turn(fd, fd, 1u64.to_ne_bytes(), ticks))
    }
}

#[inline(never)]
fn turn<const N: usize>(to: libc::c_int, from: libc::c_int, sent: [u8; N], ticks: &Ticks) -> Fault {
    let mut received = [0u8; N];
    loop {
        // SAFETY: sent is N bytes long.
        if unsafe { libc::write(to, sent.as_ptr().cast(), N) } != N as isize {
            return Fault::errno("write");
        }
        // SAFETY: received has room for N bytes.
        if unsafe { libc::read(from, received.as_mut_ptr().cast(), N) } != N as isize {
            return Fault::errno("read");
        }
        ticks.tick();
    }
}
