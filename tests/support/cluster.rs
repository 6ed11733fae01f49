//! A Postgres of the test's own: a new cluster in a folder that goes with it, and copies that follow it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use scalewatch::db::{self, Pool};
use scalewatch::postgres::{Binaries, DataFolder, Embedded};
use tempfile::TempDir;

/// A running server. It is stopped before its folder goes.
pub struct Cluster {
    server: Embedded,
    _data: DataFolder,
    folder: TempDir,
}

impl Cluster {
    /// An empty one.
    pub fn start() -> Cluster {
        Cluster::in_folder(folder())
    }

    /// A streaming replica of this one, made by `pg_basebackup`.
    pub fn replica(&self) -> Cluster {
        let folder = folder();
        let (from, into) = (self.folder.path().join("postgres"), folder.path().join("postgres"));
        let owner = fs::metadata(&from).expect("the primary has files");
        fs::create_dir(&into).expect("the folder is ours");
        if fs::metadata(&into).expect("it was made").uid() != owner.uid() {
            chown(&into, Some(owner.uid()), Some(owner.gid())).expect("root gives folders away");
        }
        let installed = Binaries::installed();
        let binaries = Binaries::choose(&installed, None).expect("Postgres is installed");
        let mut copy = Command::new(binaries.program("pg_basebackup"));
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream"]);
        copy.args(["--no-sync", "--username=scalewatch"]);
        copy.arg("--host").arg(from.join("socket")).arg("--pgdata").arg(into.join("cluster"));
        copy.current_dir(&into);
        if fs::metadata("/proc/self").expect("there is a /proc").uid() == 0 {
            copy.uid(owner.uid()).gid(owner.gid());
        }
        let done = copy.output().expect("pg_basebackup is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Cluster::in_folder(folder)
    }

    fn in_folder(folder: TempDir) -> Cluster {
        let data = DataFolder::hold(folder.path()).expect("nobody holds a fresh folder");
        let server = Embedded::start(&data).expect("Postgres is installed where tests run");
        Cluster { server, _data: data, folder }
    }

    /// Its address, as `DATABASE_URL` would have it.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Connections to it.
    pub async fn pool(&self) -> Pool {
        db::connect(self.address(), 4).await.expect("the server answers")
    }

    /// Stops the server; the folder goes.
    pub fn stop(self) {
        self.server.stop().expect("it stops");
    }
}

/// A folder that the server's own user can reach, gone with the test.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("ours to change");
    folder
}
