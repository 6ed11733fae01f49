//! Behaviour of the service, one binary; folders mirror `src/`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;
mod templates;

mod account;
mod alert;
mod api;
mod app;
mod cli;
mod crash;
mod db;
mod detect;
mod import;
mod ingest;
mod jobs;
mod journey;
mod layers;
mod lives;
mod mail;
mod migrations;
mod pages;
mod postgres;
mod up;
mod upkeep;
mod webhook;
