//! Behaviour of the service, one binary; folders mirror `src/`.

mod support;

mod api;
mod db;
mod ingest;
mod postgres;
