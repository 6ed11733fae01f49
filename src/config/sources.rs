//! Where settings come from: flags win over the environment, the environment over the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

/// Names the file.
pub const FILE_VARIABLE: &str = "SCALEWATCH_CONFIG";

/// Everything that can be set: its key in the file and for `--set`, and its variable.
pub const SETTINGS: [(&str, &str); 38] = [
    ("listen", "SCALEWATCH_LISTEN"),
    ("url", "SCALEWATCH_URL"),
    ("data", "SCALEWATCH_DATA"),
    ("log_format", "SCALEWATCH_LOG_FORMAT"),
    ("shutdown_seconds", "SCALEWATCH_SHUTDOWN_SECONDS"),
    ("token_requests_per_minute", "SCALEWATCH_TOKEN_REQUESTS_PER_MINUTE"),
    ("password_login", "SCALEWATCH_PASSWORD_LOGIN"),
    ("database.url", "DATABASE_URL"),
    ("database.connections", "SCALEWATCH_DATABASE_CONNECTIONS"),
    ("database.replica_url", "DATABASE_REPLICA_URL"),
    ("database.replica_lag_seconds", "SCALEWATCH_REPLICA_LAG_SECONDS"),
    ("mail.from", "SCALEWATCH_MAIL_FROM"),
    ("mail.to", "SCALEWATCH_MAIL_TO"),
    ("mail.smtp_url", "SCALEWATCH_SMTP_URL"),
    ("mail.smtp_password_file", "SCALEWATCH_SMTP_PASSWORD_FILE"),
    ("tls.certificate", "SCALEWATCH_TLS_CERTIFICATE"),
    ("tls.key", "SCALEWATCH_TLS_KEY"),
    ("proxy.trusted", "SCALEWATCH_TRUSTED_PROXIES"),
    ("proxy.header", "SCALEWATCH_PROXY_HEADER"),
    ("oidc.issuer", "SCALEWATCH_OIDC_ISSUER"),
    ("oidc.client_id", "SCALEWATCH_OIDC_CLIENT_ID"),
    ("oidc.client_secret_file", "SCALEWATCH_OIDC_CLIENT_SECRET_FILE"),
    ("oidc.name", "SCALEWATCH_OIDC_NAME"),
    ("oidc.redirect_url", "SCALEWATCH_OIDC_REDIRECT_URL"),
    ("oidc.scopes", "SCALEWATCH_OIDC_SCOPES"),
    ("oidc.domains", "SCALEWATCH_OIDC_DOMAINS"),
    ("oidc.claims", "SCALEWATCH_OIDC_CLAIMS"),
    ("oidc.new_people", "SCALEWATCH_OIDC_NEW_PEOPLE"),
    ("oidc.link_by_email", "SCALEWATCH_OIDC_LINK_BY_EMAIL"),
    ("oidc.groups_claim", "SCALEWATCH_OIDC_GROUPS_CLAIM"),
    ("oidc.roles", "SCALEWATCH_OIDC_ROLES"),
    ("ready.worker_seconds", "SCALEWATCH_READY_WORKER_SECONDS"),
    ("ready.mail_seconds", "SCALEWATCH_READY_MAIL_SECONDS"),
    ("ready.disk_percent", "SCALEWATCH_READY_DISK_PERCENT"),
    // A secret that belongs into a file of its own.
    ("", "SCALEWATCH_OIDC_CLIENT_SECRET"),
    // Which folders others mean by the data folder.
    ("", "XDG_DATA_HOME"),
    ("", "HOME"),
    ("", FILE_VARIABLE),
];

/// Beginnings of variables that belong to the runner, its jobs and the tests.
const OTHERS: [&str; 19] = [
    "SCALEWATCH_RUNNER",
    "SCALEWATCH_TOKEN",
    "SCALEWATCH_SERVER",
    "SCALEWATCH_JOB",
    "SCALEWATCH_LEASE",
    "SCALEWATCH_PROJECT",
    "SCALEWATCH_SUBJECT",
    "SCALEWATCH_COMMIT",
    "SCALEWATCH_BRANCH",
    "SCALEWATCH_POSITION",
    "SCALEWATCH_PARENTS",
    "SCALEWATCH_TRY",
    "SCALEWATCH_GIVEN",
    "SCALEWATCH_INSIDE_POINT",
    "SCALEWATCH_MACHINE",
    "SCALEWATCH_SOAK",
    "SCALEWATCH_SHOTS",
    "SCALEWATCH_SCHEMATHESIS",
    "SCALEWATCH_AXE",
];

/// What one of the three says.
type Layer = BTreeMap<&'static str, String>;

/// All that was given, by variable.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    flags: Layer,
    environment: Layer,
    file: Layer,
    path: Option<PathBuf>,
    /// Names that nothing reads, and what is like no setting.
    problems: Vec<String>,
}

impl Sources {
    /// What flags (`KEY=VALUE`), the environment and the file that one of them names say.
    ///
    /// # Errors
    /// A file that cannot be read as TOML, a flag that is no setting.
    pub fn read(
        path: Option<&Path>,
        flags: &[String],
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Sources> {
        let mut sources = Sources::default();
        for flag in flags {
            let (key, value) =
                flag.split_once('=').with_context(|| format!("--set {flag} is not KEY=VALUE"))?;
            let variable =
                variable_of(key).with_context(|| unknown(&format!("--set {key}"), key))?;
            ensure!(
                variable != "DATABASE_URL" && variable != "DATABASE_REPLICA_URL",
                "--set {key} would show its password to everybody on this machine; set {variable}, or \
                 `{key}` in a file"
            );
            sources.flags.insert(variable, value.to_owned());
        }
        for (name, value) in environment {
            if value.trim().is_empty() {
                continue;
            }
            match SETTINGS.iter().find(|(_, variable)| *variable == name) {
                Some((_, variable)) => {
                    sources.environment.insert(variable, value);
                }
                None if is_unknown(&name) => {
                    let hint = nearest(&name, SETTINGS.iter().map(|(_, variable)| *variable));
                    sources.problems.push(format!("{name} is no setting{hint}"));
                }
                None => {}
            }
        }
        let named = sources.environment.get(FILE_VARIABLE).map(PathBuf::from);
        if let Some(path) = path.map(Path::to_owned).or(named) {
            sources.read_file(&path).with_context(|| format!("reading {}", path.display()))?;
            sources.path = Some(path);
        }
        Ok(sources)
    }

    /// As if the environment were what `lookup` says, and nothing else.
    pub fn of(lookup: impl Fn(&str) -> Option<String>) -> Sources {
        let given = |(_, variable): &(&str, &'static str)| Some((*variable, lookup(variable)?));
        Sources { environment: SETTINGS.iter().filter_map(given).collect(), ..Sources::default() }
    }

    fn read_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path)?;
        let table: Map<String, Value> = basic_toml::from_str(&text)?;
        for (key, value) in flattened(table) {
            let Some(variable) = variable_of(&key) else {
                self.problems.push(unknown(&format!("`{key}` in {}", path.display()), &key));
                continue;
            };
            match words(&value) {
                Ok(value) => {
                    self.file.insert(variable, value);
                }
                Err(error) => {
                    self.problems.push(format!("`{key}` in {}: {error}", path.display()));
                }
            }
        }
        Ok(())
    }

    /// The value of a variable; an empty one counts as unset.
    pub fn get(&self, variable: &str) -> Option<String> {
        let layers = [&self.flags, &self.environment, &self.file];
        layers.into_iter().find_map(|layer| layer.get(variable)).cloned()
    }

    /// What a variable is called where its value was given.
    pub fn name(&self, variable: &str) -> String {
        let key = SETTINGS.iter().find(|(_, known)| *known == variable).map_or("", |(key, _)| key);
        if self.flags.contains_key(variable) {
            return format!("--set {key}");
        }
        match (&self.path, self.file.contains_key(variable)) {
            (Some(path), true) if !self.environment.contains_key(variable) => {
                format!("`{key}` in {}", path.display())
            }
            _ => variable.to_owned(),
        }
    }

    /// Where the value of a variable comes from, in a word.
    pub fn origin(&self, variable: &str) -> &'static str {
        let layers =
            [(&self.flags, "flag"), (&self.environment, "environment"), (&self.file, "file")];
        let given = layers.into_iter().find(|(layer, _)| layer.contains_key(variable));
        given.map_or("default", |(_, word)| word)
    }

    /// What was given and is no setting.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

fn variable_of(key: &str) -> Option<&'static str> {
    let found = SETTINGS.iter().find(|(known, _)| !known.is_empty() && *known == key);
    found.map(|(_, variable)| *variable)
}

fn is_unknown(name: &str) -> bool {
    (name.starts_with("SCALEWATCH_") || name.starts_with("DATABASE_REPLICA"))
        && !OTHERS.iter().any(|other| name.starts_with(other))
}

fn unknown(name: &str, key: &str) -> String {
    let keys = SETTINGS.iter().map(|(key, _)| *key).filter(|key| !key.is_empty());
    format!("{name} is no setting{}", nearest(key, keys))
}

/// `; did you mean …?` where some name differs little.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|one| (distance(name, one), one)).min();
    match near {
        Some((distance, one)) if distance <= 1 + name.len() / 5 => {
            format!("; did you mean {one}?")
        }
        _ => String::new(),
    }
}

/// How many letters have to be changed, added or taken away to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// `[mail] to = …` as `mail.to`.
fn flattened(table: Map<String, Value>) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (key, value) in table {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                flat.extend(flattened(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v)));
            }
            // A table that says nothing.
            Value::Object(_) => {}
            value => flat.push((key, value)),
        }
    }
    flat
}

/// A value as the environment would hold it.
fn words(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Ok(texts.context("a list holds texts alone")?.join(","))
        }
        _ => bail!("is neither a text, a number nor a list of texts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scalewatch.toml");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn environment(name: &str, value: &str) -> [(String, String); 1] {
        [(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let (_folder, path) =
            file("listen = \"1.1.1.1:1\"\nurl = \"http://file\"\ndata = \"/file\"\n");
        let set = [String::from("listen=3.3.3.3:3")];
        let both = [("SCALEWATCH_LISTEN", "2.2.2.2:2"), ("SCALEWATCH_URL", "http://environment")];
        let both = both.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sources = Sources::read(Some(&path), &set, both).unwrap();
        let get = |variable| sources.get(variable).unwrap();
        assert_eq!(get("SCALEWATCH_LISTEN"), "3.3.3.3:3");
        assert_eq!(get("SCALEWATCH_URL"), "http://environment");
        assert_eq!(get("SCALEWATCH_DATA"), "/file");
        assert_eq!(sources.origin("SCALEWATCH_LISTEN"), "flag");
        assert_eq!(sources.origin("SCALEWATCH_URL"), "environment");
        assert_eq!(sources.origin("SCALEWATCH_DATA"), "file");
        assert_eq!(sources.origin("DATABASE_URL"), "default");
        assert_eq!(sources.name("SCALEWATCH_LISTEN"), "--set listen");
        assert_eq!(sources.name("SCALEWATCH_URL"), "SCALEWATCH_URL");
        assert!(sources.name("SCALEWATCH_DATA").starts_with("`data` in /"));
    }

    #[test]
    fn tables_lists_and_numbers_of_the_file_are_settings() {
        let (_folder, path) = file(
            "shutdown_seconds = 7\n[mail]\nto = [\"a@x\", \"b@x\"]\n[database]\nconnections = 5\n[tls]\n",
        );
        let named = environment(FILE_VARIABLE, path.to_str().unwrap());
        let sources = Sources::read(None, &[], named).unwrap();
        assert_eq!(sources.get("SCALEWATCH_MAIL_TO").unwrap(), "a@x,b@x");
        assert_eq!(sources.get("SCALEWATCH_DATABASE_CONNECTIONS").unwrap(), "5");
        assert_eq!(sources.get("SCALEWATCH_SHUTDOWN_SECONDS").unwrap(), "7");
        assert!(sources.problems().is_empty(), "{:?}", sources.problems());
    }

    #[test]
    fn what_is_no_setting_is_named_with_what_may_have_been_meant() {
        let (_folder, path) =
            file("lisen = \"x\"\n[mail]\nto = [1]\ncolour = \"red\"\nfrom = true\n");
        let sources =
            Sources::read(Some(&path), &[], environment("SCALEWATCH_LISTN", "x")).unwrap();
        let said = sources.problems().join("\n");
        for part in [
            "SCALEWATCH_LISTN is no setting; did you mean SCALEWATCH_LISTEN?",
            "`lisen` in",
            "did you mean listen?",
            "`mail.colour` in",
            "a list holds texts alone",
            "`mail.from` in",
            "neither a text, a number",
        ] {
            assert!(said.contains(part), "{part} is not in\n{said}");
        }
        let theirs = Sources::read(None, &[], environment("SCALEWATCH_RUNNER_STATE", "x")).unwrap();
        assert!(theirs.problems().is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_and_a_flag_that_is_none_are_refused_at_once() {
        let (_folder, path) = file("listen = \n");
        let refusal = |path: Option<&Path>, flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            format!("{:#}", Sources::read(path, &flags, []).unwrap_err())
        };
        assert!(refusal(Some(&path), &[]).contains("scalewatch.toml"));
        assert!(refusal(Some(Path::new("/nowhere.toml")), &[]).contains("/nowhere.toml"));
        assert!(refusal(None, &["listen"]).contains("KEY=VALUE"));
        assert!(refusal(None, &["lisen=x"]).contains("did you mean listen?"));
        let secret = refusal(None, &["database.url=postgres://a:secret@b/c"]);
        assert!(secret.contains("DATABASE_URL") && !secret.contains("secret"), "{secret}");
    }
}
