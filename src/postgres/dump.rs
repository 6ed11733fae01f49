//! A database into a file and back, by `pg_dump` and `pg_restore`.
//!
//! A [`Dump`] is written beside its place and renamed when it is whole, read back and on disk. An
//! [`Archive`] says what it holds before anything of it is restored, and is restored in one
//! transaction.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use super::{Copiers, libpq};
use crate::db::schema::Applied;

/// Where the migrator keeps what it applied.
const MIGRATIONS: &str = "_sqlx_migrations";

/// A file that is being written: gone when dropped before [`Dump::keep`].
#[derive(Debug)]
pub struct Dump {
    place: PathBuf,
    draft: PathBuf,
    /// Locked, so that two never write the same.
    file: File,
    kept: bool,
}

impl Dump {
    /// Begins the file that will lie at `place`, for its owner's eyes alone.
    ///
    /// # Errors
    /// When something lies there already and may not be replaced, or another dump to that place is
    /// being written.
    pub fn begin(place: &Path, replace: bool) -> Result<Dump> {
        let name = place.file_name().context("the backup needs the name of a file")?;
        ensure!(!place.is_dir(), "{} is a folder; name a file in it", place.display());
        ensure!(
            replace || !place.exists(),
            "{} is there already; name another file, or give --replace",
            place.display()
        );
        let mut draft = name.to_owned();
        draft.push(".part");
        let draft = place.with_file_name(draft);
        let file = hold(&draft)?;
        // What a killed one left.
        file.set_len(0).with_context(|| format!("emptying {}", draft.display()))?;
        Ok(Dump { place: place.to_owned(), draft, file, kept: false })
    }

    /// Copies the database of this address into the file, as it stood at one moment.
    ///
    /// # Errors
    /// An address that cannot be read, or what `pg_dump` said.
    pub async fn write(&self, address: &str, copiers: &Copiers) -> Result<()> {
        let file = self.file.try_clone().context("sharing the file")?;
        let mut command = command(copiers, "pg_dump");
        command.envs(libpq::environment(address)?).stdout(file);
        command.args(["--format=custom", "--no-owner", "--no-privileges", "--no-password"]);
        run(command, "pg_dump").await.map(drop)
    }

    /// Reads the file back, brings it to disk and gives it its name.
    ///
    /// # Errors
    /// A file that cannot be read back or moved; nothing lies at its place then.
    pub async fn keep(mut self, copiers: &Copiers) -> Result<Archive> {
        let mut archive = Archive::open(&self.draft, copiers).await.context("reading it back")?;
        self.file.sync_all().with_context(|| format!("writing {}", self.draft.display()))?;
        fs::rename(&self.draft, &self.place)
            .with_context(|| format!("moving the backup to {}", self.place.display()))?;
        self.kept = true;
        let folder = self.place.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
            .and_then(|folder| folder.sync_all())
            .context("writing the folder to disk")?;
        archive.path.clone_from(&self.place);
        Ok(archive)
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// Makes the draft where it is missing and locks it.
fn hold(draft: &Path) -> Result<File> {
    loop {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(draft)
            .with_context(|| format!("making {}", draft.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another backup is writing {}", draft.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", draft.display()));
            }
        }
        // Another one may have been given its name, and finished, since it was opened.
        let held = file.metadata().context("looking at the held file")?.ino();
        if fs::metadata(draft).is_ok_and(|named| named.ino() == held) {
            return Ok(file);
        }
    }
}

/// A file that [`Dump`] made.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    /// Major version of the server it was dumped from.
    pub server: u32,
    /// What was applied to it.
    pub migrations: Vec<Applied>,
}

impl Archive {
    /// Reads what the file says of itself.
    ///
    /// # Errors
    /// A file that is no dump of a scalewatch database, or is cut off before its rows.
    pub async fn open(path: &Path, copiers: &Copiers) -> Result<Archive> {
        File::open(path).with_context(|| format!("opening {}", path.display()))?;
        let no_backup = || format!("{} is no backup that can be read", path.display());
        let mut list = command(copiers, "pg_restore");
        list.arg("--list").arg(path);
        let list = run(list, "pg_restore").await.with_context(no_backup)?;
        let server = server_of(&list).with_context(no_backup)?;
        let mut rows = command(copiers, "pg_restore");
        rows.args(["--data-only", "--file=-"]).arg(format!("--table={MIGRATIONS}")).arg(path);
        let rows = run(rows, "pg_restore").await.with_context(no_backup)?;
        let migrations = migrations_in(&rows)
            .with_context(|| format!("{} is no backup of a scalewatch database", path.display()))?;
        Ok(Archive { path: path.to_owned(), server, migrations })
    }

    /// Brings everything into the empty database of this address, all of it or nothing.
    ///
    /// # Errors
    /// An address that cannot be read, or what `pg_restore` said; the database is empty then.
    pub async fn restore(&self, address: &str, copiers: &Copiers) -> Result<()> {
        let variables = libpq::environment(address)?;
        let database = variables.iter().rev().find(|(name, _)| *name == "PGDATABASE");
        let user = variables.iter().rev().find(|(name, _)| *name == "PGUSER");
        let name = database.or(user).map(|(_, name)| name.as_str());
        let name = name.context("the address names no database")?;
        let mut command = command(copiers, "pg_restore");
        command.args(["--single-transaction", "--no-owner", "--no-privileges", "--no-password"]);
        // Quoted: a bare name with `=` in it would be taken for more than a name.
        let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
        command.arg(format!("--dbname=dbname='{quoted}'")).arg(&self.path);
        command.envs(variables);
        run(command, "pg_restore").await.map(drop)
    }
}

fn command(copiers: &Copiers, program: &str) -> Command {
    let mut command = Command::new(copiers.program(program));
    // Messages that are read stay in one language; a command that is given up ends its program too.
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

/// What the program printed, where it was not sent elsewhere.
async fn run(mut command: Command, name: &str) -> Result<String> {
    let started = command.spawn().with_context(|| format!("running {name}"))?;
    let done = started.wait_with_output().await.with_context(|| format!("running {name}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{name} failed ({}): {}", done.status, said.trim());
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Major version in `pg_restore --list`.
fn server_of(list: &str) -> Option<u32> {
    let line = list.lines().find_map(|line| line.split_once("Dumped from database version: "))?;
    line.1.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Rows of the migrator's table, as `COPY` writes them.
fn migrations_in(sql: &str) -> Result<Vec<Applied>> {
    let mut lines = sql.lines().skip_while(|line| !line.starts_with("COPY "));
    let head = lines.next().context("it holds no list of migrations")?;
    let columns = head.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let (columns, _) = columns.context("its list of migrations has no columns")?;
    let columns: Vec<&str> = columns.split(", ").collect();
    lines.take_while(|line| *line != "\\.").map(|line| applied(&columns, line)).collect()
}

fn applied(columns: &[&str], line: &str) -> Result<Applied> {
    let fields: Vec<&str> = line.split('\t').collect();
    let field = |name: &str| {
        let at = columns.iter().position(|column| *column == name);
        at.and_then(|at| fields.get(at).copied()).with_context(|| format!("`{name}` is missing"))
    };
    let checksum = field("checksum")?.trim_start_matches("\\\\x");
    let byte = |i| u8::from_str_radix(checksum.get(i..i + 2)?, 16).ok();
    let checksum: Option<Vec<u8>> = (0..checksum.len()).step_by(2).map(byte).collect();
    Ok(Applied {
        version: field("version")?.parse().context("the number of a migration")?,
        success: field("success")? == "t",
        checksum: checksum.context("the checksum of a migration")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_applied_is_read_from_the_rows_of_the_migrators_table() {
        let sql = "--\n-- Data\n--\n\nCOPY public._sqlx_migrations (version, description, \
                   installed_on, success, checksum, execution_time) FROM stdin;\n\
                   1\tcore\t2026-03-01 12:00:00+00\tt\t\\\\x00ff\t12\n\
                   2\ttwo words\t2026-03-01 12:00:00+00\tf\t\\\\x0a\t12\n\\.\n\n";
        let found = migrations_in(sql).unwrap();
        assert_eq!(found[0], Applied { version: 1, success: true, checksum: vec![0, 255] });
        assert_eq!(found[1], Applied { version: 2, success: false, checksum: vec![10] });
        assert!(migrations_in("-- nothing of it\n").is_err());
        assert!(migrations_in(&sql.replace("\\\\x0a", "\\\\x0")).is_err());
    }

    #[test]
    fn the_servers_version_is_read_from_the_list() {
        let list = ";\n; Archive created at 2026-03-01\n;     Format: CUSTOM\n\
                    ;     Dumped from database version: 15.13 (Debian 15.13-0+deb12u1)\n;\n";
        assert_eq!(server_of(list), Some(15));
        assert_eq!(server_of("; nothing"), None);
    }
}
