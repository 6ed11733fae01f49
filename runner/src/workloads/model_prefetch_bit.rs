//! Model of a block allocator's scan that marks each group it prefetches: an atomic read-modify-write
//! of a bit that is nearly always set already, against a test before it. The bit lies in the first
//! word of a group's descriptor, beside the fields every scanning task reads.
//!
//! One operation: from the goal that all tasks share, walk the groups until one has room; at the
//! start and at each flex group's boundary touch the state of the groups up to its end.

use std::hint::black_box;

use wire::{Direction, Unit};

use crate::harness::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::harness::{
    Allowed, Attempt, Fault, Mode, Parameter, Prepared, Setup, Shared, SideMetric, Tally, Task,
    Ticks, Workload, shared_slice,
};

pub(super) const WORKLOAD: Workload = Workload {
    id: "model/prefetch-bit",
    version: 1,
    description: "model: mark block groups as prefetched, with or without a test before",
    operation: "one search for a group with room, from the shared goal",
    stresses: "cache lines of group descriptors, written or only read by every task",
    parameters: &[
        Parameter {
            name: "variant",
            default: "test-then-set",
            allowed: Allowed::OneOf(&["rmw", "test-then-set", "relaxed-load-only"]),
            about: "how a group is marked: always written, written when clear, never",
        },
        Parameter {
            name: "fill",
            default: "0.9",
            allowed: Allowed::Fraction(0.0, 0.999),
            about: "share of groups without room",
        },
        Parameter {
            name: "layout",
            default: "same-line",
            allowed: Allowed::OneOf(&["same-line", "separate-line"]),
            about: "whether the bit shares a cache line with what the scan reads",
        },
        Parameter {
            name: "first_touch",
            default: "no",
            allowed: Allowed::OneOf(&["no", "yes"]),
            about: "yes: all bits are clear at the start",
        },
        Parameter {
            name: "groups",
            default: "1600",
            allowed: Allowed::Whole(16, 1_000_000),
            about: "block groups of the file system",
        },
    ],
    metrics: &[
        SideMetric {
            name: "groups_touched_per_op",
            unit: Unit::CountPerOp,
            direction: Direction::Lower,
            value: |window| window.ratio(TOUCHED, 0),
        },
        SideMetric {
            name: "scan_ns_per_group",
            unit: Unit::Nanoseconds,
            direction: Direction::Lower,
            value: scan_ns_per_group,
        },
    ],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: true,
    extra_words: 0,
    prepare,
};

/// Counter words: groups whose state was touched, groups scanned, bits found clear and set.
const TOUCHED: usize = 1;
const SCANNED: usize = 2;
const FIRST: usize = 3;

/// Groups of a flex group.
const FLEX: usize = 16;
/// Blocks a request wants, and their order.
const REQUEST: u32 = 2;
const ORDER: u32 = 1;
/// Requests of one file; then the goal moves on.
const FILE: u32 = 128;
/// The bit that says a group's bitmap was prefetched.
const READ_BIT: u64 = 1 << 4;

fn scan_ns_per_group(window: &Tally) -> Option<f64> {
    let scanned = window.word(SCANNED);
    (scanned > 0).then(|| window.cpu_ns as f64 / scanned as f64)
}

/// A descriptor of 160 bytes, laid out as the kernel's: state first, then what a scan reads.
#[repr(C)]
struct Group {
    state: AtomicU64,
    tree: [AtomicU64; 2],
    first_free: AtomicU32,
    free: AtomicU32,
    fragments: AtomicU32,
    largest_order: AtomicU32,
    rest: [AtomicU64; 15],
}

// SAFETY: atomics only; zero is a full group whose bit is clear.
unsafe impl Shared for Group {}

/// A state on a cache line of its own.
#[repr(C, align(64))]
struct Apart {
    state: AtomicU64,
}

// SAFETY: one atomic.
unsafe impl Shared for Apart {}

#[derive(Clone, Copy)]
struct Model {
    groups: &'static [Group],
    apart: &'static [Apart],
    goal: &'static AtomicU64,
    rmw: bool,
    load_only: bool,
    separate: bool,
    set_before: usize,
}

fn prepare(setup: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    let count = setup.values.whole("groups")? as usize;
    let fill = setup.values.fraction("fill")?;
    let model = Model {
        groups: shared_slice(count)?,
        apart: shared_slice(count)?,
        goal: &shared_slice::<AtomicU64>(1)?[0],
        rmw: setup.values.word("variant") == "rmw",
        load_only: setup.values.word("variant") == "relaxed-load-only",
        separate: setup.values.word("layout") == "separate-line",
        set_before: if setup.values.word("first_touch") == "yes" { 0 } else { count },
    };
    for (i, group) in model.groups.iter().enumerate() {
        let has_room = share(i) >= fill || i == count / 2;
        group.free.store(if has_room { 32_768 } else { 1 }, Relaxed);
        group.fragments.store(1, Relaxed);
        group.largest_order.store(if has_room { 15 } else { 0 }, Relaxed);
        if model.set_before > 0 {
            model.state(i).store(READ_BIT, Relaxed);
        }
    }
    Ok(Box::new(model))
}

/// A number in 0..1 that scatters the groups with room, the same ones in every run.
fn share(group: usize) -> f64 {
    let scattered = (group as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (scattered >> 11) as f64 / (1u64 << 53) as f64
}

impl Model {
    #[inline(always)]
    fn state(&self, group: usize) -> &'static AtomicU64 {
        debug_assert!(group < self.groups.len() && group < self.apart.len());
        // SAFETY: the callers' groups are below the length of both slices.
        unsafe {
            match self.separate {
                true => &self.apart.get_unchecked(group).state,
                false => &self.groups.get_unchecked(group).state,
            }
        }
    }
}

impl Prepared for Model {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(*self))
    }

    /// Each bit was set once: by whoever found it clear.
    fn verify(&self, total: &dyn Fn(usize) -> u64) -> Attempt<()> {
        let set = (0..self.groups.len()).filter(|&g| self.state(g).load(Relaxed) & READ_BIT != 0);
        let (set, expected) = (set.count() as u64, self.set_before as u64 + total(FIRST));
        if set != expected {
            return Err(Fault::wrong("verify", format!("{set} bits are set, not {expected}")));
        }
        Ok(())
    }
}

impl Task for Model {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        let look = |state: &AtomicU64| {
            black_box(state.load(Relaxed));
            false
        };
        match (self.rmw, self.load_only) {
            (true, _) => turns(self, set, ticks),
            (_, true) => turns(self, look, ticks),
            _ => turns(self, test_then_set, ticks),
        }
        Ok(())
    }
}

/// Sets the bit; whether it was clear.
#[inline(always)]
fn set(state: &AtomicU64) -> bool {
    state.fetch_or(READ_BIT, Relaxed) & READ_BIT == 0
}

/// Sets the bit when it looks clear; whether it was.
#[inline(always)]
fn test_then_set(state: &AtomicU64) -> bool {
    state.load(Relaxed) & READ_BIT == 0 && set(state)
}

#[inline(never)]
fn turns(model: &Model, touch: impl Fn(&AtomicU64) -> bool, ticks: &Ticks) {
    let count = model.groups.len();
    let mut requests = 0;
    while !ticks.stopped() {
        let mut group = model.goal.load(Relaxed) as usize;
        let (mut boundary, mut touched, mut scanned, mut first) = (group, 0, 0, 0);
        loop {
            if group == boundary {
                let end = ((group / FLEX + 1) * FLEX).min(count);
                for near in group..end {
                    first += u64::from(touch(model.state(near)));
                }
                touched += (end - group) as u64;
                boundary = if end == count { 0 } else { end };
            }
            scanned += 1;
            // SAFETY: the goal and every step from it are below count.
            let here = unsafe { model.groups.get_unchecked(group) };
            if here.free.load(Relaxed) >= REQUEST && here.largest_order.load(Relaxed) >= ORDER {
                break;
            }
            group = if group + 1 == count { 0 } else { group + 1 };
        }
        requests += 1;
        if requests == FILE {
            requests = 0;
            model.goal.store(if group + 1 == count { 0 } else { group as u64 + 1 }, Relaxed);
        }
        ticks.add(TOUCHED, touched);
        ticks.add(SCANNED, scanned);
        ticks.add(FIRST, first);
        ticks.tick();
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn in_any_order_one_of_those_who_mark_a_group_is_the_first() {
        for mark in [set, test_then_set] {
            loom::model(move || {
                let state = Arc::new(AtomicU64::new(0));
                let others: Vec<_> = (0..2)
                    .map(|_| {
                        let state = state.clone();
                        loom::thread::spawn(move || mark(&state))
                    })
                    .collect();
                let mut first = u32::from(mark(&state));
                for other in others {
                    first += u32::from(other.join().expect("it does not panic"));
                }
                assert_eq!((first, state.load(Relaxed)), (1, READ_BIT));
            });
        }
    }
}
