//! Logging in, and how often one may try.

use axum::http::header;
use scalewatch::account::people;
use scalewatch::account::{By, Viewer, Who};
use scalewatch::db::{self, Pool};
use time::Duration;

use crate::pages::read::read;
use crate::support::Service;
use crate::support::browser::{Browser, PASSWORD};

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_knows_the_password_is_led_back_to_where_they_came_from(pool: Pool) {
    let service = Service::on(pool);
    service.person_with_password("ada").await;
    let mut browser = Browser::new(&service);
    let curves = browser.get("/curves").await.text();
    assert!(curves.contains("href=\"/login?next=%2Fcurves\""), "{curves}");
    let fields = [("name", " Ada "), ("password", PASSWORD), ("next", "/curves")];
    let answer = browser.post("/login?next=/curves", "/login", &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], "/curves");
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap().to_owned();
    for flag in ["scalewatch_session=sw_", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(flag), "{flag}: {cookie}");
    }
    assert!(!cookie.contains("Secure"), "it is not by TLS: {cookie}");
    let page = read(&browser.get("/curves").await.text());
    assert!(page.text.contains("ada") && page.links.contains(&"/account".to_owned()));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn by_tls_cookies_are_sent_by_tls_alone(pool: Pool) {
    let mut service = Service::on(pool);
    service.configure(|config| config.public_url = "https://perf.example.org".into());
    service.person_with_password("ada").await;
    let mut browser = Browser::new(&service);
    let shown = browser.get("/login").await;
    let entered = browser.log_in("ada").await;
    for answer in [shown, entered] {
        let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
        assert!(cookie.contains("; Secure"), "{cookie}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn nobody_learns_which_names_are_known(pool: Pool) {
    let service = Service::on(pool);
    service.person_with_password("ada").await;
    service.person("passwordless", false).await;
    let gone = service.person_with_password("gone").await;
    let mut connection = service.app.db.acquire().await.unwrap();
    let now = service.app.clock.now();
    db::person::set_disabled(&mut connection, gone.id, Some(now)).await.unwrap();
    let mut told = Vec::new();
    let long = "x".repeat(5000);
    for (name, password) in [
        ("ada", "not the password"),
        ("nobody", PASSWORD),
        ("passwordless", PASSWORD),
        ("passwordless", ""),
        ("gone", PASSWORD),
        ("not a name!", PASSWORD),
        ("ada", &long),
        ("ada", ""),
    ] {
        let mut browser = Browser::new(&service);
        let answer =
            browser.post("/login", "/login", &[("name", name), ("password", password)]).await;
        assert_eq!(answer.status, 401, "{name}");
        assert!(!browser.cookies.contains_key("scalewatch_session"), "{name}");
        let text = read(&answer.text()).text;
        assert!(text.contains("the name or the password is wrong."), "{text}");
        assert!(!answer.text().contains("not the password"), "what was typed is not shown");
        told.push(text);
    }
    assert!(told.iter().all(|text| *text == told[0]));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn tries_at_an_account_are_limited_from_wherever_they_come(pool: Pool) {
    let mut service = Service::on(pool);
    service.behind_proxy();
    service.person_with_password("ada").await;
    let try_one = async |address: u8, password: &str| {
        let mut browser = Browser::new(&service);
        browser.headers.push(("x-forwarded-for", format!("forged, 192.0.2.{address}")));
        browser.post("/login", "/login", &[("name", "ada"), ("password", password)]).await
    };
    for address in 0..10 {
        assert_eq!(try_one(address, "wrong").await.status, 401);
    }
    service.advance(Duration::minutes(5));
    let refused = try_one(99, PASSWORD).await;
    assert_eq!(refused.status, 429, "the right password is a try too");
    assert_eq!(refused.headers[header::RETRY_AFTER], "600");
    assert!(read(&refused.text()).text.contains("Try again in 10 min"));
    service.advance(Duration::minutes(10));
    assert_eq!(try_one(99, PASSWORD).await.status, 303);
    for _ in 0..10 {
        assert_eq!(try_one(99, "wrong").await.status, 401, "a success begins anew");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn tries_from_an_address_are_limited_whatever_the_account(pool: Pool) {
    let mut service = Service::on(pool);
    service.behind_proxy();
    service.person_with_password("ada").await;
    let try_one = async |address: &str, name: &str| {
        let mut browser = Browser::new(&service);
        browser.headers.push(("x-forwarded-for", address.to_owned()));
        browser.post("/login", "/login", &[("name", name), ("password", PASSWORD)]).await.status
    };
    assert_eq!(try_one("192.0.2.1", "ada").await, 303, "a success does not count");
    for n in 0..50 {
        assert_eq!(try_one("192.0.2.1", &format!("guess-{n}")).await, 401, "{n}");
    }
    assert_eq!(try_one("192.0.2.1", "ada").await, 429);
    assert_eq!(try_one("192.0.2.2", "ada").await, 303);
    service.advance(Duration::minutes(15));
    assert_eq!(try_one("192.0.2.1", "ada").await, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_link_sets_a_password_once_and_not_for_ever(pool: Pool) {
    let service = Service::on(pool);
    let person = service.person("ada", false).await;
    let make = async || {
        let viewer = Viewer::new(Who::CommandLine);
        let by = By { viewer: &viewer, origin: "test", now: service.app.clock.now() };
        let mut connection = service.app.db.acquire().await.unwrap();
        let secret = people::make_link(&mut connection, &by, &person).await.unwrap();
        people::link_address("", &secret)
    };
    let first = make().await;
    let link = make().await;
    let mut browser = Browser::new(&service);
    assert_eq!(browser.get(&first).await.status, 404, "a newer one took its place");
    let shown = browser.get(&link).await;
    assert!(read(&shown.text()).text.contains("For ada."));
    let code = link.split_once("code=").unwrap().1;
    for (password, again, told) in [
        ("too short", "too short", "at least 10 characters"),
        (PASSWORD, "something else", "again: is not the same password"),
    ] {
        let fields = [("code", code), ("password", password), ("again", again)];
        let answer = browser.post(&link, "/welcome", &fields).await;
        assert_eq!(answer.status, 422);
        assert!(read(&answer.text()).text.contains(told), "{}", answer.text());
    }
    let fields = [("code", code), ("password", PASSWORD), ("again", PASSWORD)];
    let answer = browser.post(&link, "/welcome", &fields).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers[header::LOCATION]),
        (303, &"/account".parse().unwrap())
    );
    assert!(read(&browser.get("/account").await.text()).text.contains("Where you are logged in"));
    let word = crate::support::browser::form_word(&browser.get("/account").await.text()).unwrap();
    assert_eq!(browser.post_with(&word, "/welcome", &fields).await.status, 404);
    assert_eq!(Browser::new(&service).log_in("ada").await.status, 303);

    let late = make().await;
    service.advance(Duration::days(3));
    assert_eq!(Browser::new(&service).get(&late).await.status, 404);
}
