//! `detect`: steps of series in files, as JSON.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::detect::offline::detect_files;

#[derive(Debug, clap::Args)]
pub struct Detect {
    /// Files of `{"name": …, "values": […]}`, or folders of them
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
}

impl Detect {
    /// Prints `{"name": [index, …]}`: each index is the first value of a new level.
    pub fn run(&self) -> Result<()> {
        let found = detect_files(&self.paths)?;
        println!("{}", serde_json::to_string(&found).context("cannot write JSON")?);
        Ok(())
    }
}
