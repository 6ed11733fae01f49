//! `UnixBench`'s file copy: an own file is copied into another, a buffer at a time, both from the
//! beginning again at its end. Both files have their full size before the gate opens.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};

use wire::{Direction, Unit};

use super::files::{Page, own_file, pages};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Workload,
    check,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "fs/copy",
    version: 2,
    description: "copy an own file over another, a buffer at a time",
    operation: "one read and one write of a buffer",
    stresses: "page cache, buffered reads and overwrites",
    parameters: &[
        Parameter {
            name: "bufsize",
            default: "1024",
            allowed: Allowed::Whole(1, 1 << 24),
            about: "bytes of a buffer",
        },
        Parameter {
            name: "blocks",
            default: "2000",
            allowed: Allowed::Whole(1, 1 << 24),
            about: "size of a file, KiB",
        },
    ],
    metrics: &[SideMetric {
        name: "mib_per_s",
        unit: Unit::MebibytesPerSecond,
        direction: Direction::Higher,
        value: |window| {
            let mib = window.word(BYTES) as f64 / f64::from(1 << 20);
            Some(mib / (window.dt_ns as f64 / 1e9))
        },
    }],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

/// Counter word: bytes copied.
const BYTES: usize = 1;

struct Files {
    buffer: usize,
    size: usize,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let (buffer, blocks) = (setup.values.whole("bufsize")?, setup.values.whole("blocks")?);
    let (buffer, size) = (buffer as usize, blocks as usize * 1024);
    if buffer > size {
        return Err(Fault::wrong("bufsize", format!("{buffer} is more than a file of {size}")));
    }
    Ok(Box::new(Files { buffer, size }))
}

impl Prepared for Files {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let full = || -> Attempt<File> {
            let mut file = own_file(task)?;
            let piece = vec![0x55; self.buffer];
            for _ in 0..self.size / self.buffer {
                file.write_all(&piece).map_err(|e| Fault::io("write", &e))?;
            }
            Ok(file)
        };
        Ok(Box::new(Copying {
            from: full()?,
            to: full()?,
            memory: pages(self.buffer),
            bytes: self.buffer,
        }))
    }
}

struct Copying {
    from: File,
    to: File,
    /// Begins at a page, as what is in the page cache does.
    memory: Vec<Page>,
    bytes: usize,
}

impl Task for Copying {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            for fd in [self.from.as_raw_fd(), self.to.as_raw_fd()] {
                // SAFETY: the descriptor is open.
                check("lseek", unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } as i32)?;
            }
            // SAFETY: the memory is the task's own and holds that many bytes.
            unsafe {
                let memory = self.memory.as_mut_ptr().cast();
                copy(self.from.as_raw_fd(), self.to.as_raw_fd(), memory, self.bytes, ticks)?;
            }
        }
    }
}

/// Copies until the end of `from`.
///
/// # Safety
/// `bytes` bytes at `memory` are the caller's own.
#[inline(never)]
unsafe fn copy(
    from: RawFd,
    to: RawFd,
    memory: *mut libc::c_void,
    bytes: usize,
    ticks: &Ticks,
) -> Attempt<()> {
    loop {
        // SAFETY: by contract.
        let got = unsafe { libc::read(from, memory, bytes) };
        if got <= 0 {
            return if got == 0 { Ok(()) } else { Err(Fault::errno("read")) };
        }
        // SAFETY: no more than was read.
        let put = unsafe { libc::write(to, memory, got as usize) };
        if put != got {
            return Err(Fault::errno("write"));
        }
        ticks.add(BYTES, got as u64);
        ticks.tick();
    }
}
