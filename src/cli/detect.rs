//! `detect`: steps of series in files, as JSON.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::detect::offline::{Form, detect_files};

#[derive(Debug, clap::Args)]
pub struct Detect {
    /// Files of `{"name": …, "values": […]}`, or folders of them
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
    /// Judge point by point, as if each value had just arrived, and print `[index, points read]`
    #[arg(long)]
    online: bool,
    /// Print each step with its levels and every inequality that decided it
    #[arg(long)]
    explain: bool,
}

impl Detect {
    /// Prints `{"name": [index, …]}`: each index is the first value of a new level.
    pub fn run(&self) -> Result<()> {
        let form = Form { online: self.online, explain: self.explain };
        let mut out = BufWriter::new(std::io::stdout().lock());
        detect_files(&self.paths, form, &mut out)?;
        out.flush().context("cannot write the steps")
    }
}
