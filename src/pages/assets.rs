//! Style sheet, script and icon, compiled in. Their addresses carry a hash of their content, so browsers
//! may keep them for ever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::failure::Failure;
use crate::error::Error;
use crate::model::account::hex;

/// A file of `static/`.
pub(super) struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: &'static str,
    hash: LazyLock<String>,
}

/// The style sheet.
pub(super) static CSS: Asset = Asset {
    name: "app.css",
    media_type: "text/css; charset=utf-8",
    content: include_str!("../../static/app.css"),
    hash: LazyLock::new(|| hash(include_str!("../../static/app.css"))),
};

/// The script, without which every page is complete.
pub(super) static JS: Asset = Asset {
    name: "app.js",
    media_type: "text/javascript; charset=utf-8",
    content: include_str!("../../static/app.js"),
    hash: LazyLock::new(|| hash(include_str!("../../static/app.js"))),
};

/// The icon of browser tabs.
pub(super) static ICON: Asset = Asset {
    name: "icon.svg",
    media_type: "image/svg+xml",
    content: include_str!("../../static/icon.svg"),
    hash: LazyLock::new(|| hash(include_str!("../../static/icon.svg"))),
};

impl Asset {
    /// Where it is served.
    pub(super) fn address(&self) -> String {
        format!("/static/{}/{}", *self.hash, self.name)
    }
}

fn hash(content: &str) -> String {
    hex(&Sha256::digest(content.as_bytes())[..8])
}

/// `/static/{hash}/{name}`: a hash of another version is not found rather than answered wrongly.
pub(super) async fn show(Path((hash, name)): Path<(String, String)>) -> Result<Response, Failure> {
    let asset =
        [&CSS, &JS, &ICON].into_iter().find(|asset| asset.name == name && *asset.hash == hash);
    let asset = asset.ok_or(Error::NotFound("file"))?;
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, asset.content).into_response())
}
