//! Page faults: one byte written into each page of a fresh mapping. Pages are counted as they are
//! touched, the mapping and unmapping between two rounds is not, so a window may hold some of that.

use super::{MIB, Mapping, Mappings, Pages};
use crate::harness::{
    Allowed, Attempt, Mode, Parameter, Prepared, Setup, Ticks, Workload, need_memory, need_space,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "mm/fault",
    version: 2,
    description: "write one byte into each page of a fresh mapping",
    operation: "one page touched; with huge pages most touches take no fault",
    stresses: "page fault, page allocation and zeroing, memory groups; for files page cache and \
               copy on write, or write notification and block reservation",
    parameters: &[
        Parameter {
            name: "memory",
            default: "anon",
            allowed: Allowed::OneOf(&["anon", "file-private", "file-shared"]),
            about: "anonymous memory, or an own file mapped private or shared",
        },
        Parameter {
            name: "mib",
            default: "128",
            allowed: Allowed::Whole(1, 1 << 20),
            about: "MiB of one mapping, for each task",
        },
    ],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let memory = setup.values.word("memory").to_owned();
    let bytes = setup.values.whole("mib")? * MIB;
    match &*memory {
        // The page cache holds what is copied.
        "file-private" => need_memory(setup.tasks, 2 * bytes)?,
        "file-shared" => {
            need_memory(setup.tasks, bytes)?;
            need_space(setup.tasks, bytes)?;
        }
        _ => need_memory(setup.tasks, bytes)?,
    }
    Ok(Box::new(Mappings { memory, bytes, rounds: touch }))
}

#[inline(never)]
fn touch(mapping: &Mapping, pages: &Pages, ticks: &Ticks) -> Attempt<()> {
    let &Pages { bytes, page, .. } = pages;
    loop {
        let (start, mut offset) = (mapping.map()?, 0);
        while offset < bytes {
            // SAFETY: the offset is below bytes, which the mapping has.
            unsafe { start.add(offset).write_volatile(1) };
            ticks.tick();
            offset += page;
        }
        // SAFETY: nobody uses the mapping any more.
        unsafe { mapping.unmap(start)? };
    }
}
