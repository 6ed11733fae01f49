//! One request to the service and what its answer means for what was sent.
//!
//! The rule: only an answer that the service itself gave is final. A status without the service's
//! own body (a proxy, a login page, another program on the port) never makes a report disappear.

use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

use super::Token;

/// Longest pause a service may ask for, seconds.
const LONGEST_WISH: u64 = 300;

/// Most bytes of an answer that are read.
const ANSWER_BYTES: u64 = 64 << 20;

/// Base address of a service: `http://` or `https://`, host, perhaps a port and a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Server(String);

/// What the service said against a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// HTTP status; none where the runner itself refused.
    pub status: Option<u16>,
    /// Stable code.
    pub code: String,
    /// A sentence for people.
    pub detail: String,
    /// The offending field, where one is.
    pub field: Option<String>,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<T> {
    /// Accepted: the body.
    Accepted(T),
    /// This request will never be accepted.
    Refused(Refusal),
    /// The token is missing, wrong, revoked or not allowed to do this (401, 403).
    Unauthorised(Refusal),
    /// Not now (408, 425, 429, 5xx).
    Later(Later),
    /// No answer, or none of a scalewatch service.
    Unreachable(String),
}

/// Why a request is not taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Later {
    /// What was said, for people.
    pub words: String,
    /// The pause the service asks for, if it does.
    pub pause: Option<Duration>,
    /// Whether it may lie in this request alone (408, 500) and not in the service.
    pub only_this: bool,
}

/// A service and the right to speak to it.
pub struct Client {
    server: Server,
    token: Token,
    agent: ureq::Agent,
}

impl Client {
    /// A client; no connection is made yet.
    pub fn new(server: Server, token: Token) -> Client {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .timeout_global(Some(Duration::from_secs(300)))
            .user_agent(concat!("scalewatch-runner/", env!("CARGO_PKG_VERSION")));
        let config = if server.is_loopback() { config.proxy(None) } else { config };
        Client { server, token, agent: config.build().new_agent() }
    }

    /// The service spoken to.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Posts JSON, gzip-compressed, to a path below the server's address.
    pub fn post<T: DeserializeOwned>(&self, path: &str, json: &[u8]) -> Answer<T> {
        self.post_once(path, json, None)
    }

    /// As [`Client::post`], under a key by which the service knows the request again.
    pub fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        json: &[u8],
        key: Option<&str>,
    ) -> Answer<T> {
        let sent = gzip(json).map_err(ureq::Error::Io).and_then(|body| {
            let mut request = self
                .agent
                .post(format!("{}{path}", self.server.0))
                .header("Content-Type", "application/json")
                .header("Content-Encoding", "gzip")
                .header("Accept", "application/json, application/problem+json")
                .header("Authorization", self.token.authorization());
            if let Some(key) = key {
                request = request.header("Idempotency-Key", key);
            }
            request.send(&body)
        });
        self.answer(sent)
    }

    /// Reads JSON from a path below the server's address.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Answer<T> {
        let sent = self
            .agent
            .get(format!("{}{path}", self.server.0))
            .header("Accept", "application/json, application/problem+json")
            .header("Authorization", self.token.authorization())
            .call();
        self.answer(sent)
    }

    fn answer<T: DeserializeOwned>(
        &self,
        sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Answer<T> {
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => {
                return Answer::Unreachable(format!("no answer from {}: {error}", self.server));
            }
        };
        let status = response.status().as_u16();
        let pause = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(|seconds: u64| Duration::from_secs(seconds.min(LONGEST_WISH)));
        match response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec() {
            Ok(body) => self.read(status, pause, &body),
            Err(error) => {
                Answer::Unreachable(format!("the answer of {} broke off: {error}", self.server))
            }
        }
    }

    fn read<T: DeserializeOwned>(
        &self,
        status: u16,
        pause: Option<Duration>,
        body: &[u8],
    ) -> Answer<T> {
        let refusal = || match serde_json::from_slice::<wire::Problem>(body) {
            // A proxy's problem lacks our code; one that speaks of another status is not this one.
            Ok(problem) if problem.status == status => Some(Refusal {
                status: Some(status),
                code: printable(&problem.code),
                detail: printable(&problem.detail),
                field: problem.field.as_deref().map(printable),
            }),
            _ => None,
        };
        let foreign = || {
            Answer::Unreachable(format!(
                "{} answered {status}, but not as a scalewatch service does: is the address right?",
                self.server
            ))
        };
        match status {
            200 | 201 => serde_json::from_slice(body).map_or_else(|_| foreign(), Answer::Accepted),
            408 | 425 | 429 | 500..=599 => {
                let said = refusal().map_or_else(|| "no reason given".into(), |r| r.detail);
                let words = format!("{} answered {status}: {said}", self.server);
                let only_this = matches!(status, 408 | 500) && pause.is_none();
                Answer::Later(Later { words, pause, only_this })
            }
            400..=499 => match refusal() {
                Some(refusal) if matches!(status, 401 | 403) => Answer::Unauthorised(refusal),
                Some(refusal) => Answer::Refused(refusal),
                None => foreign(),
            },
            _ => foreign(),
        }
    }
}

impl Server {
    fn is_loopback(&self) -> bool {
        let host = self.0.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        host.is_some_and(|host| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        })
    }

    /// Whether what is sent there can be read on the way: plain HTTP that leaves the machine.
    pub fn is_exposed(&self) -> bool {
        self.0.starts_with("http://") && !self.is_loopback()
    }
}

impl FromStr for Server {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Server> {
        let uri: Uri =
            text.parse().with_context(|| format!("server {text:?} is not an address"))?;
        ensure!(
            matches!(uri.scheme_str(), Some("http" | "https")),
            "server {text:?} must begin with http:// or https://"
        );
        let authority = uri.authority().map(|a| a.as_str()).unwrap_or_default();
        ensure!(!authority.contains('@'), "the server's address must hold no user or password");
        ensure!(uri.query().is_none(), "server {text:?} must have no query");
        Ok(Server(text.trim_end_matches('/').to_owned()))
    }
}

impl TryFrom<String> for Server {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Server> {
        text.parse()
    }
}

impl From<Server> for String {
    fn from(server: Server) -> String {
        server.0
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        write!(f, "{} ({})", self.detail, self.code)
    }
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2_000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> Answer<wire::Accepted> {
        let server = "http://127.0.0.1:1".parse().unwrap();
        let client = Client::new(server, Token::new("t").unwrap());
        client.read(status, None, body.as_bytes())
    }

    const ACCEPTED: &str = r#"{"run":"u","new":true,"points":1,"windows":2}"#;

    fn problem(status: u16) -> String {
        format!(
            r#"{{"type":"/api#invalid_field","title":"t","status":{status},"code":"invalid_field",
                "detail":"bad\u001b[2J","field":"run"}}"#
        )
    }

    #[test]
    fn only_the_services_own_answers_are_final() {
        assert!(matches!(read(200, ACCEPTED), Answer::Accepted(_)));
        assert!(matches!(read(201, ACCEPTED), Answer::Accepted(_)));
        assert!(matches!(read(200, "<html>log in</html>"), Answer::Unreachable(_)));
        assert!(matches!(read(204, ""), Answer::Unreachable(_)));
        assert!(matches!(read(302, ""), Answer::Unreachable(_)));
        assert!(matches!(read(404, "not found"), Answer::Unreachable(_)));
        assert!(matches!(read(403, "<html>proxy</html>"), Answer::Unreachable(_)));
        let foreign = r#"{"type":"about:blank","title":"Forbidden","status":403,"detail":"no"}"#;
        assert!(matches!(read(403, foreign), Answer::Unreachable(_)));
        assert!(matches!(read(403, &problem(404)), Answer::Unreachable(_)));
    }

    #[test]
    fn each_class_of_status_has_its_meaning() {
        for status in [400, 404, 409, 413, 415, 422] {
            assert!(matches!(read(status, &problem(status)), Answer::Refused(_)), "{status}");
        }
        for status in [401, 403] {
            assert!(matches!(read(status, &problem(status)), Answer::Unauthorised(_)), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert!(matches!(read(status, &problem(status)), Answer::Later(..)), "{status}");
            assert!(matches!(read(status, "gateway"), Answer::Later(..)), "{status}");
        }
    }

    #[test]
    fn a_refusal_carries_the_services_words_without_control_characters() {
        let Answer::Refused(refusal) = read(422, &problem(422)) else { panic!("422 is a refusal") };
        assert_eq!(refusal.to_string(), "run: bad [2J (invalid_field)");
        assert_eq!(refusal.status, Some(422));
    }

    #[test]
    fn a_server_is_an_address_without_secrets() {
        let server: Server = "https://watch.example.org/base/".parse().unwrap();
        assert_eq!(server.to_string(), "https://watch.example.org/base");
        for bad in ["watch.example.org", "ftp://a", "http://u:p@a", "http://a?b", "", "http://"] {
            assert!(bad.parse::<Server>().is_err(), "{bad}");
        }
        assert!("http://10.0.0.1".parse::<Server>().unwrap().is_exposed());
        for hidden in ["http://127.0.0.1:80", "http://localhost", "http://[::1]:8", "https://a"] {
            assert!(!hidden.parse::<Server>().unwrap().is_exposed(), "{hidden}");
        }
    }
}
