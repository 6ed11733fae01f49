//! Settings, from the environment; each has a default that needs nothing.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// `SCALEWATCH_LISTEN`; default 127.0.0.1:8420.
    pub listen: SocketAddr,
    /// `SCALEWATCH_URL`: how the outside reaches us, for links in mails; default http://<listen>.
    pub public_url: String,
    /// `SCALEWATCH_DATA`, else the XDG data folder + `scalewatch`.
    pub data: PathBuf,
    /// `DATABASE_URL`; the embedded Postgres when unset.
    pub database_url: Option<String>,
    /// Where mail goes.
    pub mail: Mail,
}

/// Mail settings.
#[derive(Debug, Clone)]
pub struct Mail {
    /// `SCALEWATCH_MAIL_FROM`.
    pub from: String,
    /// `SCALEWATCH_MAIL_TO`, comma-separated.
    pub to: Vec<String>,
    /// `SCALEWATCH_SMTP_URL`, e.g. `smtp://user@host:587?tls=required` or `smtps://…`;
    /// the password comes from `SCALEWATCH_SMTP_PASSWORD_FILE`. Unset: .eml files in `data/mail`.
    pub smtp_url: Option<String>,
    /// `SCALEWATCH_SMTP_PASSWORD_FILE`.
    pub smtp_password_file: Option<PathBuf>,
}
