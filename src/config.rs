//! Settings, from flags, the environment and a file; each has a default that needs nothing.

mod network;
mod reader;
mod shown;
mod sources;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::account::oidc;
pub use network::Network;
use reader::{Reader, data_folder, proxy, tls};
pub use sources::{FILE_VARIABLE, SETTINGS, Sources};

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
    /// `DATABASE_REPLICA_URL`: a streaming replica that pages and API read from.
    pub database_replica_url: Option<String>,
    /// `SCALEWATCH_REPLICA_LAG_SECONDS`: a replica further behind is not read from; default 10.
    pub replica_lag_s: u32,
    /// `SCALEWATCH_SHUTDOWN_SECONDS`: how long requests in flight and the worker's unit of work may
    /// still take once the service is told to stop; default 10.
    pub shutdown_s: u32,
    /// `SCALEWATCH_LOG_FORMAT`: `text` (default) or `json`. What is logged is set by `RUST_LOG`.
    pub log_format: LogFormat,
    /// Where mail goes.
    pub mail: Mail,
    /// Whoever calls by a loopback name needs no account. Set by the command (`up`, or `serve
    /// --local-owner`) and only for a service that listens on loopback alone.
    pub local_owner: bool,
    /// What proxies in front of us are believed.
    pub proxy: Proxy,
    /// Where TLS is ours to speak.
    pub tls: Option<Tls>,
    /// When the service counts as not ready.
    pub ready: Ready,
    /// `SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE`: most requests of one token in a minute; default 6000.
    pub token_requests_per_minute: i32,
    /// `SCALEWATCH_PASSWORD_LOGIN`: `on` (default), or `off` where people sign in by a provider alone.
    pub password_login: bool,
    /// The provider that people may sign in by, `SCALEWATCH_OIDC_…`.
    pub oidc: Option<oidc::Settings>,
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

/// Proxies in front of us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// `SCALEWATCH_TRUSTED_PROXIES`, comma-separated: networks whose word about the client is taken;
    /// default none.
    pub trusted: Vec<Network>,
    /// `SCALEWATCH_PROXY_HEADER`: where they name the client: `X-Forwarded-For` (default), `Forwarded` or
    /// one of their own. They have to set it on every request: no other header is looked at.
    pub header: String,
}

/// Certificate and key, in PEM files; both are read again when they change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// `SCALEWATCH_TLS_CERTIFICATE`: the certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// `SCALEWATCH_TLS_KEY`.
    pub key: PathBuf,
}

/// Limits of `/health/ready`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// `SCALEWATCH_READY_WORKER_SECONDS`: longest since the worker's last step; default 300.
    pub worker_s: u32,
    /// `SCALEWATCH_READY_MAIL_SECONDS`: longest that a mail waits; default 3600.
    pub mail_s: u32,
    /// `SCALEWATCH_READY_DISK_PERCENT`: least of the data folder's disk that is free; default 5.
    pub disk_percent: u32,
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
    /// Settings where `lookup` gives the value of a variable; an empty value counts as unset.
    ///
    /// # Errors
    /// Every variable whose value cannot be read, by its name.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Config> {
        let (config, problems) = Config::read(&Sources::of(lookup));
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        Ok(config)
    }

    /// Settings by these sources, and everything that is wrong with them. What cannot be read stands at
    /// its default. A password is never repeated.
    pub fn read(sources: &Sources) -> (Config, Vec<String>) {
        let reader = Reader::new(sources);
        let set = |name: &str| reader.set(name);
        let listen = reader.value(
            "SCALEWATCH_LISTEN",
            SocketAddr::from(([127, 0, 0, 1], 8420)),
            "not an address such as 127.0.0.1:8420",
            |text| text.parse().ok(),
        );
        let log_format = |text: &str| LogFormat::parse(text);
        let number = |name, default, range: std::ops::RangeInclusive<u32>| {
            let limit = format!("not {} to {}", range.start(), range.end());
            reader.value(name, default, &limit, |text| {
                text.parse().ok().filter(|number| range.contains(number))
            })
        };
        let tls = tls(&reader);
        let oidc = oidc::Settings::from_lookup(&set).unwrap_or_else(|problem| {
            reader.refuse(format!("{problem:#}"));
            None
        });
        let password_login = reader.value(
            "SCALEWATCH_PASSWORD_LOGIN",
            true,
            "neither on nor, where SCALEWATCH_OIDC_ISSUER is set, off: nobody could log in",
            |text| match text {
                "on" => Some(true),
                "off" if set("SCALEWATCH_OIDC_ISSUER").is_some() => Some(false),
                _ => None,
            },
        );
        let config = Config {
            password_login,
            oidc,
            listen,
            public_url: set("SCALEWATCH_URL").map_or_else(
                || own_address(tls.is_some(), listen),
                |url| url.trim_end_matches('/').into(),
            ),
            data: data_folder(&reader),
            database_url: reader.database("DATABASE_URL"),
            database_connections: number("SCALEWATCH_DATABASE_CONNECTIONS", 16, 2..=1000),
            database_replica_url: reader.database("DATABASE_REPLICA_URL"),
            replica_lag_s: number("SCALEWATCH_REPLICA_LAG_SECONDS", 10, 1..=86_400),
            shutdown_s: number("SCALEWATCH_SHUTDOWN_SECONDS", 10, 1..=3600),
            log_format: reader.value(
                "SCALEWATCH_LOG_FORMAT",
                LogFormat::Text,
                "neither text nor json",
                log_format,
            ),
            mail: Mail::from_lookup(&set),
            local_owner: false,
            token_requests_per_minute: reader.value(
                "SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE",
                6000,
                "not 1 to 1000000000",
                |text| text.parse().ok().filter(|number| (1..=1_000_000_000).contains(number)),
            ),
            proxy: proxy(&reader),
            tls,
            ready: Ready {
                worker_s: number("SCALEWATCH_READY_WORKER_SECONDS", 300, 10..=86_400),
                mail_s: number("SCALEWATCH_READY_MAIL_SECONDS", 3600, 60..=2_592_000),
                disk_percent: number("SCALEWATCH_READY_DISK_PERCENT", 5, 0..=90),
            },
        };
        reader.value(
            "SCALEWATCH_URL",
            (),
            "not an address such as https://perf.example.org",
            |text| {
                let url = url::Url::parse(text).ok()?;
                (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(())
            },
        );
        (config, reader.into_problems())
    }

    /// Whether browsers reach us by TLS alone: then cookies are sent by TLS alone.
    pub fn is_by_tls(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// The same settings once the port is bound: a port left to the kernel (0) is known by then,
    /// and the default of `SCALEWATCH_URL` names it.
    pub fn bound_to(mut self, address: SocketAddr) -> Config {
        if self.public_url == own_address(self.tls.is_some(), self.listen) {
            self.public_url = own_address(self.tls.is_some(), address);
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

fn own_address(by_tls: bool, listen: SocketAddr) -> String {
    format!("{}://{listen}", if by_tls { "https" } else { "http" })
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
            ("SCALEWATCH_SHUTDOWN_SECONDS", "0"),
            ("SCALEWATCH_REPLICA_LAG_SECONDS", "never"),
            ("SCALEWATCH_READY_DISK_PERCENT", "91"),
            ("SCALEWATCH_URL", "perf.example.org"),
            ("SCALEWATCH_URL", "ftp://perf.example.org"),
            ("SCALEWATCH_TRUSTED_PROXIES", "10.0.0.0/8, 10.0.0.0/99"),
            ("SCALEWATCH_PROXY_HEADER", "X-Forwarded-For:"),
            ("SCALEWATCH_PASSWORD_LOGIN", "no"),
            ("SCALEWATCH_PASSWORD_LOGIN", "off"),
            ("SCALEWATCH_OIDC_ISSUER", "id.example.org"),
        ] {
            let refused = config(&[("HOME", "/h"), (name, value)]).unwrap_err().to_string();
            assert!(refused.contains(name) && refused.contains(value), "{refused}");
        }
        assert!(config(&[]).unwrap_err().to_string().contains("SCALEWATCH_DATA"));
        let half = config(&[("HOME", "/h"), ("SCALEWATCH_TLS_KEY", "/key")]).unwrap_err();
        assert!(half.to_string().contains("SCALEWATCH_TLS_CERTIFICATE"), "{half}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once_and_no_password_with_it() {
        let refused = config(&[
            ("HOME", "/h"),
            ("SCALEWATCH_LISTEN", "localhost"),
            ("DATABASE_URL", "mysql://ada:secret@db/x"),
            ("DATABASE_REPLICA_URL", "postgres://ada:secret@db:port/x"),
            ("SCALEWATCH_LOG_FORMAT", "xml"),
        ]);
        let refused = refused.unwrap_err().to_string();
        for name in
            ["SCALEWATCH_LISTEN", "DATABASE_URL", "DATABASE_REPLICA_URL", "SCALEWATCH_LOG_FORMAT"]
        {
            assert!(refused.contains(name), "{name} is not in {refused}");
        }
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn nobody_is_trusted_before_a_proxy_is_named() {
        let trusted = |settings: &[(&str, &str)]| {
            let settings = [settings, &[("HOME", "/h")]].concat();
            let proxy = config(&settings).unwrap().proxy;
            (proxy.trusted.iter().map(ToString::to_string).collect::<Vec<_>>(), proxy.header)
        };
        assert_eq!(trusted(&[]), (vec![], "X-Forwarded-For".into()));
        let header = ("SCALEWATCH_PROXY_HEADER", "Forwarded");
        let alone = config(&[("HOME", "/h"), header]).unwrap_err().to_string();
        assert!(alone.contains("SCALEWATCH_TRUSTED_PROXIES"), "{alone}");
        let (networks, _) =
            trusted(&[header, ("SCALEWATCH_TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.1")]);
        assert_eq!(networks, ["10.0.0.0/8", "192.0.2.1/32"]);
    }

    #[test]
    fn links_are_by_tls_where_we_speak_it() {
        let tls = [
            ("HOME", "/h"),
            ("SCALEWATCH_TLS_KEY", "/key"),
            ("SCALEWATCH_TLS_CERTIFICATE", "/certificate"),
        ];
        let config = config(&tls).unwrap();
        assert_eq!(config.public_url, "https://127.0.0.1:8420");
        let bound = SocketAddr::from(([127, 0, 0, 1], 4711));
        assert_eq!(config.bound_to(bound).public_url, "https://127.0.0.1:4711");
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
