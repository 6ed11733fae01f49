//! Passwords: argon2id with the crate's recommended cost (19 MiB, two passes), off the threads that
//! serve requests, a few at a time so that a flood of tries cannot take all memory.

use std::sync::LazyLock;

use anyhow::{Context as _, anyhow};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;

use crate::error::{Error, Result};

/// Fewest characters.
pub const SHORTEST: usize = 10;

/// Most bytes: hashing more takes time and adds nothing.
pub const LONGEST: usize = 200;

/// Passwords hashed at a time.
static SLOTS: Semaphore = Semaphore::const_new(2);

/// What is checked where there is no password, so that the answer takes as long.
static NOBODYS: LazyLock<String> =
    LazyLock::new(|| hashed("nobody has this one").unwrap_or_default());

/// A password that keeps the limits.
///
/// # Errors
/// `Invalid` with the limit; `field` is what the client calls it.
pub fn checked<'a>(field: &str, password: &'a str, name: &str) -> Result<&'a str> {
    let problem = match password {
        short if short.chars().count() < SHORTEST => {
            format!("must have at least {SHORTEST} characters")
        }
        long if long.len() > LONGEST => format!("must have at most {LONGEST} bytes"),
        same if same.eq_ignore_ascii_case(name) => "must not be the name".into(),
        good => return Ok(good),
    };
    Err(Error::invalid(field, problem))
}

/// The hash to be stored.
///
/// # Errors
/// When hashing fails, which is ours.
pub async fn hash(password: &str) -> Result<String> {
    let password = password.to_owned();
    Ok(apart(move || hashed(&password)).await??)
}

/// Whether a password is the one of this hash; with none the answer is no, and takes as long.
///
/// # Errors
/// When a stored hash cannot be read.
pub async fn fits(password: &str, stored: Option<String>) -> Result<bool> {
    let password = password.to_owned();
    let checked = move || -> anyhow::Result<bool> {
        let nobodys = LazyLock::force(&NOBODYS);
        let (hash, is_known) = match &stored {
            Some(hash) => (hash, true),
            None => (nobodys, false),
        };
        let hash = PasswordHash::new(hash).map_err(|error| anyhow!("a stored hash: {error}"))?;
        let fits = Argon2::default().verify_password(password.as_bytes(), &hash).is_ok();
        Ok(fits && is_known)
    };
    Ok(apart(checked).await??)
}

fn hashed(password: &str) -> anyhow::Result<String> {
    let salt: [u8; 16] = rand::random();
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
    Ok(hash.map_err(|error| anyhow!("hashing a password: {error}"))?.to_string())
}

async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> anyhow::Result<T> {
    let _slot = SLOTS.acquire().await.context("slots are never closed")?;
    tokio::task::spawn_blocking(work).await.context("the thread that hashed a password died")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_own_hash_which_is_argon2id_with_a_salt_of_its_own() {
        let (one, other) =
            (hash("correct horse").await.unwrap(), hash("correct horse").await.unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(fits("correct horse", Some(one.clone())).await.unwrap());
        assert!(!fits("correct horsf", Some(one)).await.unwrap());
        assert!(!fits("nobody has this one", None).await.unwrap());
    }

    #[test]
    fn a_password_has_a_shortest_and_a_longest_length_and_is_not_the_name() {
        let problem = |password: &str| checked("password", password, "ada@example.org").err();
        assert!(problem("ten of äöü").is_none());
        assert!(problem("nine char").unwrap().to_string().contains("at least 10 characters"));
        assert!(problem(&"x".repeat(201)).unwrap().to_string().contains("at most 200 bytes"));
        assert!(problem("Ada@example.org").unwrap().to_string().contains("the name"));
    }
}
