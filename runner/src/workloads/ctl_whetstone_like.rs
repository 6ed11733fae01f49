//! A control in the manner of Whetstone, and our own: floating-point work in registers and the
//! mathematical library. No kernel; no change of one may move it.

use std::hint::black_box;

use super::syscall::LOOPS_PER_S;
use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "ctl/whetstone-like",
    version: 1,
    description: "floating-point work and mathematical functions, the result checked",
    operation: "one round of 64 polynomial steps and 16 times sine, arc tangent, exponential, root",
    stresses: "nothing: a control that no change may move",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Rounds { expected: round().to_bits() })),
};

#[derive(Clone, Copy)]
struct Rounds {
    expected: u64,
}

impl Prepared for Rounds {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(*self))
    }
}

impl Task for Rounds {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            if round().to_bits() != self.expected {
                return Err(Fault::wrong("whetstone-like", "the same round gave another value"));
            }
            ticks.tick();
        }
    }
}

#[inline(never)]
fn round() -> f64 {
    let mut x = black_box(0.75f64);
    for _ in 0..64 {
        // Drawn to a fixed point, so that it neither grows nor vanishes.
        x = (x * x + 0.5) * 0.75 - x * 0.125;
    }
    let mut sum = 0.0;
    for i in 0..16 {
        let angle = x + f64::from(i) * 0.25;
        sum += (angle.sin() * 0.5).atan() + (-angle).exp().sqrt() / (1.0 + angle.ln_1p());
    }
    sum
}
