//! Whom the server runs as. Postgres refuses root: a service that is root drops to `postgres`, else
//! to `nobody`, or to whoever owns the folder already.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// The user that owns the cluster and runs the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    uid: u32,
    gid: u32,
    /// Whether this process is root and must drop to the account.
    drops: bool,
}

impl Account {
    /// Whom the server whose files are in `folder` runs as: oneself, or for root an unprivileged user.
    ///
    /// # Errors
    /// When root finds no unprivileged user to drop to.
    pub fn of_server(folder: &Path) -> Result<Account> {
        let own = fs::metadata("/proc/self").context("reading /proc/self")?;
        if own.uid() != 0 {
            return Ok(Account { uid: own.uid(), gid: own.gid(), drops: false });
        }
        if let Ok(owner) = fs::metadata(folder)
            && owner.uid() != 0
        {
            return Ok(Account { uid: owner.uid(), gid: owner.gid(), drops: true });
        }
        let users = fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
        let found = ["postgres", "nobody"].iter().find_map(|name| user_named(&users, name));
        let Some((uid, gid)) = found else {
            bail!(
                "Postgres refuses to run as root and there is no user postgres or nobody to run it as"
            );
        };
        Ok(Account { uid, gid, drops: true })
    }

    /// User id.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// A command run as this account, with nothing of the caller's Postgres settings.
    pub(super) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").env("TZ", "UTC").current_dir(folder);
        if self.drops {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Makes `folder` with mode 0700 for this account where it is missing, and refuses one that is
    /// someone else's.
    pub(super) fn make_private(&self, folder: &Path) -> Result<()> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("making {}", folder.display()));
            }
            _ => {}
        }
        let look = || {
            fs::symlink_metadata(folder).with_context(|| format!("looking at {}", folder.display()))
        };
        ensure!(look()?.is_dir(), "{} is not a folder", folder.display());
        if self.drops && look()?.uid() == 0 {
            chown(folder, Some(self.uid), Some(self.gid))
                .with_context(|| format!("giving {} to the server's user", folder.display()))?;
        }
        let found = look()?;
        ensure!(
            found.uid() == self.uid,
            "{} belongs to user id {}, but the private Postgres runs as user id {}",
            folder.display(),
            found.uid(),
            self.uid
        );
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
            .with_context(|| format!("making {} private", folder.display()))
    }

    /// The first folder above `path` that this account may not pass.
    pub(super) fn barred_at(&self, path: &Path) -> Option<PathBuf> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        above.into_iter().find(|folder| !self.may_pass(folder)).map(Path::to_owned)
    }

    fn may_pass(&self, folder: &Path) -> bool {
        let Ok(found) = fs::metadata(folder) else { return !self.drops };
        let mode = found.mode();
        match (found.uid() == self.uid, found.gid() == self.gid) {
            (true, _) => mode & 0o100 != 0,
            (false, true) => mode & 0o010 != 0,
            (false, false) => mode & 0o001 != 0 || !self.drops,
        }
    }
}

/// User and group id of `name` in the text of a passwd file.
fn user_named(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::user_named;

    const USERS: &str =
        "root:x:0:0:root:/root:/bin/bash\nbroken\npostgres:x:101:104:,,,:/var:/bin/sh\n";

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        assert_eq!(user_named(USERS, "postgres"), Some((101, 104)));
        assert_eq!(user_named(USERS, "root"), Some((0, 0)));
        assert_eq!(user_named(USERS, "post"), None);
        assert_eq!(user_named(USERS, "broken"), None);
    }
}
