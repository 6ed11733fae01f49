//! Atomics of locks and of the models' protocols: std's, or loom's where its checker tries every
//! order of them.

#[cfg(all(test, loom))]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(all(test, loom)))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
