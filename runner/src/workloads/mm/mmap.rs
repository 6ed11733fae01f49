//! Mapping and unmapping memory that is never touched: the address space's tree and lock, and for a
//! file its tree of mappings.

use super::{MIB, Mapping};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Task, Ticks, Workload,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "mm/mmap",
    version: 1,
    description: "map and unmap memory without touching it",
    operation: "one mmap and munmap",
    stresses: "mmap lock, tree of mappings, commit accounting; for files the inode's mappings",
    parameters: &[
        Parameter {
            name: "memory",
            default: "anon",
            allowed: Allowed::OneOf(&["anon", "file"]),
            about: "anonymous memory, or a private mapping of an own file",
        },
        Parameter {
            name: "mib",
            default: "128",
            allowed: Allowed::Whole(1, 1 << 20),
            about: "MiB of one mapping",
        },
    ],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

struct Memory {
    memory: String,
    bytes: u64,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let memory = setup.values.word("memory").to_owned();
    Ok(Box::new(Memory { memory, bytes: setup.values.whole("mib")? * MIB }))
}

impl Prepared for Memory {
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(Mapping::new(&self.memory, self.bytes, task)?))
    }
}

impl Task for Mapping {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self, ticks))
    }
}

#[inline(never)]
fn turn(mapping: &Mapping, ticks: &Ticks) -> Fault {
    loop {
        // SAFETY: nothing refers to the mapping.
        let unmapped = mapping.map().and_then(|start| unsafe { mapping.unmap(start) });
        if let Err(fault) = unmapped {
            return fault;
        }
        ticks.tick();
    }
}
