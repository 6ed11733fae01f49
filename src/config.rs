//! Settings, from the environment; each has a default that needs nothing.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// `SCALEWATCH_LISTEN`; default 127.0.0.1:8420.
    pub listen: SocketAddr,
    /// `SCALEWATCH_URL`: how the outside reaches us, for links in mails; default `http://<listen>`.
    pub public_url: String,
    /// `SCALEWATCH_DATA`, else the XDG data folder (for root `/var/lib`) + `scalewatch`.
    pub data: PathBuf,
    /// `DATABASE_URL`; the embedded Postgres when unset.
    pub database_url: Option<String>,
    /// `SCALEWATCH_DATABASE_CONNECTIONS`: most connections held to Postgres; default 16.
    pub database_connections: u32,
    /// `SCALEWATCH_LOG_FORMAT`: `text` (default) or `json`. What is logged is set by `RUST_LOG`.
    pub log_format: LogFormat,
    /// Where mail goes.
    pub mail: Mail,
    /// Whoever calls by a loopback name needs no account. Set by the command (`up`, or `serve
    /// --local-owner`) and only for a service that listens on loopback alone.
    pub local_owner: bool,
    /// `SCALEWATCH_PROXY_HEADER`: header in which a proxy in front of us names the client's address,
    /// e.g. `X-Forwarded-For`; the last address in it counts. Unset: the address that connects.
    pub proxy_header: Option<String>,
    /// `SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE`: most requests of one token in a minute; default 6000.
    pub token_requests_per_minute: i32,
}

/// Shape of log lines on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// The shape with this word.
    pub fn parse(word: &str) -> Option<LogFormat> {
        match word {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        }
    }
}

/// Mail settings.
#[derive(Debug, Clone)]
pub struct Mail {
    /// `SCALEWATCH_MAIL_FROM`; default `scalewatch@localhost`.
    pub from: String,
    /// `SCALEWATCH_MAIL_TO`, comma-separated; default `root@localhost`.
    pub to: Vec<String>,
    /// `SCALEWATCH_SMTP_URL`, e.g. `smtp://user@host:587?tls=required` (or `opportunistic`, `none`;
    /// `&ca=FILE` names a private authority) or `smtps://…`;
    /// the password comes from `SCALEWATCH_SMTP_PASSWORD_FILE`. Unset: .eml files in `data/mail`.
    pub smtp_url: Option<String>,
    /// `SCALEWATCH_SMTP_PASSWORD_FILE`.
    pub smtp_password_file: Option<PathBuf>,
}

impl Config {
    /// Settings of this process's environment.
    ///
    /// # Errors
    /// A variable whose value cannot be read, by its name.
    pub fn from_env() -> Result<Config> {
        Config::from_lookup(|name| std::env::var(name).ok())
    }

    /// Settings where `lookup` gives the value of a variable; an empty value counts as unset.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Config> {
        let set = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let listen: SocketAddr = match set("SCALEWATCH_LISTEN") {
            None => SocketAddr::from(([127, 0, 0, 1], 8420)),
            Some(value) => value.parse().with_context(|| {
                format!("SCALEWATCH_LISTEN is `{value}`, not an address such as 127.0.0.1:8420")
            })?,
        };
        let log_format = match set("SCALEWATCH_LOG_FORMAT") {
            None => LogFormat::Text,
            Some(word) => LogFormat::parse(&word).with_context(|| {
                format!("SCALEWATCH_LOG_FORMAT is `{word}`, neither text nor json")
            })?,
        };
        let database_connections = match set("SCALEWATCH_DATABASE_CONNECTIONS") {
            None => 16,
            Some(value) => {
                value.parse().ok().filter(|n| (2..=1000).contains(n)).with_context(|| {
                    format!("SCALEWATCH_DATABASE_CONNECTIONS is `{value}`, not 2 to 1000")
                })?
            }
        };
        let token_requests_per_minute = match set("SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE") {
            None => 6000,
            Some(value) => {
                value.parse().ok().filter(|n| (1..=1_000_000_000).contains(n)).with_context(
                    || {
                        format!(
                            "SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE is `{value}`, not 1 to 1000000000"
                        )
                    },
                )?
            }
        };
        Ok(Config {
            listen,
            public_url: set("SCALEWATCH_URL")
                .map_or_else(|| format!("http://{listen}"), |url| url.trim_end_matches('/').into()),
            data: data_folder(&set)?,
            database_url: set("DATABASE_URL"),
            database_connections,
            log_format,
            mail: Mail::from_lookup(&set),
            local_owner: false,
            token_requests_per_minute,
            proxy_header: set("SCALEWATCH_PROXY_HEADER").map(|name| name.trim().to_owned()),
        })
    }

    /// Whether browsers reach us by TLS alone: then cookies are sent by TLS alone.
    pub fn is_by_tls(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// The same settings once the port is bound: a port left to the kernel (0) is known by then,
    /// and the default of `SCALEWATCH_URL` names it.
    pub fn bound_to(mut self, address: SocketAddr) -> Config {
        if self.public_url == format!("http://{}", self.listen) {
            self.public_url = format!("http://{address}");
        }
        self.listen = address;
        self
    }

    /// Settings for tests: nothing of the environment, any free port, files below `data`.
    pub fn for_testing(data: &Path) -> Config {
        let mut config = Config::from_lookup(|name| {
            (name == "SCALEWATCH_DATA").then(|| data.display().to_string())
        })
        .expect("the defaults are valid");
        config.listen.set_port(0);
        config.public_url = "http://scalewatch.test".into();
        config.database_connections = 4;
        config
    }

    /// The database's address.
    ///
    /// # Errors
    /// When `DATABASE_URL` is unset.
    pub fn database_url(&self) -> Result<&str> {
        self.database_url.as_deref().context(
            "DATABASE_URL is not set; give it (postgres://user@host/database), or let \
             `scalewatch up` bring a Postgres of its own",
        )
    }
}

impl Mail {
    fn from_lookup(set: &impl Fn(&str) -> Option<String>) -> Mail {
        let to = set("SCALEWATCH_MAIL_TO").unwrap_or_else(|| "root@localhost".into());
        Mail {
            from: set("SCALEWATCH_MAIL_FROM").unwrap_or_else(|| "scalewatch@localhost".into()),
            to: to.split(',').map(|one| one.trim().to_owned()).filter(|s| !s.is_empty()).collect(),
            smtp_url: set("SCALEWATCH_SMTP_URL"),
            smtp_password_file: set("SCALEWATCH_SMTP_PASSWORD_FILE").map(PathBuf::from),
        }
    }
}

fn data_folder(set: &impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
    if let Some(folder) = set("SCALEWATCH_DATA") {
        return Ok(folder.into());
    }
    let xdg = set("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    xdg.or_else(|| set("HOME").map(|home| data_home(&home)))
        .map(|folder| folder.join("scalewatch"))
        .context("neither SCALEWATCH_DATA nor HOME is set: where should data go?")
}

/// Root's home is closed to the user that the private Postgres of a root's service runs as.
fn data_home(home: &str) -> PathBuf {
    match home {
        "/root" => "/var/lib".into(),
        _ => Path::new(home).join(".local/share"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&str, &str)]) -> Result<Config> {
        let settings: Vec<_> = settings.to_vec();
        Config::from_lookup(move |name| {
            let found = settings.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn defaults_need_nothing_but_a_home() {
        let config = config(&[("HOME", "/home/ada"), ("DATABASE_URL", "")]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8420");
        assert_eq!(config.public_url, "http://127.0.0.1:8420");
        assert_eq!(config.data, Path::new("/home/ada/.local/share/scalewatch"));
        assert_eq!(config.database_url, None);
        assert!(config.database_url().unwrap_err().to_string().contains("scalewatch up"));
        assert_eq!(config.mail.to, ["root@localhost"]);
    }

    #[test]
    fn the_xdg_folder_and_our_own_variable_win_over_home() {
        let home = ("HOME", "/home/ada");
        let xdg = config(&[home, ("XDG_DATA_HOME", "/data")]).unwrap();
        assert_eq!(xdg.data, Path::new("/data/scalewatch"));
        let root = config(&[("HOME", "/root")]).unwrap();
        assert_eq!(root.data, Path::new("/var/lib/scalewatch"));
        let relative = config(&[home, ("XDG_DATA_HOME", "data")]).unwrap();
        assert_eq!(relative.data, Path::new("/home/ada/.local/share/scalewatch"));
        let own = config(&[home, ("XDG_DATA_HOME", "/data"), ("SCALEWATCH_DATA", "/sw")]).unwrap();
        assert_eq!(own.data, Path::new("/sw"));
    }

    #[test]
    fn a_value_that_cannot_be_read_is_refused_by_its_name() {
        for (name, value) in [
            ("SCALEWATCH_LISTEN", "localhost"),
            ("SCALEWATCH_LOG_FORMAT", "xml"),
            ("SCALEWATCH_DATABASE_CONNECTIONS", "1"),
            ("SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE", "0"),
        ] {
            let refused = config(&[("HOME", "/h"), (name, value)]).unwrap_err().to_string();
            assert!(refused.contains(name) && refused.contains(value), "{refused}");
        }
        assert!(config(&[]).unwrap_err().to_string().contains("SCALEWATCH_DATA"));
    }

    #[test]
    fn links_name_the_port_that_was_bound_unless_an_address_was_given() {
        let bound = SocketAddr::from(([127, 0, 0, 1], 4711));
        let free = [("HOME", "/h"), ("SCALEWATCH_LISTEN", "127.0.0.1:0")];
        assert_eq!(config(&free).unwrap().bound_to(bound).public_url, "http://127.0.0.1:4711");
        let given = [("HOME", "/h"), ("SCALEWATCH_URL", "https://perf.example.org/")];
        assert_eq!(config(&given).unwrap().bound_to(bound).public_url, "https://perf.example.org");
    }

    #[test]
    fn mail_goes_to_every_address_of_the_list() {
        let config = config(&[("HOME", "/h"), ("SCALEWATCH_MAIL_TO", "a@x, b@x,")]).unwrap();
        assert_eq!(config.mail.to, ["a@x", "b@x"]);
    }
}
