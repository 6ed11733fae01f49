//! A control: integer work in registers. No kernel, no shared memory; nothing may move it.

use std::hint::black_box;

use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "ctl/int-loop",
    version: 1,
    description: "integer work in registers",
    operation: "256 dependent multiply-and-rotate steps, the result checked",
    stresses: "nothing: a control that no change may move",
    parameters: &[],
    metrics: &[],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare,
};

const STEPS: u32 = 256;

struct IntLoop {
    expected: u64,
}

fn prepare(_: &Setup<'_>) -> Attempt<Box<dyn Prepared>> {
    Ok(Box::new(IntLoop { expected: steps(black_box(1)) }))
}

impl Prepared for IntLoop {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(IntLoop { expected: self.expected }))
    }
}

impl Task for IntLoop {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(turn(self.expected, ticks))
    }
}

#[inline(always)]
fn steps(mut x: u64) -> u64 {
    for _ in 0..STEPS {
        x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    }
    x
}

#[inline(never)]
fn turn(expected: u64, ticks: &Ticks) -> Fault {
    loop {
        if steps(black_box(1)) != expected {
            return Fault::wrong("int-loop", "the same arithmetic gave another result");
        }
        ticks.tick();
    }
}
