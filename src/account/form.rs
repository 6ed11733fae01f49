//! Forms are taken from our own pages alone: each carries a word that follows from a secret in a
//! cookie of the browser that was shown the form, which no other site can read.

use sha2::{Digest, Sha256};

use crate::model::Secret;
use crate::model::account::hex;

/// The secret behind a browser's forms: its session's, else one made for its forms.
#[derive(Debug, Clone)]
pub struct FormKey {
    secret: Secret,
    /// Made just now: the browser has to be given it.
    pub is_fresh: bool,
}

impl FormKey {
    /// The key of a cookie that the browser sent.
    pub fn of(secret: Secret) -> FormKey {
        FormKey { secret, is_fresh: false }
    }

    /// A new key.
    pub fn fresh() -> FormKey {
        FormKey { secret: Secret::random(), is_fresh: true }
    }

    /// The secret, for the cookie.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The word that forms carry.
    pub fn word(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"form ");
        hash.update(self.secret.reveal().as_bytes());
        hex(&hash.finalize())
    }

    /// Whether a form carries our word. A fresh key has shown no form yet.
    pub fn fits(&self, word: &str) -> bool {
        // Hashes are compared, so how far they agree says nothing about the word.
        let hash = |text: &str| Secret::from_client(text).hash();
        !self.is_fresh && hash(&self.word()) == hash(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_fits_its_own_key_alone_and_does_not_show_it() {
        let one = FormKey::of(Secret::random());
        let other = FormKey::of(Secret::random());
        assert!(one.fits(&one.word()) && !one.fits(&other.word()) && !one.fits(""));
        assert!(!one.word().contains(&one.secret().reveal()[3..]));
        let fresh = FormKey::fresh();
        assert!(!fresh.fits(&fresh.word()));
    }
}
