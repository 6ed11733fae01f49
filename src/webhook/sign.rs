//! The signature: HMAC-SHA256 of the time and the body, so that a receiver knows who sent it and
//! that it is not an old one sent again.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::model::account::hex;

/// `v1=` and the hex digits of the HMAC of `timestamp.body`; `timestamp` is seconds since 1970.
pub fn signature(secret: &str, timestamp: i64, body: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key may have any length");
    mac.update(format!("{timestamp}.").as_bytes());
    mac.update(body.as_bytes());
    format!("v1={}", hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '1700000000.{}' | openssl dgst -sha256 -hmac secret`
    #[test]
    fn the_signature_is_what_openssl_computes() {
        let expected = "v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163";
        assert_eq!(signature("secret", 1_700_000_000, "{}"), expected);
        assert_ne!(signature("other", 1_700_000_000, "{}"), expected);
        assert_ne!(signature("secret", 1_700_000_001, "{}"), expected);
    }
}
