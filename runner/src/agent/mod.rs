//! From a finished report to the service: registration, the spool on disk, and upload.
//!
//! A report is first written durably to the [`Spool`], then [`drain`] sends it; it leaves the
//! spool only when the service has said that it holds the run. The run's UUID makes sending twice
//! harmless, so a crash or an outage at any moment loses nothing and doubles nothing.
mod backoff;
mod client;
mod durable;
pub mod job;
mod register;
mod spool;
mod state;
mod token;
mod upload;

pub use client::{Answer, Client, Later, Refusal, Server};
pub use durable::{check_writable, remove, write_atomically};
pub use register::{NotRegistered, register};
pub use spool::{Entry, Spool};
pub use state::{Registration, StateDir};
pub use token::Token;
pub use upload::{Drained, Patience, Stopped, drain};
