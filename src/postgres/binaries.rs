//! Finds the system's Postgres programs and picks the ones a cluster, or a server elsewhere, needs.

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
        folders("postgres").iter().filter_map(|folder| Binaries::in_folder(folder)).collect()
    }

    /// The server in `folder`, if it is complete and says its version.
    fn in_folder(folder: &Path) -> Option<Binaries> {
        let major = major_in(folder, &["postgres", "initdb", "pg_ctl"])?;
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
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The programs that copy databases, `pg_dump` and `pg_restore`, in one folder. Machines that have no
/// server may have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copiers {
    folder: PathBuf,
    major: u32,
}

impl Copiers {
    /// Every installed pair, in order of preference as [`Binaries::installed`].
    pub fn installed() -> Vec<Copiers> {
        let found = folders("pg_dump").into_iter().filter_map(|folder| {
            let major = major_in(&folder, &["pg_dump", "pg_restore"])?;
            Some(Copiers { folder, major })
        });
        found.collect()
    }

    /// The pair for a server of this major version: the same version, else the next newer one, since
    /// older ones refuse.
    ///
    /// # Errors
    /// Says what is installed, what is needed, and what to do.
    pub fn choose(installed: &[Copiers], server: u32) -> Result<Copiers> {
        let fits = installed.iter().filter(|found| found.major >= server);
        if let Some(found) = fits.min_by_key(|found| found.major) {
            return Ok(found.clone());
        }
        let listed: Vec<String> = installed
            .iter()
            .map(|found| format!("{} in {}", found.major, found.folder.display()))
            .collect();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        bail!(
            "the server is PostgreSQL {server}, and no pg_dump and pg_restore of that version or a \
             newer one are installed (found: {listed}); install them (Debian and Ubuntu: apt-get \
             install postgresql-client)"
        )
    }

    /// Path of one of its programs.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Folders in which Postgres' programs may lie, each once: where `program` on `PATH` leads to,
/// `pg_config --bindir`, then the distribution's folders, newest first.
fn folders(program: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = on_path(&path, program);
    folders.extend(bindir_of_pg_config());
    for parent in VERSIONED {
        folders.extend(versioned(Path::new(parent)));
    }
    let mut once: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !once.contains(&folder) {
            once.push(folder);
        }
    }
    once
}

/// Major version of the first of these programs, if the folder holds all of them and it says so.
fn major_in(folder: &Path, programs: &[&str]) -> Option<u32> {
    let first = programs.first().filter(|_| programs.iter().all(|p| folder.join(p).is_file()))?;
    let said = Command::new(folder.join(first)).arg("--version").output().ok()?;
    major_of(&String::from_utf8_lossy(&said.stdout))
}

/// Folders on `path` whose `program` leads to Postgres' own; links are followed to their real folder.
fn on_path(path: &OsStr, program: &str) -> Vec<PathBuf> {
    std::env::split_paths(path)
        .filter_map(|folder| fs::canonicalize(folder.join(program)).ok())
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

/// Major version in the answer of a program to `--version`.
fn major_of(version: &str) -> Option<u32> {
    let (_, number) = version.trim().split_once(" (PostgreSQL) ")?;
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
        assert_eq!(major_of("pg_dump (PostgreSQL) 17.5\n"), Some(17));
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

    fn copiers(major: u32) -> Copiers {
        Copiers { folder: format!("/pg/{major}/bin").into(), major }
    }

    #[test]
    fn a_server_is_copied_by_programs_of_its_own_version_else_by_the_next_newer_ones() {
        let installed = [copiers(18), copiers(14), copiers(17), copiers(16)];
        let chosen = |server| Copiers::choose(&installed, server).map(|found| found.major);
        assert_eq!(chosen(16).unwrap(), 16);
        assert_eq!(chosen(15).unwrap(), 16);
        let refused = chosen(19).unwrap_err().to_string();
        assert!(refused.contains("PostgreSQL 19") && refused.contains("18 in /pg/18/bin"));
        assert!(Copiers::choose(&[], 15).unwrap_err().to_string().contains("found: none"));
    }
}
