//! The child's lines to its parent, written without ever waiting while tasks run.
//!
//! A parent that is slow to read (its CPU is full of tasks) must not hold up a window: what the
//! pipe does not take stays here until the next line, and the rest is written at the end.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd};

use super::fault::{Attempt, Fault, check};
use super::message::Message;

/// Lines not yet taken by the pipe.
pub(crate) struct Outbox {
    pipe: File,
    waiting: Vec<u8>,
}

impl Outbox {
    /// An outbox on standard output.
    ///
    /// # Errors
    /// When standard output is closed.
    pub fn on_standard_output() -> Attempt<Outbox> {
        let copy = std::io::stdout().as_fd().try_clone_to_owned();
        let pipe = File::from(copy.map_err(|e| Fault::io("dup", &e))?);
        let outbox = Outbox { pipe, waiting: vec![] };
        outbox.wait_for_reader(false)?;
        Ok(outbox)
    }

    /// Adds a line and writes what the pipe takes now.
    pub fn tell(&mut self, message: &Message) {
        serde_json::to_writer(&mut self.waiting, message)
            .expect("numbers of a measurement are finite");
        self.waiting.push(b'\n');
        loop {
            match self.pipe.write(&self.waiting) {
                Ok(written) if written > 0 => drop(self.waiting.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Full, or a parent that is dead; its death ends this process by itself.
                _ => return,
            }
            if self.waiting.is_empty() {
                return;
            }
        }
    }

    /// Writes all that is left, at the pace of the reader.
    pub fn finish(mut self) {
        if self.wait_for_reader(true).is_ok() {
            let _ = self.pipe.write_all(&self.waiting);
        }
    }

    fn wait_for_reader(&self, wait: bool) -> Attempt<()> {
        let flags = if wait { 0 } else { libc::O_NONBLOCK };
        // SAFETY: sets a flag of a descriptor that is open as long as self.
        check("fcntl", unsafe { libc::fcntl(self.pipe.as_raw_fd(), libc::F_SETFL, flags) })
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_reader_that_comes_late_holds_up_nothing_and_loses_no_line() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let pipe = File::from(std::os::fd::OwnedFd::from(writer));
        let mut outbox = Outbox { pipe, waiting: vec![] };
        outbox.wait_for_reader(false).expect("the pipe is open");
        let window = wire::Window { dt_ns: 1, ops: vec![7; 4096], cpu_ns: vec![9; 4096] };
        let lines = 40;
        for done in 1..=lines {
            outbox.tell(&Message::Window { done, window: window.clone() });
        }
        assert!(!outbox.waiting.is_empty(), "the pipe took more than a pipe holds");
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        outbox.finish();
        let text = read.join().expect("no panic").expect("text");
        let heard = text.lines().map(|line| match serde_json::from_str(line) {
            Ok(Message::Window { done, window: heard }) if heard == window => done,
            other => panic!("{other:?}"),
        });
        assert_eq!(heard.collect::<Vec<_>>(), (1..=lines).collect::<Vec<_>>());
    }
}
