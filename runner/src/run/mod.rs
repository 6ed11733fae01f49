//! One `run` from its settings to measured points, and to the reports made of them.
//!
//! [`plan`] makes the points, [`measure`] takes them in seeded order (base and head of a paired run
//! side by side), [`revision`] and [`git`] say which code it was, [`table`],
//! [`wis`] and [`wis_csv`] print.
pub mod calibrate;
pub mod controls;
pub mod git;
pub mod measure;
pub mod plan;
pub mod precision;
pub mod progress;
pub mod reports;
pub mod revision;
pub mod sides;
pub mod table;
pub mod tasks;
pub mod unixbench;
pub mod wis;
pub mod wis_csv;
