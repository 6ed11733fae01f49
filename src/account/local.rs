//! The local owner: on a service of one person, whoever sits at the machine needs no account. Such
//! a service listens on loopback alone, and takes the request as the owner's only where the browser
//! called it by a loopback name, so that a page elsewhere whose name was made to point here is a
//! stranger.

use std::net::{IpAddr, SocketAddr};

/// Whether a request is the local owner's: `host` is the `Host` header, `peer` the other end.
pub fn is_owner(host: Option<&str>, peer: Option<SocketAddr>) -> bool {
    host.is_some_and(names_loopback)
        && peer.is_none_or(|peer| peer.ip().to_canonical().is_loopback())
}

fn names_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_from_loopback_addresses_are_the_owners() {
        let here = Some("127.0.0.1:50000".parse().unwrap());
        for host in ["localhost:8420", "LocalHost", "127.0.0.1:8420", "127.8.0.1", "[::1]:8420"] {
            assert!(is_owner(Some(host), here), "{host}");
        }
        for host in ["example.org:8420", "localhost.example.org", "192.0.2.1", "[2001:db8::1]", ""]
        {
            assert!(!is_owner(Some(host), here), "{host}");
        }
        assert!(!is_owner(None, here));
        assert!(!is_owner(Some("localhost"), Some("192.0.2.1:50000".parse().unwrap())));
    }
}
