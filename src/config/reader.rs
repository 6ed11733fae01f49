//! Values as the sources give them, and everything that is wrong with them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::{Proxy, Sources, Tls};
use crate::db;

/// Reads values and remembers what is wrong with them.
pub(super) struct Reader<'a> {
    sources: &'a Sources,
    problems: RefCell<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sources: &'a Sources) -> Reader<'a> {
        Reader { sources, problems: RefCell::default() }
    }

    pub(super) fn into_problems(self) -> Vec<String> {
        self.problems.into_inner()
    }

    /// Remembers a problem that names its variable itself.
    pub(super) fn refuse(&self, problem: String) {
        self.problems.borrow_mut().push(problem);
    }

    pub(super) fn set(&self, name: &str) -> Option<String> {
        self.sources.get(name).filter(|value| !value.trim().is_empty())
    }

    fn problem(&self, name: &str, what: &str) {
        self.refuse(format!("{} {what}", self.sources.name(name)));
    }

    pub(super) fn value<T>(
        &self,
        name: &str,
        default: T,
        limit: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> T {
        let Some(text) = self.set(name) else { return default };
        parse(text.trim()).unwrap_or_else(|| {
            self.problem(name, &format!("is `{text}`, {limit}"));
            default
        })
    }

    pub(super) fn database(&self, name: &str) -> Option<String> {
        let url = self.set(name)?;
        if let Err(error) = db::check_address(&url) {
            self.problem(name, &format!("{error:#}"));
        }
        Some(url)
    }
}

pub(super) fn tls(reader: &Reader<'_>) -> Option<Tls> {
    let (certificate, key) = ("SCALEWATCH_TLS_CERTIFICATE", "SCALEWATCH_TLS_KEY");
    match (reader.set(certificate), reader.set(key)) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            Some(Tls { certificate: certificate.into(), key: key.into() })
        }
        (Some(_), None) => {
            reader.problem(certificate, "is set without SCALEWATCH_TLS_KEY (`tls.key`)");
            None
        }
        (None, Some(_)) => {
            reader.problem(key, "is set without SCALEWATCH_TLS_CERTIFICATE (`tls.certificate`)");
            None
        }
    }
}

pub(super) fn proxy(reader: &Reader<'_>) -> Proxy {
    let (trusted, header) = ("SCALEWATCH_TRUSTED_PROXIES", "SCALEWATCH_PROXY_HEADER");
    if reader.set(header).is_some() && reader.set(trusted).is_none() {
        reader.problem(
            header,
            "is set, but SCALEWATCH_TRUSTED_PROXIES (`proxy.trusted`) names nobody who may send it",
        );
    }
    Proxy {
        trusted: reader.value(
            trusted,
            Vec::new(),
            "not networks such as 10.0.0.0/8 with commas between",
            |text| {
                let all = text.split(',').map(str::trim).filter(|one| !one.is_empty());
                all.map(|one| one.parse().ok()).collect()
            },
        ),
        header: reader.value(
            header,
            "X-Forwarded-For".into(),
            "not the name of a header",
            |text| {
                let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                text.bytes().all(fits).then(|| text.to_owned())
            },
        ),
    }
}

pub(super) fn data_folder(reader: &Reader<'_>) -> PathBuf {
    if let Some(folder) = reader.set("SCALEWATCH_DATA") {
        return folder.into();
    }
    let xdg = reader.set("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = xdg.or_else(|| reader.set("HOME").map(|home| data_home(&home)));
    home.map(|folder| folder.join("scalewatch")).unwrap_or_else(|| {
        reader.problem("SCALEWATCH_DATA", "is not set and neither is HOME: where should data go?");
        PathBuf::new()
    })
}

/// Root's home is closed to the user that the private Postgres of a root's service runs as.
fn data_home(home: &str) -> PathBuf {
    match home {
        "/root" => "/var/lib".into(),
        _ => Path::new(home).join(".local/share"),
    }
}
