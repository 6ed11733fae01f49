//! Log lines go to standard error, so that standard output carries answers alone.

use std::io::{self, IsTerminal as _};

use tracing::Level;
use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Starts logging; `RUST_LOG` chooses what, else `usual` and worse. A second call changes nothing.
pub fn init(format: LogFormat, usual: Level) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new(usual.as_str().to_lowercase()));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    let _ = match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}
