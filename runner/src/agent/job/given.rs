//! What a prepare command gives for the runs of its revision, one thing a line:
//!
//! ```text
//! env LD_PRELOAD=/opt/build/libnew.so      a variable of the measured processes
//! parameter variant=rmw                    a parameter that plays the code under test
//! runner /opt/build/scalewatch-runner      the build of the runner that measures
//! dir /mnt/scratch                         the directory on the file system under test
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

/// The lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given {
    /// Variables of the measured processes.
    pub env: BTreeMap<String, String>,
    /// The parameter that plays the code, and its value.
    pub parameter: Option<(String, String)>,
    /// The runner that measures.
    pub runner: Option<PathBuf>,
    /// Directory on the file system under test.
    pub dir: Option<PathBuf>,
}

impl Given {
    /// What the file says; nothing where there is none.
    ///
    /// # Errors
    /// Names the line that cannot be read.
    pub fn read(path: &Path) -> anyhow::Result<Given> {
        match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Given::default()),
            read => Given::parse(&read.context("cannot read what the prepare command gave")?),
        }
    }

    fn parse(text: &str) -> anyhow::Result<Given> {
        let mut given = Given::default();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let at = || format!("line {} of what the prepare command gave", i + 1);
                given.take(line).with_context(at)?;
            }
        }
        Ok(given)
    }

    fn take(&mut self, line: &str) -> anyhow::Result<()> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let pair = || {
            let (key, value) = rest.split_once('=').context("is not NAME=VALUE")?;
            ensure!(!key.is_empty(), "is not NAME=VALUE");
            Ok::<_, anyhow::Error>((key.to_owned(), value.to_owned()))
        };
        let path = || {
            ensure!(Path::new(rest).is_absolute(), "is not an absolute path");
            Ok::<_, anyhow::Error>(PathBuf::from(rest))
        };
        match word {
            "env" => {
                let (key, value) = pair()?;
                ensure!(!value.contains('\0'), "has a NUL character");
                self.env.insert(key, value);
            }
            "parameter" => {
                ensure!(self.parameter.is_none(), "is a second parameter: one plays the code");
                self.parameter = Some(pair()?);
            }
            "runner" => self.runner = Some(path()?),
            "dir" => self.dir = Some(path()?),
            other => bail!("{other:?} is none of env, parameter, runner, dir"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_gives_one_thing() {
        let text = "# built\nenv LD_PRELOAD=/a b=c\n\nparameter variant=rmw\nrunner /r\ndir /mnt\n";
        let given = Given::parse(text).unwrap();
        assert_eq!(given.env["LD_PRELOAD"], "/a b=c");
        assert_eq!(given.parameter, Some(("variant".into(), "rmw".into())));
        assert_eq!((given.runner, given.dir), (Some("/r".into()), Some("/mnt".into())));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for bad in ["env X", "export A=1", "runner build/r", "parameter a=1\nparameter b=2"] {
            let error = format!("{:#}", Given::parse(&format!("dir /m\n{bad}")).unwrap_err());
            assert!(error.contains("line 2") || error.contains("line 3"), "{error}");
        }
    }
}
