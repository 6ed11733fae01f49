//! Behaviour of the service, one binary; folders mirror `src/`.

mod support;

mod alert;
mod api;
mod db;
mod ingest;
mod mail;
mod postgres;
