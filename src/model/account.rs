//! Tokens: a random secret shown once, of which only the hash is kept.

use std::fmt;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::{MachineId, PersonId, ProjectId, Role, TokenId};

/// What a token may do. `admin` may do everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read what is not public.
    Read,
    /// Upload runs of the one machine it is bound to.
    Upload,
    /// Register machines.
    Register,
    /// Triage incidents and weigh what a project's users care about.
    Triage,
    /// Ask for measurements and read their verdicts: what CI needs.
    Submit,
    /// Everything.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 6] =
        [Scope::Read, Scope::Upload, Scope::Register, Scope::Triage, Scope::Submit, Scope::Admin];

    /// The scope as stored and written.
    pub const fn word(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Upload => "upload",
            Scope::Register => "register",
            Scope::Triage => "triage",
            Scope::Submit => "submit",
            Scope::Admin => "admin",
        }
    }

    /// The role that a person needs in a project for what a token of theirs does there by this
    /// scope; none: only a site admin's token does it.
    pub const fn role(self) -> Option<Role> {
        match self {
            Scope::Read => Some(Role::Viewer),
            Scope::Triage => Some(Role::Triager),
            Scope::Submit => Some(Role::Maintainer),
            Scope::Upload | Scope::Register | Scope::Admin => None,
        }
    }

    /// Whether it reads what is not public.
    pub const fn reads(self) -> bool {
        !matches!(self, Scope::Upload | Scope::Register)
    }

    /// The scope with this word.
    pub fn parse(word: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// A token as stored: everything but the secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Row.
    pub id: TokenId,
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// The machine an upload token is bound to.
    pub machine: Option<MachineId>,
    /// Whose it is, and whose rights bound it; none: of the command line, or a machine's own.
    pub person: Option<PersonId>,
    /// The projects it is limited to; none: it is not limited.
    pub projects: Vec<ProjectId>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// From when on it is refused.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was last accepted, to the minute.
    pub last_used_at: Option<OffsetDateTime>,
    /// When it was revoked.
    pub revoked_at: Option<OffsetDateTime>,
}

/// The secret itself. It is printed by [`Secret::reveal`] alone; `Debug` hides it.
#[derive(Clone, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A fresh secret of 256 random bits, `sw_` and 64 hex digits.
    pub fn random() -> Secret {
        let bits: [u8; 32] = rand::random();
        Secret(format!("sw_{}", hex(&bits)))
    }

    /// A secret as a client sent it.
    pub fn from_client(text: &str) -> Secret {
        Secret(text.to_owned())
    }

    /// The text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the text: what is stored and looked up.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_unlike_and_hidden() {
        let (one, other) = (Secret::random(), Secret::random());
        assert_eq!(one.reveal().len(), 3 + 64);
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.hash(), Secret::from_client(one.reveal()).hash());
        assert!(!format!("{one:?}").contains(&one.reveal()[3..]));
    }
}
