//! A point's profile as it was stored, unpacked.

use std::io::Read as _;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

/// Most bytes that a profile may unpack to.
const UNPACKED: u64 = 8 << 20;

/// Folded stacks, one a line, of the content of an artefact of [`wire::Artefact::PROFILE`].
///
/// # Errors
/// When it came broken, or unpacks to more than 8 MiB.
pub fn folded(content: &str) -> Result<String> {
    let packed = STANDARD.decode(content).context("the profile is no base64")?;
    let mut text = String::new();
    let mut reader = GzDecoder::new(&*packed).take(UNPACKED + 1);
    reader.read_to_string(&mut text).context("the profile is no compressed text")?;
    ensure!(text.len() as u64 <= UNPACKED, "the profile unpacks to more than {UNPACKED} bytes");
    Ok(text)
}
