//! Asking whether files can be written to, which regular files always can: references to each file
//! and the poll table.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

use crate::harness::{
    Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, allow_open_files,
};

pub(super) const ONE: Workload = Workload {
    id: "poll/1",
    version: 1,
    description: "poll one file",
    operation: "one poll of 1 descriptor for POLLOUT, without waiting",
    stresses: "file reference, poll table",
    parameters: &[],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: prepare::<1>,
};

pub(super) const MANY: Workload = Workload {
    id: "poll/128",
    description: "poll 128 files",
    operation: "one poll of 128 descriptors for POLLOUT, without waiting",
    stresses: "128 file references (locked in threads), poll table",
    prepare: prepare::<128>,
    ..ONE
};

/// Descriptors a task needs beside those it polls.
const OTHERS: u64 = 10;

struct OwnFiles<const N: usize>;

fn prepare<const N: usize>(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let tables = match setup.mode {
        Mode::Process => 1,
        Mode::Thread => u64::from(setup.tasks),
    };
    allow_open_files((N as u64 + OTHERS) * tables)?;
    Ok(Box::new(OwnFiles::<N>))
}

impl<const N: usize> Prepared for OwnFiles<N> {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let file = |n: usize| {
            let path = format!("file{task}.{n}");
            let file = File::create_new(&path).map_err(|e| Fault::io("open", &e))?;
            fs::remove_file(&path).map_err(|e| Fault::io("unlink", &e))?;
            Ok(file)
        };
        let files = (0..N).map(file).collect::<Attempt<Vec<File>>>()?;
        Ok(Box::new(Polling::<N> { files }))
    }
}

struct Polling<const N: usize> {
    files: Vec<File>,
}

impl<const N: usize> Task for Polling<N> {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let fds: [libc::c_int; N] = std::array::from_fn(|i| self.files[i].as_raw_fd());
        Err(turn(&fds, ticks))
    }
}

#[inline(never)]
fn turn<const N: usize>(fds: &[libc::c_int; N], ticks: &Ticks) -> Fault {
    loop {
        let mut asked = fds.map(|fd| libc::pollfd { fd, events: libc::POLLOUT, revents: 0 });
        // SAFETY: asked is N entries long.
        let ready = unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, 0) };
        if ready != N as libc::c_int {
            return match ready {
                0.. => Fault::wrong("poll", format!("{ready} of {N} files can be written to")),
                _ => Fault::errno("poll"),
            };
        }
        ticks.tick();
    }
}
