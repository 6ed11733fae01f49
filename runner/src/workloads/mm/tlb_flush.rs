//! TLB flushes: a page is written, dropped with madvise and read back; every CPU that runs the
//! address space must forget it. What is read back is checked: the drop must have happened.

use super::{MIB, Mapping, Mappings, Pages};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Ticks, Workload, check, need_memory,
    need_space,
};

pub(crate) const WORKLOAD: Workload = Workload {
    id: "mm/tlb-flush",
    version: 2,
    description: "write a page, drop it, read it back",
    operation: "one store, madvise(MADV_DONTNEED) and checked load of a page",
    stresses: "unmapping of single pages, TLB flush (interrupts to the other CPUs among threads), \
               page fault",
    parameters: &[Parameter {
        name: "memory",
        default: "anon",
        allowed: Allowed::OneOf(&["file-private", "anon", "file-shared"]),
        about: "1 MiB of anonymous memory, or an own file of 128 MiB mapped private or shared",
    }],
    metrics: &[],
    needs_directory: true,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let memory = setup.values.word("memory").to_owned();
    let bytes = if memory == "anon" { MIB } else { 128 * MIB };
    need_memory(setup.tasks, bytes)?;
    if memory == "file-shared" {
        need_space(setup.tasks, bytes)?;
    }
    Ok(Box::new(Mappings { memory, bytes, rounds: flush }))
}

#[inline(never)]
fn flush(mapping: &Mapping, pages: &Pages, ticks: &Ticks) -> Attempt<()> {
    let &Pages { bytes, page, kept } = pages;
    loop {
        let (start, mut offset) = (mapping.map()?, 0);
        while offset < bytes {
            // SAFETY: the page at offset lies within the mapping, which nobody else uses.
            let found = unsafe {
                let here = start.add(offset);
                here.write_volatile(1);
                check("madvise", libc::madvise(here.cast(), page, libc::MADV_DONTNEED))?;
                here.read_volatile()
            };
            if found != u8::from(kept) {
                return Err(Fault::wrong("madvise", "a dropped page does not hold what it must"));
            }
            ticks.tick();
            offset += page;
        }
        // SAFETY: nobody uses the mapping any more.
        unsafe { mapping.unmap(start)? };
    }
}
