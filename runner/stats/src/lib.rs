//! Pure numbers: no dependency, no IO, no clock; randomness only from a given seed.
//!
//! Read in this order: [`Sample`] (what everything takes), [`summary`], [`interval`], [`rank`]
//! (what is computed), [`lkp`], [`mmtests`] and [`unixbench`] (other people's rules, as written),
//! then the judgement: [`two_sides`] (base against head over a curve), [`curve`] (how a curve
//! scales, and whether it bends earlier) and [`step`] (changes in a history), all of which return
//! [`evidence`]. The service and `scalewatch-runner compare` call the same functions, so their
//! verdicts never differ.
#![forbid(unsafe_code)]

pub mod counters;
pub mod curve;
pub mod evidence;
pub mod interval;
pub mod lkp;
pub mod mmtests;
pub mod modes;
mod order;
pub mod proportion;
pub mod random;
pub mod rank;
pub mod robust;
mod sample;
pub mod special;
pub mod step;
pub mod summary;
pub mod two_sides;
pub mod unixbench;
pub mod words;

pub use evidence::{Evidence, Inequality, Verdict};
pub use sample::Sample;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}
