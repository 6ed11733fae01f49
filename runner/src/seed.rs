//! Randomness from a given seed alone: the order of points and the jitter of pauses.

/// A `SplitMix64` generator (Steele, Lea and Flood 2014): 64 bits of state, equidistributed.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// The same seed gives the same numbers on every machine.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `n`, every one as likely (`n` far below 2^64); 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Puts a list into random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_seed_0_are_those_of_the_reference() {
        let mut random = Seeded::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn a_shuffle_keeps_every_element_and_depends_on_the_seed_alone() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..50).collect();
            Seeded::new(seed).shuffle(&mut list);
            list
        };
        assert_eq!(shuffled(3), shuffled(3));
        assert_ne!(shuffled(3), shuffled(4));
        let mut back = shuffled(3);
        back.sort_unstable();
        assert_eq!(back, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_below_a_limit_cover_it_and_stay_below() {
        let mut random = Seeded::new(1);
        let drawn: Vec<usize> = (0..200).map(|_| random.below(4)).collect();
        assert!((0..4).all(|n| drawn.contains(&n)) && drawn.iter().all(|&n| n < 4));
        assert_eq!(random.below(0), 0);
        assert!((0.0..1.0).contains(&random.unit()));
    }
}
