//! The runner: measures workloads on this machine and uploads every sample.
//!
//! In flow order: [`workloads`] give the loops, [`harness`] runs one point in a child process and
//! hands back windows, [`machine`] says where and in what surroundings, [`report`] makes the
//! `wire::Report`, [`agent`] keeps it on disk until the service has it, [`compare`] prints tables,
//! [`gate`] asks the service for one verdict.
pub mod agent;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod exit;
pub mod gate;
pub mod harness;
pub mod machine;
pub mod profile;
pub mod report;
pub mod run;
pub mod show;
pub mod workloads;
