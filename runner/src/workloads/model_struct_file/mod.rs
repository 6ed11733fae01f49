//! Model of the kernel's open file: a reference count that some tasks write, beside the fields that
//! all of them read. The layout says whether they share a cache line, `file` whether tasks share
//! the file.
//!
//! A writer takes a reference, reads, gives it back; a reader only reads.

mod count;

use std::hint::black_box;

use wire::{Direction, Unit};

use count::{Count, NotZero, Unconditional};

use crate::harness::atomic::{AtomicU64, Ordering};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, SideMetric, Task, Ticks, Work,
    Workload, shared_slice, thread_cpu_ns,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "model/struct-file",
    version: 1,
    description: "model: take and give back references of an open file, beside its readers",
    operation: "a writer's get, reads and put, or a reader's reads",
    stresses: "the cache line of a reference count and of the fields next to it",
    parameters: &[
        Parameter {
            name: "layout",
            default: "own-line",
            allowed: Allowed::OneOf(&["same-line", "own-line", "misaligned"]),
            about: "whether the count shares the fields' line, has another, or files are unaligned",
        },
        Parameter {
            name: "offset",
            default: "0",
            allowed: Allowed::Whole(0, 7),
            about: "misaligned: 8-byte words the first file lies behind the start of a line",
        },
        Parameter {
            name: "get",
            default: "fetch-add",
            allowed: Allowed::OneOf(&["cas-not-zero", "fetch-add"]),
            about: "how a reference is taken: compare and swap unless zero, or an unconditional add",
        },
        Parameter {
            name: "file",
            default: "shared",
            allowed: Allowed::OneOf(&["shared", "private"]),
            about: "one file for all tasks, or one each, side by side",
        },
        Parameter {
            name: "readers",
            default: "1",
            allowed: Allowed::Whole(0, 4095),
            about: "how many tasks read, the last ones; the others write, at least one does",
        },
        Parameter {
            name: "think_ns",
            default: "0",
            allowed: Allowed::Whole(0, 1_000_000),
            about: "a writer's work between get and put, and again after put, ns",
        },
    ],
    metrics: &[
        SideMetric {
            name: "writer_ops_per_s",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |window| window.per_second(WRITES),
        },
        SideMetric {
            name: "reader_ops_per_s",
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            value: |window| window.per_second(READS),
        },
        SideMetric {
            name: "writer_ops_per_cpu_s",
            unit: Unit::OpsPerCpuSecond,
            direction: Direction::Higher,
            value: |window| window.ratio(TIMED_WRITES, WRITER_CPU_NS).map(|ops| ops * 1e9),
        },
        SideMetric {
            name: "reader_ops_per_cpu_s",
            unit: Unit::OpsPerCpuSecond,
            direction: Direction::Higher,
            value: |window| window.ratio(TIMED_READS, READER_CPU_NS).map(|ops| ops * 1e9),
        },
    ],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: true,
    extra_words: 0,
    prepare,
};

/// Counter words.
const WRITES: usize = 1;
const READS: usize = 2;
/// Operations up to the last reading of the CPU clock, and what it said.
const TIMED_WRITES: usize = 3;
const WRITER_CPU_NS: usize = 4;
const TIMED_READS: usize = 5;
const READER_CPU_NS: usize = 6;
/// Operations between two readings of the CPU clock.
const TIMED_TOGETHER: u64 = 256;

/// Words of a file: 184 bytes, and 192 where each begins on a line of its own.
const FILE: usize = 23;
const FILE_ALIGNED: usize = 24;
/// Words within a file: what everyone reads, and the count's two places.
const MODE: usize = 0;
const OPERATIONS: usize = 1;
const MAPPING: usize = 2;
const COUNT_NEAR: usize = 3;
const COUNT_APART: usize = 16;

/// Open for reading and writing: what `get` asks of the mode.
const READ_WRITE: u64 = 3;

/// Where things lie, in words.
#[derive(Clone, Copy)]
struct Layout {
    offset: usize,
    stride: usize,
    count: usize,
}

#[derive(Clone, Copy)]
struct Model {
    slab: &'static [AtomicU64],
    layout: Layout,
    shared: bool,
    writers: u32,
    cas: bool,
    think: Work,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let values = setup.values;
    let layout = match values.word("layout") {
        "same-line" => Layout { offset: 0, stride: FILE_ALIGNED, count: COUNT_NEAR },
        "misaligned" => {
            let offset = values.whole("offset")? as usize;
            Layout { offset, stride: FILE, count: COUNT_APART }
        }
        _ => Layout { offset: 0, stride: FILE_ALIGNED, count: COUNT_APART },
    };
    let readers = (values.whole("readers")? as u32).min(setup.tasks - 1);
    let model = Model {
        slab: shared_slice(layout.offset + layout.stride * setup.tasks as usize)?,
        layout,
        shared: values.word("file") == "shared",
        writers: setup.tasks - readers,
        cas: values.word("get") == "cas-not-zero",
        think: Work::of(values.whole("think_ns")?),
    };
    for task in 0..setup.tasks {
        let file = model.file(task);
        file.mode.store(READ_WRITE, Ordering::Relaxed);
        file.count.store(model.one(), Ordering::Relaxed);
    }
    Ok(Box::new(model))
}

impl Model {
    /// The count of a file with one reference.
    fn one(&self) -> u64 {
        if self.cas { NotZero::ONE } else { Unconditional::ONE }
    }

    fn file(&self, task: u32) -> File<'static> {
        let number = if self.shared { 0 } else { task as usize };
        let words = &self.slab[self.layout.offset + self.layout.stride * number..];
        File {
            mode: &words[MODE],
            operations: &words[OPERATIONS],
            mapping: &words[MAPPING],
            count: &words[self.layout.count],
        }
    }
}

impl Prepared for Model {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Using { model: *self, file: self.file(task), writes: task < self.writers }))
    }

    /// Every reference that was taken was given back.
    fn verify(&self, total: &dyn Fn(usize) -> u64) -> Attempt<()> {
        for task in 0..(self.slab.len() / self.layout.stride) as u32 {
            let count = self.file(task).count.load(Ordering::Acquire);
            if count != self.one() {
                let surplus = count.wrapping_sub(self.one()) as i64;
                let detail = format!("file {task} was left with {surplus} references too many");
                return Err(Fault::wrong("verify", detail));
            }
        }
        match total(WRITES) + total(READS) == total(0) {
            true => Ok(()),
            false => Err(Fault::wrong("verify", "writes and reads are not all operations")),
        }
    }
}

/// The parts of one file.
#[derive(Clone, Copy)]
struct File<'a> {
    mode: &'a AtomicU64,
    operations: &'a AtomicU64,
    mapping: &'a AtomicU64,
    count: &'a AtomicU64,
}

impl File<'_> {
    /// What a lookup reads before it takes a reference.
    #[inline(always)]
    fn may(&self, wanted: u64) -> bool {
        self.mode.load(Ordering::Relaxed) & wanted == wanted
    }

    #[inline(always)]
    fn read(&self) {
        black_box(self.operations.load(Ordering::Relaxed));
        black_box(self.mapping.load(Ordering::Relaxed));
    }
}

struct Using {
    model: Model,
    file: File<'static>,
    writes: bool,
}

impl Task for Using {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        match (self.writes, self.model.cas) {
            (false, _) => {
                read(&self.file, ticks);
                Ok(())
            }
            (true, true) => write::<NotZero>(&self.file, self.model.think, ticks),
            (true, false) => write::<Unconditional>(&self.file, self.model.think, ticks),
        }
    }
}

/// Counts one role's operations and the CPU time they took.
struct Role<'a> {
    ticks: &'a Ticks,
    word: usize,
    timed: (usize, usize),
    untimed: u64,
    clock: u64,
}

impl<'a> Role<'a> {
    fn new(ticks: &'a Ticks, word: usize, timed: (usize, usize)) -> Role<'a> {
        Role { ticks, word, timed, untimed: 0, clock: thread_cpu_ns() }
    }

    #[inline(always)]
    fn tick(&mut self) {
        self.ticks.add(self.word, 1);
        self.ticks.tick();
        self.untimed += 1;
        if self.untimed == TIMED_TOGETHER {
            self.read_clock();
        }
    }

    #[cold]
    fn read_clock(&mut self) {
        let now = thread_cpu_ns();
        self.ticks.add(self.timed.0, self.untimed);
        self.ticks.add(self.timed.1, now - self.clock);
        (self.untimed, self.clock) = (0, now);
    }
}

#[inline(never)]
fn write<C: Count>(file: &File<'static>, think: Work, ticks: &Ticks) -> Attempt<()> {
    let mut role = Role::new(ticks, WRITES, (TIMED_WRITES, WRITER_CPU_NS));
    while !ticks.stopped() {
        if !(file.may(READ_WRITE) && C::get(file.count)) {
            return Err(Fault::wrong("get", "the file is gone although it is held open"));
        }
        think.run();
        file.read();
        if !black_box(file.may(READ_WRITE)) || C::put(file.count) {
            return Err(Fault::wrong("put", "the last reference was given back"));
        }
        think.run();
        role.tick();
    }
    Ok(())
}

#[inline(never)]
fn read(file: &File<'static>, ticks: &Ticks) {
    let mut role = Role::new(ticks, READS, (TIMED_READS, READER_CPU_NS));
    while !ticks.stopped() {
        black_box(file.may(READ_WRITE));
        file.read();
        role.tick();
    }
}
