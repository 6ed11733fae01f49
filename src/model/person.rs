//! People and what they may do.

use std::collections::BTreeMap;

use time::OffsetDateTime;

use super::{PersonId, ProjectId, SessionId};

/// What a person may do in one project; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads a project that is not public.
    Viewer,
    /// Decides about incidents.
    Triager,
    /// Says what weighs how much, and asks for measurements.
    Maintainer,
    /// Gives roles in the project.
    Admin,
}

impl Role {
    /// Every role, the smallest first.
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Triager, Role::Maintainer, Role::Admin];

    /// The role as stored and written.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Triager => "triager",
            Role::Maintainer => "maintainer",
            Role::Admin => "admin",
        }
    }

    /// The role with this word.
    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// What people log in with: 1 to 100 bytes of `a-z`, `0-9` and `._@+-`, the first a letter or a
/// digit. Capitals are read as small letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PersonName(String);

impl PersonName {
    /// What a name must be, for refusals.
    pub const RULE: &str = "must be 1 to 100 of a-z, 0-9 and ._@+-, the first a letter or a digit";

    /// The name in this text; none where it is not one.
    pub fn parse(text: &str) -> Option<PersonName> {
        let name = text.trim().to_ascii_lowercase();
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._@+-".contains(&byte)
        };
        let begins_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        (begins_well && name.len() <= 100 && name.bytes().all(allowed)).then_some(PersonName(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for PersonName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person as stored: everything but the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Row.
    pub id: PersonId,
    /// What they log in with.
    pub name: String,
    /// Whether a password was set.
    pub has_password: bool,
    /// Site admin: every right in every project, and over people.
    pub is_admin: bool,
    /// When they were added.
    pub created_at: OffsetDateTime,
    /// When they last logged in.
    pub last_login_at: Option<OffsetDateTime>,
    /// Since when they are refused.
    pub disabled_at: Option<OffsetDateTime>,
}

/// Roles by project.
pub type Roles = BTreeMap<ProjectId, Role>;

/// One role of a person, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRole {
    /// Whose.
    pub person: PersonId,
    /// Where.
    pub project: ProjectId,
    /// The project's name.
    pub project_name: String,
    /// What they may do there.
    pub role: Role,
}

/// A browser that is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Row.
    pub id: SessionId,
    /// Who.
    pub person: PersonId,
    /// When it logged in.
    pub created_at: OffsetDateTime,
    /// When it was last used, to the minute.
    pub last_seen_at: OffsetDateTime,
    /// From when on it is refused, however much it is used.
    pub expires_at: OffsetDateTime,
    /// Where it logged in from.
    pub address: String,
    /// What the browser says it is.
    pub user_agent: String,
}

/// A line of what was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Deed {
    /// Row.
    pub id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Who: a person, a token, the local owner, the command line.
    pub who: String,
    /// Where from: an address, or `command line`.
    pub origin: String,
    /// What, a word such as `role_set`.
    pub what: String,
    /// To whom or what.
    pub about: String,
    /// As it was before, where it changed.
    pub was: Option<serde_json::Value>,
    /// As it is since.
    pub became: Option<serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_grow_and_are_read_back_from_their_words() {
        assert!(Role::ALL.is_sorted());
        for role in Role::ALL {
            assert_eq!(Role::parse(role.word()), Some(role));
        }
        assert_eq!(Role::parse("owner"), None);
    }

    #[test]
    fn names_are_short_words_and_capitals_do_not_count() {
        let name = |text| PersonName::parse(text).map(|name| name.to_string());
        assert_eq!(name(" Ada.L@Example.org "), Some("ada.l@example.org".into()));
        for bad in ["", " ", "-ada", "ada lovelace", "ädä", "a/b", &"a".repeat(101)] {
            assert_eq!(name(bad), None, "{bad:?}");
        }
    }
}
