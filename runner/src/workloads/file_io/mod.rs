//! Reading and writing blocks of a file, one after the other or at one place again and again. The
//! layout says what tasks share: nothing, one block of one file, or one file with a block for each.

mod turns;

use std::fs::File;
use std::os::fd::AsRawFd;

use super::files::{
    OWN_OR_SAME, Page, fill, make_shared_file, open_shared_file, own_file_with, pages,
};
use crate::harness::{
    Allowed, Attempt, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload, page_size,
};
use turns::{Block, Turns};

/// Bytes of a file that is read or written from beginning to end.
const WHOLE: usize = 1 << 20;

/// What makes one workload of the family.
struct Kind {
    turns: Turns,
    writes: bool,
    /// From beginning to end, over a file of [`WHOLE`] bytes.
    whole: bool,
    /// Whether the shared file is open for writing even though nothing is written.
    opens_to_write: bool,
}

const fn kind(turns: Turns) -> Kind {
    Kind { turns, writes: false, whole: false, opens_to_write: false }
}

const READ: Kind = Kind { whole: true, ..kind(turns::read) };
const WRITE: Kind = Kind { whole: true, writes: true, ..kind(turns::write) };
const PREAD: Kind = kind(turns::pread);
const PWRITE: Kind = Kind { writes: true, ..kind(turns::pwrite) };
const SEEK_READ: Kind = Kind { opens_to_write: true, ..kind(turns::seek_read) };
const SEEK_WRITE: Kind = Kind { writes: true, ..kind(turns::seek_write) };

const IO: Parameter = Parameter {
    name: "io",
    default: "buffered",
    allowed: Allowed::OneOf(&["buffered", "direct"]),
    about: "through the page cache, or O_DIRECT in blocks of a page",
};

const PLACE: Parameter = Parameter {
    name: "layout",
    default: "own-file",
    allowed: Allowed::OneOf(&["own-file", "same-file", "own-offset"]),
    about: "an own file for each task, one block of one file, or an own block of one file",
};

/// What all six have in common.
const FAMILY: Workload = Workload {
    id: "",
    version: 1,
    description: "",
    operation: "",
    stresses: "",
    parameters: &[PLACE, IO],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup| prepare(setup, &PREAD),
};

pub(super) const READ_WORKLOAD: Workload = Workload {
    id: "file/read",
    description: "read a file of 1 MiB from beginning to end, again and again",
    operation: "one read of 4 KiB; the empty read at the end counts, the lseek does not",
    stresses: "page cache lookup, copy to user memory; direct: the block layer",
    parameters: &[OWN_OR_SAME, IO],
    prepare: |setup| prepare(setup, &READ),
    ..FAMILY
};

pub(super) const WRITE_WORKLOAD: Workload = Workload {
    id: "file/write",
    description: "write a file of 1 MiB from beginning to end, again and again",
    operation: "one write of 4 KiB; the lseek after 1 MiB does not count",
    stresses: "inode lock, journal handle, dirty page accounting",
    parameters: &[OWN_OR_SAME, IO],
    prepare: |setup| prepare(setup, &WRITE),
    ..FAMILY
};

pub(super) const PREAD_WORKLOAD: Workload = Workload {
    id: "file/pread",
    description: "read one block of a file",
    operation: "one pread of 4 KiB",
    stresses: "page cache lookup; on one block, the page's reference count",
    ..FAMILY
};

pub(super) const PWRITE_WORKLOAD: Workload = Workload {
    id: "file/pwrite",
    description: "write one block of a file",
    operation: "one pwrite of 4 KiB",
    stresses: "inode lock (contended on one file), journal handle",
    prepare: |setup| prepare(setup, &PWRITE),
    ..FAMILY
};

pub(super) const SEEK_READ_WORKLOAD: Workload = Workload {
    id: "file/seek-read",
    description: "seek to one block of a file and read it",
    operation: "one lseek and read of 4 KiB",
    stresses: "lock of the offset, page cache lookup",
    prepare: |setup| prepare(setup, &SEEK_READ),
    ..FAMILY
};

pub(super) const SEEK_WRITE_WORKLOAD: Workload = Workload {
    id: "file/seek-write",
    description: "seek to one block of a file and write it",
    operation: "one lseek and write of 4 KiB",
    stresses: "lock of the offset, inode lock (contended on one file), journal handle",
    prepare: |setup| prepare(setup, &SEEK_WRITE),
    ..FAMILY
};

struct Files {
    kind: &'static Kind,
    flags: libc::c_int,
    block: usize,
    own_file: bool,
    own_offset: bool,
    opens_to_write: bool,
}

fn prepare(setup: &Setup<'_>, kind: &'static Kind) -> Attempt<Box<dyn Prepared>> {
    let layout = setup.values.word("layout");
    let (block, flags) = match setup.values.word("io") {
        "direct" => (page_size(), libc::O_DIRECT),
        _ => (4096, 0),
    };
    let files = Files {
        kind,
        flags,
        block,
        own_file: layout == "own-file",
        own_offset: layout == "own-offset",
        opens_to_write: kind.writes || kind.opens_to_write && layout == "same-file",
    };
    if !files.own_file {
        make_shared_file(match (kind.whole, files.own_offset) {
            (true, _) => WHOLE,
            (_, true) => setup.tasks as usize * page_size(),
            _ => block,
        })?;
    }
    Ok(Box::new(files))
}

impl Prepared for Files {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        let file = match self.own_file {
            true => self.own(task)?,
            false => open_shared_file(self.opens_to_write, self.flags)?,
        };
        let offset = if self.own_offset { task as usize * page_size() } else { 0 };
        Ok(Box::new(Transferring {
            turns: self.kind.turns,
            file,
            memory: pages(self.block),
            bytes: self.block,
            offset: offset as libc::off_t,
        }))
    }
}

impl Files {
    /// A file with something in it to be read, its offset at its end; an empty one to be written.
    fn own(&self, task: u32) -> Attempt<File> {
        let file = own_file_with(task, self.flags)?;
        if !self.kind.writes {
            fill(&file, if self.kind.whole { WHOLE } else { self.block })?;
        }
        Ok(file)
    }
}

struct Transferring {
    turns: Turns,
    file: File,
    memory: Vec<Page>,
    bytes: usize,
    offset: libc::off_t,
}

impl Task for Transferring {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let block = Block {
            fd: self.file.as_raw_fd(),
            memory: self.memory.as_mut_ptr().cast(),
            bytes: self.bytes,
            offset: self.offset,
        };
        // SAFETY: the memory is the task's own, lives as long as it and holds that many bytes.
        Err(unsafe { (self.turns)(&block, ticks) })
    }
}
