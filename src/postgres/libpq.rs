//! The address of a database as Postgres' own programs take it: from their environment, so that a
//! password stands on no command line.

use anyhow::{Context, Result};
use url::Url;

/// Variables by which libpq finds the database of this `DATABASE_URL`. What the address leaves open
/// is left to libpq, which reads the same variables as the service.
///
/// # Errors
/// An address that cannot be read.
pub(super) fn environment(address: &str) -> Result<Vec<(&'static str, String)>> {
    let url = Url::parse(address).ok().context("the address of the database cannot be read")?;
    let mut found = Vec::new();
    let mut add = |name: &'static str, value: &str| {
        if !value.is_empty() {
            found.push((name, value.to_owned()));
        }
    };
    // A path as host is a socket's folder.
    let host = url.host_str().map(|host| host.trim_matches(['[', ']']));
    add("PGHOST", &decoded(host.unwrap_or_default()));
    add("PGPORT", &url.port().map(|port| port.to_string()).unwrap_or_default());
    add("PGUSER", &decoded(url.username()));
    add("PGPASSWORD", &decoded(url.password().unwrap_or_default()));
    add("PGDATABASE", &decoded(url.path().trim_start_matches('/')));
    for (key, value) in url.query_pairs() {
        match &*key {
            "host" => add("PGHOST", &value),
            "hostaddr" => add("PGHOSTADDR", &value),
            "port" => add("PGPORT", &value),
            "user" => add("PGUSER", &value),
            "password" => add("PGPASSWORD", &value),
            "dbname" => add("PGDATABASE", &value),
            "sslmode" | "ssl-mode" => add("PGSSLMODE", &value),
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => add("PGSSLROOTCERT", &value),
            "sslcert" | "ssl-cert" => add("PGSSLCERT", &value),
            "sslkey" | "ssl-key" => add("PGSSLKEY", &value),
            "options" => add("PGOPTIONS", &value),
            _ => {}
        }
    }
    Ok(found)
}

/// The address with its password struck out.
pub fn masked(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return "(cannot be read)".into() };
    if url.password().is_some() {
        // Only addresses without a host have no place for a password.
        let _ = url.set_password(Some("***"));
    }
    if url.query_pairs().any(|(key, _)| key == "password") {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(key, value)| match &*key {
                "password" => (key.into_owned(), "***".into()),
                _ => (key.into_owned(), value.into_owned()),
            })
            .collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.into()
}

fn decoded(text: &str) -> String {
    // A lone key of a form is percent-encoded text in which `+` stands for itself here.
    let text = text.replace('+', "%2B");
    let pair = url::form_urlencoded::parse(text.as_bytes()).next();
    pair.map(|(key, _)| key.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str) -> Vec<(&'static str, String)> {
        environment(address).unwrap()
    }

    fn pairs<const N: usize>(found: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
        found.map(|(name, value)| (name, value.to_owned())).into()
    }

    #[test]
    fn every_part_of_an_address_reaches_libpq() {
        assert_eq!(
            read("postgres://ada:p%40ss+w@db.example.org:5433/perf?sslmode=require&ssl-ca=/ca.pem"),
            pairs([
                ("PGHOST", "db.example.org"),
                ("PGPORT", "5433"),
                ("PGUSER", "ada"),
                ("PGPASSWORD", "p@ss+w"),
                ("PGDATABASE", "perf"),
                ("PGSSLMODE", "require"),
                ("PGSSLROOTCERT", "/ca.pem"),
            ])
        );
        let socket = read("postgres://me@localhost/postgres?host=/var/a%20b");
        assert_eq!(socket.last(), Some(&("PGHOST", "/var/a b".to_owned())), "the later one counts");
        assert_eq!(read("postgres://[::1]/x")[0], ("PGHOST", "::1".to_owned()));
        assert!(environment("not an address").is_err());
    }

    #[test]
    fn a_password_is_struck_out_wherever_it_stands() {
        for address in ["postgres://ada:secret@db/x", "postgres://ada@db/x?password=secret&port=1"]
        {
            let shown = masked(address);
            assert!(!shown.contains("secret") && shown.contains("***"), "{shown}");
            assert!(shown.contains("ada") && shown.contains("db"), "{shown}");
        }
        assert_eq!(masked("postgres://ada@db/x"), "postgres://ada@db/x");
        assert!(!masked("secret").contains("secret"));
    }
}
