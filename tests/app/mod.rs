//! Serving: TLS, and stopping.

mod shutdown;
mod tls;
