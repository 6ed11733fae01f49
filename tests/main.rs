//! Behaviour of the service, one binary; folders mirror `src/`.

mod support;

mod alert;
mod api;
mod crash;
mod db;
mod ingest;
mod journey;
mod mail;
mod postgres;
