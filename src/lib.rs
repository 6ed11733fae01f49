//! The service, in the order a sample flows through it.
//!
//! [`api`] receives a report, [`ingest`] turns it into rows and due marks in one transaction,
//! [`detect`] finds steps in the series that are due, [`alert`] groups them into incidents and
//! queues messages, [`mail`] and [`webhook`] send them, [`worker`] drives those four and [`upkeep`],
//! and [`pages`] and [`api`] read it all back. [`jobs`] are measurements that were asked for and the
//! agents that do them; [`lives`] is what becomes of what is stored, machines merged and branches
//! rewritten; [`account`] knows who may; [`import`] makes reports of what other tools
//! measured. [`cli`] starts it all. All SQL is in [`db`]; nouns are in [`model`]; the only clock is
//! [`clock`]; what the service counts about itself is in [`metrics`].
#![forbid(unsafe_code)]

pub mod account;
pub mod alert;
pub mod api;
pub mod app;
pub mod chart;
pub mod cli;
pub mod clock;
pub mod config;
pub mod db;
pub mod detect;
pub mod error;
pub mod format;
pub mod import;
pub mod ingest;
pub mod jobs;
pub mod lives;
pub mod mail;
pub mod metrics;
pub mod model;
pub mod outward;
pub mod pages;
pub mod postgres;
pub mod up;
pub mod upkeep;
pub mod webhook;
pub mod worker;

/// All migrations, compiled in; the one migrator of program and tests.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();
