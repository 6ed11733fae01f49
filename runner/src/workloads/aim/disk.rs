//! AIM's disk jobs: a file of 1 KiB blocks is written, read, copied or visited at random. One
//! operation is one block, so that jobs of different sizes can be told apart from slow ones.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;

use super::{BLOCK, COMMON, Desk, JOBS_PARAMETER, Job, LOAD_METRICS, Load, names};
use crate::harness::{Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Ticks, Workload};

/// A file has `file_kib` and the task's share of `pool_kib`; the defaults are those of mmtests.
pub(super) const PARAMETERS: &[Parameter] = &[JOBS_PARAMETER, FILE, POOL, SYNC];

const FILE: Parameter = Parameter {
    name: "file_kib",
    default: "10",
    allowed: Allowed::Whole(1, 1 << 20),
    about: "size of a file, KiB, beside its share of the pool",
};

const POOL: Parameter = Parameter {
    name: "pool_kib",
    default: "1024",
    allowed: Allowed::Whole(0, 1 << 22),
    about: "KiB shared out evenly among the tasks' files",
};

const SYNC: Parameter = Parameter {
    name: "sync",
    default: "none",
    allowed: Allowed::OneOf(&["none", "fsync"]),
    about: "whether a file is synced where re-AIM syncs all disks",
};

const WRITE: Workload = Workload {
    id: "aim/disk-wrt",
    version: 1,
    description: "a load of jobs: write an own file block by block and unlink it",
    operation: "one block of 1 KiB written or read",
    stresses: "block allocation, page cache, inode life",
    parameters: PARAMETERS,
    metrics: LOAD_METRICS,
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |setup: &Setup<'_>| load(setup, write),
};

const READ: Workload = Workload {
    id: "aim/disk-rd",
    description: "a load of jobs: write an own file, read it from its beginning, unlink it",
    prepare: |setup: &Setup<'_>| load(setup, read),
    ..WRITE
};

const RANDOM_READ: Workload = Workload {
    id: "aim/disk-rr",
    description: "a load of jobs: write an own file, read its blocks at random, unlink it",
    prepare: |setup: &Setup<'_>| load(setup, random_read),
    ..WRITE
};

const RANDOM_WRITE: Workload = Workload {
    id: "aim/disk-rw",
    description: "a load of jobs: write an own file, write its blocks at random, unlink it",
    prepare: |setup: &Setup<'_>| load(setup, random_write),
    ..WRITE
};

const COPY: Workload = Workload {
    id: "aim/disk-cp",
    description: "a load of jobs: copy a file shared by all tasks into an own one and unlink that",
    prepare: |setup: &Setup<'_>| load(setup, copy),
    ..WRITE
};

const SYNC_RANDOM_WRITE: Workload = Workload {
    id: "aim/sync-disk-rw",
    description: "a load of jobs: the random writes of disk-rw, half as many and synchronous",
    stresses: "journal commits, write-back",
    prepare: |setup: &Setup<'_>| load(setup, sync_random_write),
    ..WRITE
};

const SYNC_WRITE: Workload = Workload {
    id: "aim/sync-disk-wrt",
    description: "a load of jobs: the writes of disk-wrt, half as many and synchronous",
    prepare: |setup: &Setup<'_>| load(setup, sync_write),
    ..SYNC_RANDOM_WRITE
};

const SYNC_COPY: Workload = Workload {
    id: "aim/sync-disk-cp",
    description: "a load of jobs: the copy of disk-cp, half as much and synchronous",
    prepare: |setup: &Setup<'_>| load(setup, sync_copy),
    ..SYNC_RANDOM_WRITE
};

const SOURCES: Workload = Workload {
    id: "aim/disk-src",
    description: "a load of jobs: look 75 names of a tree up, create and unlink 75 others there",
    operation: "one name looked up, or created, closed and unlinked",
    stresses: "path walk, directory changes",
    parameters: &[JOBS_PARAMETER],
    prepare: |setup: &Setup<'_>| load_of_names(setup, names::sources),
    ..WRITE
};

const LINKS: Workload = Workload {
    id: "aim/link-test",
    description: "a load of jobs: a file with seven more links, each unlinked and linked nine times",
    operation: "one unlink and link",
    stresses: "directory changes, inode link count",
    parameters: &[JOBS_PARAMETER],
    prepare: |setup: &Setup<'_>| load_of_names(setup, names::links),
    ..WRITE
};

pub(in super::super) const WORKLOADS: [&Workload; 10] = [
    &WRITE,
    &READ,
    &RANDOM_READ,
    &RANDOM_WRITE,
    &COPY,
    &SYNC_RANDOM_WRITE,
    &SYNC_WRITE,
    &SYNC_COPY,
    &SOURCES,
    &LINKS,
];

fn load(setup: &Setup<'_>, job: Job) -> Attempt<Box<dyn Prepared>> {
    let jobs = setup.values.whole("jobs")? as usize;
    Ok(Box::new(Load::of_files(setup, vec![job; jobs])?))
}

fn load_of_names(setup: &Setup<'_>, job: Job) -> Attempt<Box<dyn Prepared>> {
    let jobs = setup.values.whole("jobs")? as usize;
    Ok(Box::new(Load::of_names(vec![job; jobs])?))
}

/// A file of one job, its blocks, and how it is written.
struct JobFile {
    name: String,
    file: File,
    blocks: u64,
}

/// Whether each write returns only when it is on the disk; then half the blocks do.
#[derive(Clone, Copy, PartialEq)]
enum Writes {
    Buffered,
    Synchronous,
}

impl JobFile {
    fn create(desk: &Desk, writes: Writes) -> Attempt<JobFile> {
        let name = format!("tmpa.{}", desk.task);
        let (flags, blocks) = match writes {
            Writes::Buffered => (0, desk.blocks),
            Writes::Synchronous => (libc::O_SYNC, desk.blocks.div_ceil(2)),
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).custom_flags(flags);
        let file = options.open(&name).map_err(|e| Fault::io("open", &e))?;
        Ok(JobFile { name, file, blocks })
    }

    /// Creates the file, writes all blocks, and opens it again.
    fn written(desk: &Desk, ticks: &Ticks) -> Attempt<JobFile> {
        let mut file = JobFile::create(desk, Writes::Buffered)?;
        file.fill(&desk.buffer, ticks)?;
        file.sync(desk)?;
        file.reopen()?;
        Ok(file)
    }

    /// Writes all blocks, one after the other.
    fn fill(&mut self, buffer: &[u8; BLOCK], ticks: &Ticks) -> Attempt<()> {
        for _ in 0..self.blocks {
            self.put(buffer, ticks)?;
        }
        Ok(())
    }

    fn put(&mut self, buffer: &[u8; BLOCK], ticks: &Ticks) -> Attempt<()> {
        self.file.write_all(buffer).map_err(|e| Fault::io("write", &e))?;
        ticks.tick();
        Ok(())
    }

    fn get(&mut self, buffer: &mut [u8; BLOCK], ticks: &Ticks) -> Attempt<()> {
        self.file.read_exact(buffer).map_err(|e| Fault::io("read", &e))?;
        ticks.tick();
        Ok(())
    }

    fn go_to(&mut self, block: u64) -> Attempt<()> {
        let place = SeekFrom::Start(block * BLOCK as u64);
        self.file.seek(place).map(drop).map_err(|e| Fault::io("lseek", &e))
    }

    fn sync(&self, desk: &Desk) -> Attempt<()> {
        if desk.fsync { self.file.sync_all().map_err(|e| Fault::io("fsync", &e)) } else { Ok(()) }
    }

    /// Closes the file, opens it again.
    fn reopen(&mut self) -> Attempt<()> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(&self.name);
        self.file = file.map_err(|e| Fault::io("open", &e))?;
        Ok(())
    }

    fn unlink(&self) -> Attempt<()> {
        remove_file(&self.name).map_err(|e| Fault::io("unlink", &e))
    }
}

pub(super) fn write(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::create(desk, Writes::Buffered)?;
    file.fill(&desk.buffer, ticks)?;
    file.unlink()?;
    file.sync(desk)
}

pub(super) fn read(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::written(desk, ticks)?;
    for _ in 0..file.blocks {
        file.get(&mut desk.buffer, ticks)?;
    }
    file.unlink()
}

pub(super) fn random_read(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::written(desk, ticks)?;
    for _ in 0..file.blocks {
        file.go_to(desk.random.below(file.blocks as usize) as u64)?;
        file.get(&mut desk.buffer, ticks)?;
    }
    file.unlink()?;
    file.sync(desk)
}

pub(super) fn random_write(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::written(desk, ticks)?;
    rewrite(&mut file, desk, ticks)?;
    file.unlink()?;
    file.sync(desk)
}

fn rewrite(file: &mut JobFile, desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    for _ in 0..file.blocks {
        file.go_to(desk.random.below(file.blocks as usize) as u64)?;
        file.put(&desk.buffer, ticks)?;
    }
    Ok(())
}

pub(super) fn copy(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    copy_with(desk, Writes::Buffered, ticks)
}

pub(super) fn sync_copy(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    copy_with(desk, Writes::Synchronous, ticks)
}

fn copy_with(desk: &mut Desk, writes: Writes, ticks: &Ticks) -> Attempt<()> {
    let mut from = File::open(COMMON).map_err(|e| Fault::io("open", &e))?;
    let mut to = JobFile::create(desk, writes)?;
    for _ in 0..to.blocks {
        match from.read_exact(&mut desk.buffer) {
            Ok(()) => to.put(&desk.buffer, ticks)?,
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                return Err(Fault::wrong("read", "the shared file is shorter than it was made"));
            }
            Err(e) => return Err(Fault::io("read", &e)),
        }
    }
    to.unlink()?;
    to.sync(desk)
}

pub(super) fn sync_write(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::create(desk, Writes::Synchronous)?;
    file.fill(&desk.buffer, ticks)?;
    file.unlink()
}

pub(super) fn sync_random_write(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut file = JobFile::create(desk, Writes::Synchronous)?;
    file.fill(&desk.buffer, ticks)?;
    rewrite(&mut file, desk, ticks)?;
    file.unlink()
}
