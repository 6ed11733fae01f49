//! See the crate's map.

pub mod step;
