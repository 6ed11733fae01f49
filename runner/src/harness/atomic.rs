//! Atomics of locks and of the models' protocols, and what waits on them: std's, or loom's where
//! its checker tries every order of them (`./dev loom`).

#[cfg(all(test, loom))]
pub use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    thread::yield_now,
};
#[cfg(not(all(test, loom)))]
pub use std::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    thread::yield_now,
};
