//! A headless Chromium driven through chromedriver, both ending with the test.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use crate::axe::Axe;

/// Runs chromedriver in a process group of its own and ends the whole group, browsers included,
/// when standard input closes: when [`Driver`] is dropped, or its process ends in whatever way.
const KEEPER: &str = "trap '' INT TERM; command -v chromedriver > /dev/null || exit; set -m; \
                      chromedriver --port=0 2> /dev/null & driver=$!; exec > /dev/null; cat; \
                      kill -KILL -- -$driver";

/// A running chromedriver.
pub struct Driver {
    keeper: Child,
    profile: tempfile::TempDir,
    port: u16,
}

impl Driver {
    /// Starts it on any free port.
    pub fn start() -> Result<Driver> {
        let mut keeper = Command::new("bash")
            .args(["-c", KEEPER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("bash does not start")?;
        let output = keeper.stdout.take().context("its output is piped")?;
        let mut lines = BufReader::new(output).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let said = line.strip_prefix("ChromeDriver was started successfully on port ")?;
            said.trim_end_matches('.').parse().ok()
        });
        let missing = "chromedriver does not start; `./dev test` installs it and Chromium";
        let port = port.context(missing)?;
        // Whatever it says later is read, or it would stop when the pipe is full.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Driver { keeper, profile: tempfile::tempdir()?, port })
    }

    /// A browser with a fresh profile.
    pub async fn browser(&self) -> Result<Browser> {
        let capabilities = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
                "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                format!("--user-data-dir={}", self.profile.path().display()),
            ]},
        });
        let Value::Object(capabilities) = capabilities else { bail!("capabilities are a map") };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{}", self.port))
            .await
            .context("Chromium does not start")?;
        Ok(Browser { client, axe: Axe::load()? })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// How a page is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// In file names.
    pub name: &'static str,
    /// `light` or `dark`.
    pub scheme: &'static str,
    /// Width of the screen, CSS pixels.
    pub width: u32,
}

/// Every look a page is checked in.
pub const LOOKS: [Look; 3] = [
    Look { name: "light", scheme: "light", width: 1280 },
    Look { name: "dark", scheme: "dark", width: 1280 },
    Look { name: "narrow", scheme: "light", width: 375 },
];

/// One window.
pub struct Browser {
    /// To find and click.
    pub client: Client,
    /// To search what it shows.
    pub axe: Axe,
}

impl Browser {
    /// Changes colour scheme and width.
    pub async fn look(&self, look: Look) -> Result<()> {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": look.scheme}]});
        self.devtools("Emulation.setEmulatedMedia", media).await?;
        let metrics = json!({
            "width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": look.width < 600,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
    }

    /// The whole page as a PNG file, however long.
    pub async fn screenshot(&self, file: &Path) -> Result<()> {
        use base64::Engine as _;
        let asked = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.devtools("Page.captureScreenshot", asked).await?;
        let data = answer["data"].as_str().context("no picture")?;
        let data = base64::engine::general_purpose::STANDARD.decode(data)?;
        Ok(std::fs::write(file, data)?)
    }

    /// What the page's console said since it was last asked, warnings and errors only.
    pub async fn complaints(&self) -> Result<Vec<String>> {
        let entries = self.vendor("se/log", json!({"type": "browser"})).await?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let bad = |entry: &&Value| entry["level"] == "SEVERE" || entry["level"] == "WARNING";
        Ok(entries.iter().filter(bad).map(|entry| entry["message"].to_string()).collect())
    }

    /// The value of a JavaScript expression.
    pub async fn evaluate(&self, expression: &str) -> Result<Value> {
        Ok(self.client.execute(&format!("return {expression};"), Vec::new()).await?)
    }

    /// Everything the page shows as text.
    pub async fn text(&self) -> Result<String> {
        let text = self.evaluate("document.body.innerText").await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Result<Value> {
        self.vendor("goog/cdp/execute", json!({"cmd": method, "params": parameters})).await
    }

    async fn vendor(&self, path: &'static str, body: Value) -> Result<Value> {
        Ok(self.client.issue_cmd(Vendor { path, body }).await?)
    }
}

/// A command of chromedriver's own.
#[derive(Debug)]
struct Vendor {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
