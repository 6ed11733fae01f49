//! Pauses between attempts: doubling, with jitter, up to a limit.

use std::time::Duration;

use stats::random::Random;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// A sequence of pauses, each between half and all of 0.5 s, 1 s, 2 s … 60 s.
pub struct Backoff {
    failures: u32,
    random: Random,
}

impl Backoff {
    /// Begins with the shortest pause; machines that failed together differ by their seed.
    pub fn new(seed: u64) -> Backoff {
        Backoff { failures: 0, random: Random::new(seed) }
    }

    /// The next pause.
    pub fn next_pause(&mut self) -> Duration {
        let full = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        full.mul_f64(0.5 + 0.5 * self.random.unit())
    }

    /// Something went through: begin with the shortest pause again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_with_jitter_and_never_pass_the_limit() {
        let mut backoff = Backoff::new(7);
        let mut full = FIRST;
        for _ in 0..40 {
            let pause = backoff.next_pause();
            assert!(pause >= full / 2 && pause <= full, "{pause:?} of {full:?}");
            full = (full * 2).min(LONGEST);
        }
        backoff.reset();
        assert!(backoff.next_pause() <= FIRST);
    }

    #[test]
    fn two_seeds_do_not_march_together() {
        let pauses = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..8).map(|_| backoff.next_pause()).collect::<Vec<_>>()
        };
        assert_ne!(pauses(1), pauses(2));
        assert_eq!(pauses(1), pauses(1));
    }
}
