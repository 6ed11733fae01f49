//! Requests to addresses outside: no redirects, any status is an answer, and never through a proxy to
//! this machine, for a proxy has another loopback.

use std::net::IpAddr;
use std::time::Duration;

use url::{Host, Url};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// What sends a request to `url`, for `whole` at most.
pub fn agent(url: &Url, whole: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(whole))
        .user_agent(concat!("scalewatch/", env!("CARGO_PKG_VERSION")));
    let is_here = url.host().is_some_and(|host| is_loopback(&host));
    if is_here { config.proxy(None) } else { config }.build().new_agent()
}

/// Whether a host is this machine.
pub fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => IpAddr::from(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::from(*address).is_loopback(),
    }
}
