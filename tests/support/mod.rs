//! What tests share: the service on a database of the test's own, and reports built with defaults.

pub mod browser;
pub mod build;
pub mod cluster;
pub mod history;
pub mod processes;
pub mod provider;
pub mod rows;
pub mod service;
pub mod smtp;

pub use build::{ReportBuilder, a_machine, a_point, a_profile, a_report};
pub use rows::row_counts;
pub use service::{Answer, Enrolled, Service, noon};
