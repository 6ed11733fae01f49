//! Webhooks: addresses outside that are told what happens to the incidents of a project.

use time::OffsetDateTime;

use super::WebhookId;

/// Longest address, bytes.
const LONGEST: usize = 2000;

/// A webhook as lists show it, its secret left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Row.
    pub id: WebhookId,
    /// The project's name.
    pub project_name: String,
    /// Where events go.
    pub url: String,
    /// When it was added.
    pub created_at: OffsetDateTime,
    /// Events that wait to be sent.
    pub waiting: i64,
    /// Why the last attempt that failed did, where events wait.
    pub last_error: Option<String>,
}

/// Checks an address: http or https, a host, and nothing that is secret or never sent.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_url(text: &str) -> Result<(), &'static str> {
    if text.len() > LONGEST {
        return Err("is longer than 2000 bytes");
    }
    let url = url::Url::parse(text).map_err(|_| "is no address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with http:// or https://");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("names no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user or a password: receivers know us by the signature");
    }
    if url.fragment().is_some() {
        return Err("has a part after #, which is never sent");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_without_secrets_are_taken() {
        for good in
            ["https://ci.example.org/hooks/1?a=b", "http://127.0.0.1:8080/", "http://[::1]/"]
        {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        let long = format!("https://example.org/{}", "x".repeat(2000));
        for bad in [
            "",
            "ci.example.org",
            "ftp://example.org/",
            "file:///etc/passwd",
            "http://",
            "https://me@example.org/",
            "https://me:secret@example.org/",
            "https://example.org/#part",
            &long,
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
