//! The runner's state folder: who this machine is to which service, and the spool.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::{Server, Spool, Token, write_atomically};

/// The folder that outlives every run.
#[derive(Debug, Clone)]
pub struct StateDir(PathBuf);

/// What registering left behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// Base address of the service.
    pub server: Server,
    /// This machine's id as the service stored it.
    pub machine: String,
    /// Upload token, bound to this machine.
    pub token: Token,
}

impl StateDir {
    /// `$SCALEWATCH_RUNNER_STATE`, else `/var/lib/scalewatch-runner` for root, else
    /// `scalewatch-runner` in the XDG state folder.
    ///
    /// # Errors
    /// When neither the variables nor a home folder say where.
    pub fn locate() -> anyhow::Result<StateDir> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(dir) = set("SCALEWATCH_RUNNER_STATE") {
            return Ok(StateDir(dir));
        }
        if is_root() {
            return Ok(StateDir("/var/lib/scalewatch-runner".into()));
        }
        let base = set("XDG_STATE_HOME")
            .filter(|dir| dir.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".local/state")));
        match base {
            Some(base) => Ok(StateDir(base.join("scalewatch-runner"))),
            None => bail!("no state folder: set SCALEWATCH_RUNNER_STATE, XDG_STATE_HOME or HOME"),
        }
    }

    /// A state folder at a place of one's own.
    pub fn at(path: impl Into<PathBuf>) -> StateDir {
        StateDir(path.into())
    }

    /// Where the folder is, or would be.
    pub fn place(&self) -> &Path {
        &self.0
    }

    /// The folder, made with mode 0700 where it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn path(&self) -> anyhow::Result<&Path> {
        make_folder(&self.0)?;
        Ok(&self.0)
    }

    /// The spool inside.
    ///
    /// # Errors
    /// When its folders cannot be made.
    pub fn spool(&self) -> anyhow::Result<Spool> {
        Spool::open(&self.path()?.join("spool"), &self.0.join("refused"))
    }

    /// What [`StateDir::store`] kept; none where this machine was never registered.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn registration(&self) -> anyhow::Result<Option<Registration>> {
        let path = self.registration_file();
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        // serde_json's own message may repeat a piece of the text, and the text holds a token.
        match serde_json::from_str(&text) {
            Ok(registration) => Ok(Some(registration)),
            Err(error) => {
                bail!("{} is damaged at line {}: register again", path.display(), error.line())
            }
        }
    }

    /// Keeps a registration, mode 0600, replacing an older one at once.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn store(&self, registration: &Registration) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(registration).context("cannot write JSON")?;
        bytes.push(b'\n');
        self.path()?;
        write_atomically(&self.registration_file(), &bytes, 0o600)
    }

    /// Where the registration stands.
    pub fn registration_file(&self) -> PathBuf {
        self.0.join("registration.json")
    }
}

/// Makes a folder and its parents, readable by the owner alone.
pub fn make_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make the folder {}", path.display()))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_registration_is_kept_for_the_owner_alone_and_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::at(folder.path().join("state"));
        assert_eq!(state.registration().unwrap(), None);
        for token in ["sw_one", "sw_two"] {
            let registration = Registration {
                server: "http://127.0.0.1:8080".parse().unwrap(),
                machine: "5f1d7a84db00d2fc".into(),
                token: Token::new(token).unwrap(),
            };
            state.store(&registration).unwrap();
            assert_eq!(state.registration().unwrap(), Some(registration));
        }
        let file = std::fs::metadata(state.registration_file()).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        let dir = std::fs::metadata(state.path().unwrap()).unwrap();
        assert_eq!(dir.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_damaged_registration_is_said_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::at(folder.path());
        std::fs::write(state.registration_file(), "{\"token\": 5, \"sw_secret\": 1}").unwrap();
        let error = format!("{:#}", state.registration().unwrap_err());
        assert!(error.contains("register again"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}
