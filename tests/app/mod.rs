//! Serving: reads from a replica, TLS, and stopping.

mod replica;
mod shutdown;
mod tls;
