//! Where a request comes from, behind a proxy and before one that only says so.

use std::net::SocketAddr;

use axum::http::header;
use scalewatch::db::{self, Pool};

use crate::support::Service;
use crate::support::browser::Browser;

/// Where a client sits that is no proxy of ours.
const STRANGER: ([u8; 4], u16) = ([198, 51, 100, 9], 4000);

fn browser<'a>(service: &'a Service, said: &str, proto: &str) -> Browser<'a> {
    let mut browser = Browser::new(service);
    browser.headers.push(("x-forwarded-for", said.to_owned()));
    browser.headers.push(("x-forwarded-proto", proto.to_owned()));
    browser.headers.push(("forwarded", "for=192.0.2.77;proto=https".into()));
    browser
}

async fn refused_login(service: &Service, said: &str) -> u16 {
    let fields = [("name", "ada"), ("password", "wrong")];
    browser(service, said, "http").post("/login", "/login", &fields).await.status.as_u16()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_makes_up_an_address_is_limited_and_noted_by_his_own(pool: Pool) {
    let mut service = Service::on(pool);
    service.behind_proxy();
    service.peer = Some(SocketAddr::from(STRANGER));
    for n in 0..50 {
        let fields = [("name", format!("guess-{n}")), ("password", "x".into())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let mut liar = browser(&service, &format!("192.0.2.{n}"), "http");
        assert_eq!(liar.post("/login", "/login", &fields).await.status, 401, "{n}");
    }
    assert_eq!(refused_login(&service, "192.0.2.200").await, 429, "another lie does not help");
    service.behind_proxy();
    assert_eq!(refused_login(&service, "192.0.2.200").await, 401, "the proxy's word counts");
    let deeds = db::audit::list(&service.app.db, None, 100).await.unwrap();
    let origins: Vec<&str> = deeds.iter().map(|deed| deed.origin.as_str()).collect();
    assert_eq!(origins.iter().filter(|origin| **origin == "198.51.100.9").count(), 50);
    assert_eq!(origins.iter().filter(|origin| **origin == "192.0.2.200").count(), 1);
    assert_eq!(origins.len(), 51);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn cookies_are_for_tls_alone_where_a_trusted_proxy_says_that_it_is_tls(pool: Pool) {
    let mut service = Service::on(pool);
    service.behind_proxy();
    let secure = async |service: &Service, proto: &str| {
        let answer = browser(service, "203.0.113.1", proto).get("/login").await;
        answer.headers[header::SET_COOKIE].to_str().unwrap().contains("; Secure")
    };
    assert!(secure(&service, "https").await);
    assert!(!secure(&service, "http").await);
    service.peer = Some(SocketAddr::from(STRANGER));
    assert!(!secure(&service, "https").await, "a stranger only says so");
    service.peer = None;
    assert!(!secure(&service, "https").await, "nothing is known of where it came from");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_local_owner_does_not_come_by_a_proxy(pool: Pool) {
    let mut service = Service::on(pool);
    service.configure(|config| config.local_owner = true);
    service.peer = Some(SocketAddr::from(([127, 0, 0, 1], 4000)));
    let mut here = Browser::new(&service);
    here.host = "localhost:8420";
    assert_eq!(here.get("/admin").await.status, 200);
    // The proxy on this machine speaks for somebody elsewhere.
    service.configure(|config| config.proxy.trusted = vec!["127.0.0.1".parse().unwrap()]);
    let mut elsewhere = browser(&service, "203.0.113.9", "http");
    elsewhere.host = "localhost:8420";
    assert_ne!(elsewhere.get("/admin").await.status, 200);
}
