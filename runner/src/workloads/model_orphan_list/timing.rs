//! How long locks are waited for and held, in one turn of sixteen: the clock costs as much as a
//! short hold.

use crate::harness::{Histogram, Ticks, monotonic_ns};

/// Numbers of the histograms in a task's extra words.
pub(super) const WAIT: usize = 0;
pub(super) const HOLD: usize = 1;

const EVERY: u32 = 16;

/// One task's timing.
pub(super) struct Timing<'a> {
    ticks: &'a Ticks,
    turn: u32,
}

impl Timing<'_> {
    pub fn new(ticks: &Ticks) -> Timing<'_> {
        Timing { ticks, turn: 0 }
    }

    /// Begins a turn.
    #[inline]
    pub fn next_turn(&mut self) {
        self.turn = (self.turn + 1) % EVERY;
    }

    #[inline]
    fn now(&self) -> Option<u64> {
        (self.turn == 0).then(monotonic_ns)
    }

    /// Runs `body` between `acquire` and `release`.
    #[inline]
    pub fn locked<T>(
        &self,
        acquire: impl FnOnce(),
        release: impl FnOnce(),
        body: impl FnOnce() -> T,
    ) -> T {
        let asked = self.now();
        acquire();
        let got = self.now();
        let result = body();
        release();
        if let (Some(asked), Some(got), Some(gave)) = (asked, got, self.now()) {
            Histogram::record(self.ticks.extra(), WAIT, got - asked);
            Histogram::record(self.ticks.extra(), HOLD, gave - got);
        }
        result
    }
}
