//! What keeps people out of a page, found by axe-core. `SCALEWATCH_AXE` names its file; `./dev test`
//! fetches it.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::chromium::Browser;

/// Searches the page shown. What it is that is wrong, and where, is the last thing asked for.
const SEARCH: &str = "const done = arguments[0];
    axe.run(document, { preload: false, resultTypes: ['violations'] })
       .then(found => done(found.violations
           .filter(one => ['serious', 'critical'].includes(one.impact))
           .map(one => ({ rule: one.id, help: one.help,
                          nodes: one.nodes.slice(0, 5).map(node => node.html.slice(0, 200)
                              + ' | ' + node.any.map(why => why.message).join('; ')) }))))
       .catch(error => done(String(error)));";

/// The program, where it can be had.
pub struct Axe {
    source: Option<String>,
    found: Mutex<Vec<String>>,
}

impl Axe {
    /// Reads it.
    pub fn load() -> Result<Axe> {
        let Some(file) = std::env::var_os("SCALEWATCH_AXE").map(PathBuf::from) else {
            eprintln!("axe is left out: SCALEWATCH_AXE names no file; ./dev test fetches it");
            return Ok(Axe { source: None, found: Mutex::default() });
        };
        let source = std::fs::read_to_string(&file)
            .with_context(|| format!("SCALEWATCH_AXE: {}", file.display()))?;
        Ok(Axe { source: Some(source), found: Mutex::default() })
    }

    /// Looks for what is serious or critical on the page shown.
    pub async fn search(&self, browser: &Browser, name: &str) -> Result<()> {
        let Some(source) = &self.source else { return Ok(()) };
        if browser.evaluate("typeof axe").await? == "undefined" {
            browser.client.execute(source, Vec::new()).await?;
        }
        let found = browser.client.execute_async(SEARCH, Vec::new()).await?;
        if found != Value::Array(Vec::new()) {
            self.found.lock().expect("nobody panics with it").push(format!("{name}: {found:#}"));
        }
        Ok(())
    }

    /// Fails with all that was found, on every page.
    pub fn nothing_was_found(&self) -> Result<()> {
        let found = self.found.lock().expect("nobody panics with it");
        ensure!(found.is_empty(), "axe found, {}", found.join("\n"));
        Ok(())
    }
}
