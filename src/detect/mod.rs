//! Finds steps. Histories and sides come in as loaded rows, steps and verdicts with their evidence
//! go out; nothing here reads a clock, and the same rows give the same answer in any order of
//! arrival.

pub mod environment;
pub mod evidence;
pub mod two_sides;
