//! A bearer token: read from a file or the environment, never shown.

use std::fmt;
use std::path::Path;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// A bearer token. `Debug` hides it, so that no log or error can carry it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// A token as given, white space around it cut.
    ///
    /// # Errors
    /// When it is empty or holds what no HTTP header may hold; the text itself is not repeated.
    pub fn new(text: &str) -> anyhow::Result<Token> {
        let text = text.trim();
        ensure!(!text.is_empty(), "the token is empty");
        ensure!(
            text.bytes().all(|b| b.is_ascii_graphic()),
            "the token holds characters that no token has"
        );
        Ok(Token(text.to_owned()))
    }

    /// The token that stands alone in a file.
    ///
    /// # Errors
    /// When the file cannot be read or holds no token.
    pub fn read(path: &Path) -> anyhow::Result<Token> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the token file {}", path.display()))?;
        Token::new(&text).with_context(|| format!("in {}", path.display()))
    }

    /// The value of the `Authorization` header.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new(" sw_secret\n").unwrap();
        assert_eq!(token.authorization(), "Bearer sw_secret");
        assert!(!format!("{token:?}").contains("secret"));
        let error = Token::new("sw_sec ret").unwrap_err();
        assert!(!format!("{error:#}").contains("sec ret"));
    }
}
