//! What a proxy in front of us says of a client: believed only where the connection comes from a network
//! of the settings, and only in the one header that the proxy there is known to set.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

use crate::config::Proxy;

/// The standard's header, which names the scheme as well.
const FORWARDED: &str = "forwarded";

/// Beside any other header.
const PROTO: &str = "x-forwarded-proto";

/// Where a request comes from: the last address on its way that is none of a trusted proxy.
pub fn client(headers: &HeaderMap, peer: Option<SocketAddr>, proxy: &Proxy) -> Option<IpAddr> {
    let peer = peer?.ip().to_canonical();
    let mut nearest = peer;
    let mut way = way(headers, proxy).into_iter().rev();
    while is_trusted(nearest, proxy) {
        // Beyond what cannot be read nothing is known: it came by the proxy that wrote it.
        let Some(Some(before)) = way.next() else { break };
        nearest = before;
    }
    Some(nearest)
}

/// Whether the proxy that the request comes from was reached by TLS.
pub fn is_by_tls(headers: &HeaderMap, peer: Option<SocketAddr>, proxy: &Proxy) -> bool {
    if !peer.is_some_and(|peer| is_trusted(peer.ip(), proxy)) {
        return false;
    }
    let last = |name: &str| lists(headers, name).pop();
    let scheme = match proxy.header.eq_ignore_ascii_case(FORWARDED) {
        true => last(FORWARDED).and_then(|hop| pair(&hop, "proto")),
        false => last(PROTO),
    };
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
}

fn is_trusted(address: IpAddr, proxy: &Proxy) -> bool {
    proxy.trusted.iter().any(|network| network.contains(address))
}

/// Addresses by which a request came, the farthest first; none for one that cannot be read.
fn way(headers: &HeaderMap, proxy: &Proxy) -> Vec<Option<IpAddr>> {
    let hops = lists(headers, &proxy.header).into_iter();
    match proxy.header.eq_ignore_ascii_case(FORWARDED) {
        true => hops.map(|hop| pair(&hop, "for").and_then(|text| address(&text))).collect(),
        false => hops.map(|hop| address(&hop)).collect(),
    }
}

/// Elements of the comma-separated lists of all headers of this name, in their order.
fn lists(headers: &HeaderMap, name: &str) -> Vec<String> {
    let texts = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    texts.flat_map(|text| text.split(',')).map(|one| one.trim().to_owned()).collect()
}

/// The value of `key` in `for=…;proto=…`.
fn pair(hop: &str, key: &str) -> Option<String> {
    hop.split(';').find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case(key).then(|| value.trim_matches('"').to_owned())
    })
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|both| both.ip());
    Some(bare.parse().ok().or_else(with_port)?.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn behind(header: &str) -> Proxy {
        let trusted = ["10.0.0.0/8", "::1"].map(|network| network.parse().unwrap());
        Proxy { trusted: trusted.into(), header: header.into() }
    }

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        all.iter().map(one).collect()
    }

    fn seen(header: &str, all: &[(&'static str, &'static str)], peer: &str) -> String {
        let peer = format!("{peer}:4000").parse().unwrap();
        client(&headers(all), Some(peer), &behind(header)).unwrap().to_string()
    }

    #[test]
    fn a_trusted_proxy_is_believed_and_nobody_else() {
        let said = [("x-forwarded-for", "203.0.113.9")];
        let of = |peer| seen("X-Forwarded-For", &said, peer);
        assert_eq!(of("10.0.0.1"), "203.0.113.9");
        assert_eq!(of("[::ffff:10.0.0.1]"), "203.0.113.9");
        assert_eq!(of("[::1]"), "203.0.113.9");
        assert_eq!(of("192.0.2.1"), "192.0.2.1", "it makes up who it is");
        assert_eq!(seen("X-Forwarded-For", &[], "10.0.0.1"), "10.0.0.1");
        let unknown = Proxy { trusted: Vec::new(), header: "X-Forwarded-For".into() };
        let peer = "127.0.0.1:1".parse().unwrap();
        let found = client(&headers(&said), Some(peer), &unknown).unwrap();
        assert_eq!(found.to_string(), "127.0.0.1", "nobody is trusted who was not named");
        assert_eq!(client(&headers(&said), None, &behind("X-Forwarded-For")), None);
    }

    #[test]
    fn what_a_client_wrote_before_the_proxy_counts_for_nothing() {
        let of = |list| seen("X-Forwarded-For", &[("x-forwarded-for", list)], "10.0.0.1");
        assert_eq!(of("1.1.1.1, 203.0.113.9"), "203.0.113.9");
        assert_eq!(of("1.1.1.1, 203.0.113.9, 10.2.3.4"), "203.0.113.9", "two proxies in a row");
        assert_eq!(of("10.9.9.9, 203.0.113.9"), "203.0.113.9");
        assert_eq!(of("203.0.113.9:4711"), "203.0.113.9");
        assert_eq!(of("[2001:db8::1]:80"), "2001:db8::1");
        assert_eq!(of("unknown"), "10.0.0.1");
        assert_eq!(of("1.1.1.1, unknown"), "10.0.0.1", "nothing is known beyond");
        assert_eq!(of("10.1.1.1, 10.2.2.2"), "10.1.1.1", "the farthest of ours");
        let two = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.9")];
        assert_eq!(seen("X-Forwarded-For", &two, "10.0.0.1"), "203.0.113.9");
    }

    #[test]
    fn only_the_header_of_the_settings_is_looked_at() {
        let both = [("x-forwarded-for", "1.1.1.1"), ("forwarded", "for=203.0.113.9;proto=https")];
        assert_eq!(seen("Forwarded", &both, "10.0.0.1"), "203.0.113.9");
        assert_eq!(seen("x-forwarded-for", &both, "10.0.0.1"), "1.1.1.1");
        assert_eq!(seen("X-Real-IP", &[("x-real-ip", "1.2.3.4")], "10.0.0.1"), "1.2.3.4");
        let quoted = [("forwarded", "for=1.1.1.1, For=\"[2001:db8::1]:4711\";by=10.0.0.1")];
        assert_eq!(seen("Forwarded", &quoted, "10.0.0.1"), "2001:db8::1");
        let hidden = [("forwarded", "for=_hidden")];
        assert_eq!(seen("Forwarded", &hidden, "10.0.0.1"), "10.0.0.1");
    }

    #[test]
    fn tls_is_believed_of_a_trusted_proxy_alone() {
        let by_tls = |header: &str, all: &[(&'static str, &'static str)], peer: &str| {
            let peer = format!("{peer}:4000").parse().unwrap();
            is_by_tls(&headers(all), Some(peer), &behind(header))
        };
        let proto = [("x-forwarded-proto", "https")];
        assert!(by_tls("X-Forwarded-For", &proto, "10.0.0.1"));
        assert!(!by_tls("X-Forwarded-For", &proto, "192.0.2.1"));
        assert!(!by_tls("Forwarded", &proto, "10.0.0.1"), "another header");
        assert!(!by_tls("X-Forwarded-For", &[("x-forwarded-proto", "https, http")], "10.0.0.1"));
        assert!(by_tls("Forwarded", &[("forwarded", "for=1.1.1.1;proto=HTTPS")], "10.0.0.1"));
        assert!(!by_tls("Forwarded", &[("forwarded", "proto=https, for=1.1.1.1")], "10.0.0.1"));
        assert!(!is_by_tls(&headers(&proto), None, &behind("X-Forwarded-For")));
    }
}
