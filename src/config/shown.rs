//! Settings as they are in effect, for people: as a file would hold them, passwords struck out.

use super::{Config, LogFormat, SETTINGS, Sources};
use crate::postgres::libpq;

impl Config {
    /// Every setting with its value and where that comes from.
    pub fn shown(&self, sources: &Sources) -> String {
        let mut text = String::new();
        let mut section = "";
        for (key, variable) in SETTINGS.iter().filter(|(key, _)| !key.is_empty()) {
            let (table, name) = key.split_once('.').unwrap_or(("", key));
            if table != section {
                text += &format!("\n[{table}]\n");
                section = table;
            }
            let origin = sources.origin(variable);
            let of_provider = || sources.get(variable).filter(|_| key.starts_with("oidc."));
            let value = self.value(key).or_else(|| of_provider().map(|value| quoted(value.trim())));
            text += &match value {
                Some(value) => format!("{name} = {value}  # {origin}\n"),
                None => format!("# {name} is not set\n"),
            };
        }
        text
    }

    fn value(&self, key: &str) -> Option<String> {
        let path = |path: &std::path::Path| quoted(&path.display().to_string());
        let list = |all: Vec<String>| {
            let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
            format!("[{}]", all.join(", "))
        };
        Some(match key {
            "listen" => quoted(&self.listen.to_string()),
            "url" => quoted(&self.public_url),
            "data" => path(&self.data),
            "log_format" => quoted(match self.log_format {
                LogFormat::Text => "text",
                LogFormat::Json => "json",
            }),
            "shutdown_seconds" => self.shutdown_s.to_string(),
            "token_requests_per_minute" => self.token_requests_per_minute.to_string(),
            "password_login" => quoted(if self.password_login { "on" } else { "off" }),
            "database.url" => quoted(&libpq::masked(self.database_url.as_deref()?)),
            "database.connections" => self.database_connections.to_string(),
            "database.replica_url" => quoted(&libpq::masked(self.database_replica_url.as_deref()?)),
            "database.replica_lag_seconds" => self.replica_lag_s.to_string(),
            "mail.from" => quoted(&self.mail.from),
            "mail.to" => list(self.mail.to.clone()),
            "mail.smtp_url" => quoted(&libpq::masked(self.mail.smtp_url.as_deref()?)),
            "mail.smtp_password_file" => path(self.mail.smtp_password_file.as_deref()?),
            "tls.certificate" => path(&self.tls.as_ref()?.certificate),
            "tls.key" => path(&self.tls.as_ref()?.key),
            "proxy.trusted" => list(self.proxy.trusted.iter().map(ToString::to_string).collect()),
            "proxy.header" if self.proxy.trusted.is_empty() => return None,
            "proxy.header" => quoted(&self.proxy.header),
            "ready.worker_seconds" => self.ready.worker_s.to_string(),
            "ready.mail_seconds" => self.ready.mail_s.to_string(),
            "ready.disk_percent" => self.ready.disk_percent.to_string(),
            _ => return None,
        })
    }
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    // The strings of JSON are strings of TOML.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_shown_and_the_whole_is_a_file_that_means_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        let given = |name: &str| {
            Some(match name {
                "SCALEWATCH_PASSWORD_LOGIN" => "off".into(),
                "SCALEWATCH_OIDC_ISSUER" | "SCALEWATCH_OIDC_REDIRECT_URL" => "https://id.x".into(),
                "SCALEWATCH_OIDC_CLIENT_SECRET_FILE" => secret.display().to_string(),
                "SCALEWATCH_OIDC_CLAIMS" => "a=b,c=d".into(),
                "SCALEWATCH_OIDC_NEW_PEOPLE" => "add".into(),
                "SCALEWATCH_OIDC_LINK_BY_EMAIL" => "verified".into(),
                "SCALEWATCH_OIDC_ROLES" => "ops=linux:triager, root=admin".into(),
                name if name.starts_with("SCALEWATCH_OIDC_") && !name.ends_with("_SECRET") => {
                    "x.example".into()
                }
                "HOME" => "/h".into(),
                "DATABASE_URL" => "postgres://ada@db/x".into(),
                "DATABASE_REPLICA_URL" => "postgres://ada@db2/x".into(),
                "SCALEWATCH_SMTP_URL" => "smtp://me@mail:25".into(),
                "SCALEWATCH_SMTP_PASSWORD_FILE" => "/p \"q\"".into(),
                "SCALEWATCH_TLS_CERTIFICATE" | "SCALEWATCH_TLS_KEY" => "/tls".into(),
                "SCALEWATCH_TRUSTED_PROXIES" => "10.0.0.0/8, ::1".into(),
                "SCALEWATCH_MAIL_TO" => "a@x, b@x".into(),
                _ => return None,
            })
        };
        let sources = Sources::of(given);
        let (config, problems) = Config::read(&sources);
        assert!(problems.is_empty(), "{problems:?}");
        let shown = config.shown(&sources);
        for (key, _) in SETTINGS.iter().filter(|(key, _)| !key.is_empty()) {
            let name = key.rsplit('.').next().unwrap();
            assert!(!shown.contains(&format!("# {name} is not set")), "{key} is not shown");
        }
        let path = folder.path().join("scalewatch.toml");
        std::fs::write(&path, &shown).unwrap();
        let again = Sources::read(Some(&path), &[], []).unwrap();
        assert_eq!(again.problems(), [""; 0]);
        let (same, problems) = Config::read(&again);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(format!("{config:?}"), format!("{same:?}"));
        assert!(shown.contains("# environment") && shown.contains("# default"), "{shown}");
    }

    #[test]
    fn passwords_are_struck_out() {
        let sources = Sources::of(|name| match name {
            "HOME" => Some("/h".into()),
            "DATABASE_URL" | "DATABASE_REPLICA_URL" => Some("postgres://ada:secret@db/x".into()),
            _ => None,
        });
        let shown = Config::read(&sources).0.shown(&sources);
        assert!(!shown.contains(":secret") && shown.contains("ada:***@db"), "{shown}");
        assert!(shown.contains("# smtp_url is not set"), "{shown}");
    }
}
