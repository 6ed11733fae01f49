//! The cluster on disk: made once, completely or not at all; recognised afterwards.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use super::leftover::{self, ServerLock};
use super::{Account, Binaries, DataFolder};

/// Longest folder of a socket: `sun_path` has 108 bytes, of which the socket's own name takes some.
const SOCKET_FOLDER_BYTES: usize = 88;
/// How long an interrupted attempt may resist its removal.
const REMOVED_WITHIN: Duration = Duration::from_secs(5);
/// User of the private server.
const NAME: &str = "scalewatch";

/// An initialised cluster with all that is needed to run its server.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(super) binaries: Binaries,
    pub(super) account: Account,
    /// Postgres' own data directory.
    pub(super) files: PathBuf,
    /// Where the socket lies.
    pub(super) socket: PathBuf,
    /// What the server writes to its standard error.
    pub(super) log: PathBuf,
}

impl Cluster {
    /// Finds the cluster in the data folder, or makes it.
    ///
    /// # Errors
    /// Folders the server's user cannot reach, a folder that is no cluster, another major version,
    /// or what `initdb` said.
    pub fn prepare(data: &DataFolder, account: Account) -> Result<Cluster> {
        let folder = data.postgres();
        if let Some(barrier) = account.barred_at(&folder) {
            bail!(
                "the private Postgres runs as user id {} and may not pass {}; set SCALEWATCH_DATA to \
                 a folder it can reach, e.g. /var/lib/scalewatch",
                account.uid(),
                barrier.display()
            );
        }
        account.make_private(&folder)?;
        let files = folder.join("cluster");
        let made_by = made_by(&files)?;
        let binaries = Binaries::choose(&Binaries::installed(), made_by)
            .with_context(|| format!("using the data folder {}", data.path().display()))?;
        if made_by.is_none() {
            initialise(&folder, &files, &binaries, &account)
                .with_context(|| format!("initialising {}", files.display()))?;
        }
        let socket = socket_folder(&folder);
        account.make_private(&socket)?;
        Ok(Cluster { binaries, account, files, socket, log: folder.join("log") })
    }

    /// Address of the server, as `DATABASE_URL` would have it.
    pub fn address(&self) -> String {
        address_at(&self.socket)
    }
}

/// Address of the private server that some `scalewatch up` runs on this data folder just now.
pub fn running_address(data: &Path) -> Option<String> {
    let files = fs::canonicalize(data).ok()?.join("postgres/cluster");
    let lock = ServerLock::read(&files.join("postmaster.pid"))?;
    (lock.ready && leftover::is_server_of(lock.process, &files))
        .then(|| address_at(&lock.socket_folder))
}

fn address_at(socket: &Path) -> String {
    let socket = percent_encode(socket.as_os_str());
    format!("postgres://{NAME}@localhost/postgres?host={socket}")
}

/// Major version that made the cluster in `files`; none where there is no cluster yet.
fn made_by(files: &Path) -> Result<Option<u32>> {
    if !files.exists() {
        return Ok(None);
    }
    let name = files.join("PG_VERSION");
    let said = match fs::read_to_string(&name) {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "{} is there but is not a Postgres data directory (no PG_VERSION); move it aside",
            files.display()
        ),
        Err(error) => return Err(error).with_context(|| format!("reading {}", name.display())),
    };
    let major = said.trim().split('.').next().and_then(|number| number.parse().ok());
    Ok(Some(major.with_context(|| format!("{} says {:?}", name.display(), said.trim()))?))
}

/// Runs `initdb` beside the final place and renames what it made, so that a cluster is there
/// completely or not at all; what earlier attempts left is removed.
fn initialise(folder: &Path, files: &Path, binaries: &Binaries, account: &Account) -> Result<()> {
    remove_attempts(folder)?;
    let attempt = folder.join(format!("new-{}", std::process::id()));
    let made = account
        .command(&binaries.program("initdb"), folder)
        .arg("--pgdata")
        .arg(&attempt)
        .args(["--username", NAME, "--auth", "trust", "--encoding", "UTF8", "--no-locale"])
        .args(["--data-checksums", "--no-instructions"])
        .stdin(Stdio::null())
        .output()
        .context("running initdb")?;
    ensure!(
        made.status.success(),
        "initdb failed ({}): {}",
        made.status,
        String::from_utf8_lossy(&made.stderr).trim()
    );
    fs::rename(&attempt, files).context("moving the new cluster to its place")?;
    File::open(folder).and_then(|folder| folder.sync_all()).context("writing the folder to disk")
}

/// An `initdb` whose service was killed may still be writing: it fails once its files are gone.
fn remove_attempts(folder: &Path) -> Result<()> {
    let began = Instant::now();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry.with_context(|| format!("listing {}", folder.display()))?.path();
        if !path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"new-")) {
            continue;
        }
        while let Err(error) = fs::remove_dir_all(&path)
            && path.exists()
        {
            if began.elapsed() > REMOVED_WITHIN {
                return Err(error).with_context(|| format!("removing {}", path.display()));
            }
            sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// The socket's folder: beside the cluster, or in a short run folder where that path is too long.
fn socket_folder(folder: &Path) -> PathBuf {
    let beside = folder.join("socket");
    if beside.as_os_str().len() <= SOCKET_FOLDER_BYTES {
        return beside;
    }
    let digest = Sha256::digest(folder.as_os_str().as_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    std::env::temp_dir().join(format!("scalewatch-{name}"))
}

fn percent_encode(path: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.as_bytes()
        .iter()
        .map(|&byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_folder_keeps_its_socket_and_a_long_one_gets_a_short_place() {
        assert_eq!(socket_folder(Path::new("/data/postgres")), Path::new("/data/postgres/socket"));
        let long = PathBuf::from(format!("/{}/postgres", "x".repeat(120)));
        let elsewhere = socket_folder(&long);
        assert!(elsewhere.as_os_str().len() <= SOCKET_FOLDER_BYTES);
        assert_ne!(elsewhere, socket_folder(&long.join("other")));
    }

    #[test]
    fn odd_characters_of_a_path_survive_the_address() {
        assert_eq!(percent_encode(OsStr::new("/a b/ü&?#%")), "/a%20b/%C3%BC%26%3F%23%25");
    }
}
