//! Finds the system's Postgres server binaries and picks the ones a cluster needs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

/// The oldest major version that is used.
pub const OLDEST_MAJOR: u32 = 15;

/// Folders under which distributions keep one folder a major version, each with a `bin`.
const VERSIONED: [&str; 3] =
    ["/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/postgresql"];

/// One installed Postgres server: `initdb`, `pg_ctl` and `postgres` in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
    major: u32,
}

impl Binaries {
    /// Every installed server, in order of preference: `PATH`, `pg_config --bindir`, then the
    /// distribution's folders, newest first.
    pub fn installed() -> Vec<Binaries> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = on_path(&path);
        folders.extend(bindir_of_pg_config());
        for parent in VERSIONED {
            folders.extend(versioned(Path::new(parent)));
        }
        let mut found: Vec<Binaries> = Vec::new();
        for folder in folders {
            if !found.iter().any(|known| known.folder == folder)
                && let Some(binaries) = Binaries::in_folder(&folder)
            {
                found.push(binaries);
            }
        }
        found
    }

    /// The server in `folder`, if it is complete and says its version.
    fn in_folder(folder: &Path) -> Option<Binaries> {
        let complete =
            ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file());
        if !complete {
            return None;
        }
        let said = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
        let major = major_of(&String::from_utf8_lossy(&said.stdout))?;
        Some(Binaries { folder: folder.to_owned(), major })
    }

    /// The server for a cluster made by major version `made_by`, or for a new one.
    ///
    /// # Errors
    /// Says what is installed, what is needed, and what to do.
    pub fn choose(installed: &[Binaries], made_by: Option<u32>) -> Result<Binaries> {
        let wanted = |found: &&Binaries| match made_by {
            Some(major) => found.major == major,
            None => found.major >= OLDEST_MAJOR,
        };
        if let Some(found) = installed.iter().find(wanted) {
            return Ok(found.clone());
        }
        let listed = installed
            .iter()
            .map(|found| format!("{} in {}", found.major, found.folder.display()))
            .collect::<Vec<_>>();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        match made_by {
            Some(major) => bail!(
                "it was made by PostgreSQL {major}, whose server is not installed (found: {listed}); \
                 install PostgreSQL {major}, or upgrade the folder with pg_upgrade, or set \
                 DATABASE_URL or another SCALEWATCH_DATA"
            ),
            None => bail!(
                "no PostgreSQL server of version {OLDEST_MAJOR} or newer is installed (found: \
                 {listed}); install one (Debian and Ubuntu: apt-get install postgresql), or set \
                 DATABASE_URL"
            ),
        }
    }

    /// Major version, e.g. 15.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// Path of one of its programs.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Folders on `path` whose `postgres` leads to a server; links are followed to their real folder.
fn on_path(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path)
        .filter_map(|folder| fs::canonicalize(folder.join("postgres")).ok())
        .filter_map(|program| program.parent().map(Path::to_owned))
        .collect()
}

fn bindir_of_pg_config() -> Option<PathBuf> {
    let said = Command::new("pg_config").arg("--bindir").output().ok()?;
    fs::canonicalize(String::from_utf8(said.stdout).ok()?.trim()).ok()
}

/// `<parent>/<major>/bin`, newest first.
fn versioned(parent: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let major = entry.file_name().to_str()?.parse().ok()?;
            Some((major, fs::canonicalize(entry.path().join("bin")).ok()?))
        })
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// Major version in the answer to `postgres --version`.
fn major_of(version: &str) -> Option<u32> {
    let number = version.trim().strip_prefix("postgres (PostgreSQL) ")?;
    let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(major: u32) -> Binaries {
        Binaries { folder: format!("/pg/{major}/bin").into(), major }
    }

    #[test]
    fn the_version_is_read_from_releases_and_betas() {
        assert_eq!(major_of("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(major_of("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_of("something else 15"), None);
    }

    #[test]
    fn a_new_cluster_gets_the_first_server_that_is_new_enough() {
        let installed = [server(14), server(16), server(17)];
        assert_eq!(Binaries::choose(&installed, None).unwrap().major(), 16);
    }

    #[test]
    fn a_cluster_gets_the_server_that_made_it_though_a_newer_one_is_installed() {
        let installed = [server(17), server(15)];
        assert_eq!(Binaries::choose(&installed, Some(15)).unwrap().major(), 15);
    }

    #[test]
    fn another_major_version_is_refused_naming_both() {
        let refused = Binaries::choose(&[server(15)], Some(12)).unwrap_err().to_string();
        assert!(refused.contains("made by PostgreSQL 12"), "{refused}");
        assert!(refused.contains("15 in /pg/15/bin"), "{refused}");
    }

    #[test]
    fn without_a_server_it_says_what_to_install() {
        let refused = Binaries::choose(&[server(13)], None).unwrap_err().to_string();
        assert!(refused.contains("15 or newer") && refused.contains("13 in"), "{refused}");
        assert!(Binaries::choose(&[], None).unwrap_err().to_string().contains("found: none"));
    }
}
