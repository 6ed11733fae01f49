//! Shifts: measured into pools, and looked for in what is drawn from them.

mod pool;
mod power;

pub use pool::{Pool, measure};
pub use power::{Budget, Drawn, ours, plain, smallest};
