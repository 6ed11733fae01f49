//! The two sides of a paired run: two sets of parameters, two runners, two directories, or any of
//! them together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::ensure;

/// What makes a side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideSpec {
    /// Parameters that only this side has so.
    pub parameters: BTreeMap<String, String>,
    /// The runner whose child measures it.
    pub executable: Option<PathBuf>,
    /// Its directory on the file system under test.
    pub dir: Option<PathBuf>,
}

/// Base and head.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// What is compared with.
    pub base: SideSpec,
    /// What is judged.
    pub head: SideSpec,
}

impl SideSpec {
    /// What makes this side, in words for tables and files.
    pub fn given(&self) -> BTreeMap<String, String> {
        let mut given = self.parameters.clone();
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        given.extend(shown(&self.executable).map(|path| ("exec".to_owned(), path)));
        given.extend(shown(&self.dir).map(|path| ("dir".to_owned(), path)));
        given
    }
}

impl Sides {
    /// Two sides that differ, or none where nothing makes them.
    ///
    /// # Errors
    /// When they do not set the same things, set them alike, or name no runner or directory.
    pub fn new(base: SideSpec, head: SideSpec) -> anyhow::Result<Option<Sides>> {
        let (of_base, of_head) = (base.given(), head.given());
        if of_base.is_empty() && of_head.is_empty() {
            return Ok(None);
        }
        ensure!(
            of_base.keys().eq(of_head.keys()),
            "--base and --head must set the same parameters"
        );
        ensure!(of_base != of_head, "--base and --head are the same");
        for side in [&base, &head] {
            for path in side.executable.iter() {
                ensure!(path.is_file(), "--base-exec, --head-exec: {} is no file", path.display());
            }
            for path in side.dir.iter() {
                ensure!(path.is_dir(), "--base-dir, --head-dir: {} is no folder", path.display());
            }
        }
        Ok(Some(Sides { base, head }))
    }

    /// Whether the surroundings themselves are what is compared.
    pub fn differ_in_surroundings(&self) -> bool {
        self.base.dir.is_some()
    }
}
