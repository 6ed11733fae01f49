//! Signing in by a provider of identities, a real one on loopback.

use axum::http::header;
use scalewatch::account::oidc::{self, Settings};
use scalewatch::account::{By, Viewer, Who, people};
use scalewatch::db::{self, Pool};
use scalewatch::model::Role;
use serde_json::json;
use time::Duration;

use crate::pages::read::read;
use crate::support::browser::Browser;
use crate::support::provider::{CLIENT, Provider};
use crate::support::{Answer, Service, a_report};

const ADDS: &[(&str, &str)] = &[("NEW_PEOPLE", "add"), ("DOMAINS", "example.org")];

/// A service whose people may sign in by a provider that tells of Ada.
async fn with_provider(pool: Pool, set: &[(&str, &str)]) -> (Service, Provider) {
    let mut service = Service::on(pool);
    let clock = service.app.clock.clone();
    let provider = Provider::of("ada-1", "Ada@example.org", clock).await;
    let settings = settings(&provider, set);
    service.configure(|config| config.oidc = Some(settings));
    (service, provider)
}

fn settings(provider: &Provider, set: &[(&str, &str)]) -> Settings {
    let lookup = |name: &str| {
        let name = name.strip_prefix("SCALEWATCH_OIDC_").unwrap();
        let ours = [
            ("ISSUER", provider.issuer.as_str()),
            ("NAME", "Example ID"),
            ("CLIENT_ID", CLIENT.0),
            ("CLIENT_SECRET", CLIENT.1),
        ];
        let found = ours.iter().chain(set).find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Settings::from_lookup(&lookup).unwrap().expect("there is an issuer")
}

/// Goes to the provider, and comes back to what is given back.
async fn come_back(browser: &mut Browser<'_>, provider: &Provider, next: &str) -> String {
    let sent = browser.get(&format!("/login/provider?next={next}")).await;
    assert_eq!(sent.status, 303, "{}", sent.text());
    provider.visit(sent.headers[header::LOCATION].to_str().unwrap()).await
}

async fn sign_in(browser: &mut Browser<'_>, provider: &Provider) -> Answer {
    let back = come_back(browser, provider, "/curves").await;
    browser.get(&back).await
}

/// What somebody is told who is not let in; nobody is logged in then.
async fn assert_refused(browser: &mut Browser<'_>, answer: &Answer, status: u16, told: &str) {
    let text = read(&answer.text()).text;
    assert_eq!(answer.status, status, "{text}");
    assert!(text.contains(told), "{told}: {text}");
    for secret in ["127.0.0.1", "nonce", "code-", "access", "Invalid", "ada-1"] {
        assert!(!text.contains(secret), "{secret} is nobody's business: {text}");
    }
    assert!(!browser.cookies.contains_key("scalewatch_session"), "nobody is logged in");
    assert_eq!(browser.get("/account").await.status, 303, "nobody is logged in");
}

async fn whats(service: &Service) -> Vec<String> {
    let deeds = db::audit::list(&service.app.db, None, 100).await.unwrap();
    deeds.iter().rev().map(|deed| format!("{} {} {}", deed.who, deed.what, deed.about)).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_signs_in_for_the_first_time_is_added_and_known_again_by_subject(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    let page = browser.get("/login?next=/curves").await.text();
    assert!(read(&page).text.contains("Sign in with Example ID"), "{page}");
    let link = "/login/provider?next=%2Fcurves".to_owned();
    assert!(read(&page).links.contains(&link), "{:?}", read(&page).links);
    let answer = sign_in(&mut browser, &provider).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], "/curves");
    let account = read(&browser.get("/account").await.text()).text;
    assert!(account.contains("Connected as Ada@example.org"), "{account}");
    // Another address at the provider is the same person here.
    provider.script().claims.insert("email".into(), json!("countess@example.org"));
    let mut other = Browser::new(&service);
    assert_eq!(sign_in(&mut other, &provider).await.status, 303);
    let account = read(&other.get("/account").await.text()).text;
    assert!(account.contains("Jobs ada@example.org"), "{account}");
    assert!(account.contains("Connected as countess@example.org"), "{account}");
    assert_eq!(db::person::list(&service.app.db).await.unwrap().len(), 1);
    let done = [
        "Example ID person_added person ada@example.org",
        "Example ID identity_connected person ada@example.org",
        "ada@example.org logged_in person ada@example.org",
        "ada@example.org logged_in person ada@example.org",
    ];
    assert_eq!(whats(&service).await, done);
    // Logging out is ours.
    assert_eq!(browser.post("/account", "/logout", &[]).await.status, 303);
    assert_eq!(browser.get("/account").await.status, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_sign_in_comes_back_once_in_time_and_in_the_browser_that_began_it(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let stale = "was not begun in this browser";
    let mut browser = Browser::new(&service);
    let back = come_back(&mut browser, &provider, "/").await;
    let wrong = back.replace("state=", "state=x");
    let answer = browser.get(&wrong).await;
    assert_refused(&mut browser, &answer, 403, stale).await;
    // A link that somebody else sends: their code must not log this browser in as them.
    let mut other = Browser::new(&service);
    let answer = other.get(&back).await;
    assert_refused(&mut other, &answer, 403, stale).await;
    come_back(&mut other, &provider, "/").await;
    let answer = other.get(&back).await;
    assert_refused(&mut other, &answer, 403, stale).await;
    assert_eq!(provider.script().exchanged.len(), 0, "the provider was not asked");
    assert_eq!(browser.get(&back).await.status, 303, "the right one is still good");
    browser.post("/account", "/logout", &[]).await;
    let answer = browser.get(&back).await;
    assert_refused(&mut browser, &answer, 403, stale).await;
    assert_eq!(provider.script().exchanged.len(), 1);
    let late = come_back(&mut browser, &provider, "/").await;
    service.advance(Duration::minutes(10));
    let answer = browser.get(&late).await;
    assert_refused(&mut browser, &answer, 403, stale).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_code_of_another_sign_in_is_not_taken(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    let used = come_back(&mut browser, &provider, "/").await;
    assert_eq!(browser.get(&used).await.status, 303);
    browser.post("/account", "/logout", &[]).await;
    let code = |back: &str| back.split(['=', '&']).nth(1).unwrap().to_owned();
    // A replayed code with a fresh state: the provider knows that it was used.
    let fresh = come_back(&mut browser, &provider, "/").await;
    let replayed = fresh.replace(&code(&fresh), &code(&used));
    let answer = browser.get(&replayed).await;
    assert_refused(&mut browser, &answer, 403, "could not be verified").await;
    // A stolen one: it is exchanged with the verifier of the browser it was made for.
    let mut thief = Browser::new(&service);
    let theirs = come_back(&mut thief, &provider, "/").await;
    let ours = come_back(&mut browser, &provider, "/").await;
    let stolen = theirs.replace(&code(&theirs), &code(&ours));
    let answer = thief.get(&stolen).await;
    assert_refused(&mut thief, &answer, 403, "could not be verified").await;
    assert_eq!(provider.script().exchanged.len(), 3);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_that_does_not_hold_lets_nobody_in(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let now = service.app.clock.now().unix_timestamp();
    for (claim, lie) in [
        ("nonce", json!("another")),
        ("nonce", json!(null)),
        ("exp", json!(now)),
        ("exp", json!(now - 3600)),
        ("iat", json!(now + 3600)),
        ("iss", json!("https://elsewhere.example")),
        ("aud", json!("another client")),
        ("aud", json!([CLIENT.0, "another client"])),
        ("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
        ("sub", json!("x".repeat(256))),
        ("sub", json!("a\u{0}b")),
    ] {
        provider.script().lies = [(claim.to_owned(), lie)].into();
        let mut browser = Browser::new(&service);
        let answer = sign_in(&mut browser, &provider).await;
        assert_refused(&mut browser, &answer, 403, "could not be verified").await;
    }
    assert!(db::person::list(&service.app.db).await.unwrap().is_empty());
    let done = whats(&service).await;
    assert_eq!(done.len(), 11);
    assert!(done.iter().all(|line| line == "nobody login_refused sign-in by Example ID"));
    provider.script().lies.clear();
    assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn only_a_verified_address_of_an_allowed_domain_is_let_in(pool: Pool) {
    let claims = [ADDS, &[("CLAIMS", "hd=example.org,lab=perf")]].concat();
    let (service, provider) = with_provider(pool, &claims).await;
    let right = json!({
        "email": "ada@example.org", "email_verified": true, "hd": "example.org",
        "lab": ["perf", "ops"],
    });
    provider.script().user = json!({ "sub": "ada-1" });
    for (claim, value, told) in [
        ("email_verified", json!(false), "no e-mail address of yours"),
        ("email_verified", json!(null), "no e-mail address of yours"),
        ("email", json!(null), "no e-mail address of yours"),
        ("email", json!("ada@evil-example.org"), "is not one that this service lets in"),
        ("email", json!("ada@example.org.evil"), "is not one that this service lets in"),
        ("email", json!("o'hara@example.org"), "is not one that this service lets in"),
        ("hd", json!("elsewhere.org"), "is not one that this service lets in"),
        ("lab", json!(["ops"]), "is not one that this service lets in"),
        ("lab", json!(null), "is not one that this service lets in"),
    ] {
        let mut lies = right.as_object().unwrap().clone();
        lies.insert(claim.into(), value);
        provider.script().lies = lies.into_iter().filter(|(_, value)| !value.is_null()).collect();
        provider.script().claims = [("sub".to_owned(), json!("ada-1"))].into();
        let mut browser = Browser::new(&service);
        let answer = sign_in(&mut browser, &provider).await;
        assert_refused(&mut browser, &answer, 403, told).await;
    }
    assert!(db::person::list(&service.app.db).await.unwrap().is_empty());
    provider.script().lies = right.as_object().unwrap().clone().into_iter().collect();
    let mut browser = Browser::new(&service);
    assert_eq!(sign_in(&mut browser, &provider).await.status, 303);
    // Who leaves is not let in again, known or not.
    provider.script().lies.insert("email".into(), json!("ada@elsewhere.org"));
    let mut browser = Browser::new(&service);
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "is not one that this service lets in").await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_address_that_the_token_leaves_out_is_asked_for(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    provider.script().claims = [("sub".to_owned(), json!("ada-1"))].into();
    for (user, status) in [
        (json!({ "sub": "eve-2", "email": "ada@example.org", "email_verified": true }), 403),
        (json!({ "sub": "ada-1", "email": "ada@example.org", "email_verified": false }), 403),
        (json!({ "sub": "ada-1" }), 403),
        (json!({ "sub": "ada-1", "email": "ada@example.org", "email_verified": true }), 303),
    ] {
        provider.script().user = user.clone();
        let answer = sign_in(&mut Browser::new(&service), &provider).await;
        assert_eq!(answer.status, status, "{user}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_provider_that_is_down_is_said_to_be(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    let back = come_back(&mut browser, &provider, "/").await;
    provider.stop();
    let answer = browser.get(&back).await;
    assert_refused(&mut browser, &answer, 503, "Example ID does not answer now").await;
    service.advance(Duration::hours(2));
    let answer = browser.get("/login/provider").await;
    assert_refused(&mut browser, &answer, 503, "Example ID does not answer now").await;
    assert_eq!(Browser::new(&service).get("/login").await.status, 200, "passwords are taken still");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_stops_at_the_provider_comes_back_to_the_login_page(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    let back = come_back(&mut browser, &provider, "/").await;
    let (_, state) = back.split_once("state=").unwrap();
    let address = format!(
        "/login/provider/back?error=access_denied&error_description=%3Cscript%3E&state={state}"
    );
    let answer = browser.get(&address).await;
    assert!(!answer.text().contains("access_denied"), "nothing of the address is shown");
    assert_refused(&mut browser, &answer, 403, "did not let you in").await;
    let back = come_back(&mut browser, &provider, "/").await;
    let answer = browser.get(&format!("{back}&iss=https%3A%2F%2Felsewhere.example")).await;
    assert_refused(&mut browser, &answer, 403, "could not be verified").await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_the_provider_publishes_is_kept_until_its_keys_change(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    for _ in 0..3 {
        assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 303);
    }
    assert_eq!(provider.script().described, 1);
    service.advance(Duration::minutes(2));
    provider.script().rotated = true;
    assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 303);
    assert_eq!(provider.script().described, 2);
    // Tokens that are wrong do not make the service ask and ask.
    provider.script().lies.insert("nonce".into(), json!("another"));
    for _ in 0..3 {
        assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 403);
    }
    assert_eq!(provider.script().described, 2);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn nobody_is_added_or_taken_over_where_that_is_not_set(pool: Pool) {
    let (mut service, provider) = with_provider(pool, &[]).await;
    let mut browser = Browser::new(&service);
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "people are not added by themselves").await;
    let ada = service.person_with_password("ada@example.org").await;
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "log in with your password and connect it").await;
    let by_email = [("DOMAINS", "example.org"), ("LINK_BY_EMAIL", "verified")];
    let by_email = settings(&provider, &by_email);
    service.configure(|config| config.oidc = Some(by_email));
    // A site admin is never found by an address.
    let mut connection = service.app.db.acquire().await.unwrap();
    db::person::set_admin(&mut connection, ada.id, true).await.unwrap();
    let mut browser = Browser::new(&service);
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "log in with your password and connect it").await;
    db::person::set_admin(&mut connection, ada.id, false).await.unwrap();
    assert_eq!(sign_in(&mut browser, &provider).await.status, 303);
    let account = read(&browser.get("/account").await.text()).text;
    assert!(account.contains("Connected as Ada@example.org"), "{account}");
    // Somebody else with the address, later: the person is taken.
    provider.script().claims.insert("sub".into(), json!("eve-2"));
    let mut eve = Browser::new(&service);
    let answer = sign_in(&mut eve, &provider).await;
    assert_refused(&mut eve, &answer, 403, "connected with another person").await;
    provider.script().claims.insert("sub".into(), json!("ada-1"));
    db::person::set_disabled(&mut connection, ada.id, Some(service.app.clock.now())).await.unwrap();
    let mut browser = Browser::new(&service);
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "An admin has disabled this person").await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_is_logged_in_connects_and_disconnects_their_account(pool: Pool) {
    let (service, provider) = with_provider(pool, &[]).await;
    let ada = service.person_with_password("ada").await;
    let mut browser = service.browser_of(&ada).await;
    let going = browser.post("/account", "/account/provider", &[]).await;
    assert_eq!(going.status, 200, "{}", going.text());
    let onward = going.headers[header::REFRESH].to_str().unwrap().to_owned();
    let address = onward.strip_prefix("0; url=").unwrap();
    assert!(
        read(&going.text()).links.iter().any(|link| link == address),
        "a link for who needs one"
    );
    let back = provider.visit(address).await;
    // Another person's browser cannot be made to come back with it.
    let eve = service.person_with_password("eve").await;
    let mut other = service.browser_of(&eve).await;
    let sent = other.get(&back).await;
    assert_eq!(sent.status, 403);
    assert!(read(&sent.text()).text.contains("You are logged in as before"));
    let answer = browser.get(&back).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers[header::LOCATION]),
        (303, &"/account".parse().unwrap())
    );
    let account = read(&browser.get("/account").await.text()).text;
    assert!(account.contains("Connected as Ada@example.org"), "{account}");
    // It is ada's, so eve cannot have it.
    let going = other.post("/account", "/account/provider", &[]).await;
    let onward = going.headers[header::REFRESH].to_str().unwrap().to_owned();
    let back = provider.visit(onward.strip_prefix("0; url=").unwrap()).await;
    let refused = read(&other.get(&back).await.text()).text;
    assert!(refused.contains("connected with another person"), "{refused}");
    let mut anew = Browser::new(&service);
    assert_eq!(sign_in(&mut anew, &provider).await.status, 303);
    assert!(anew.get("/account").await.text().contains("<h1>ada</h1>"));
    assert_eq!(anew.post("/account", "/account/provider/remove", &[]).await.status, 303);
    let mut anew = Browser::new(&service);
    let answer = sign_in(&mut anew, &provider).await;
    assert_refused(&mut anew, &answer, 403, "people are not added by themselves").await;
    let done = whats(&service).await;
    assert!(done.contains(&"ada identity_connected person ada".to_owned()), "{done:?}");
    assert!(done.contains(&"ada identity_disconnected person ada".to_owned()), "{done:?}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn who_could_not_log_in_otherwise_stays_connected(pool: Pool) {
    let (mut service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    sign_in(&mut browser, &provider).await;
    assert!(!browser.get("/account").await.text().contains("Disconnect"));
    let answer = browser.post("/account", "/account/provider/remove", &[]).await;
    assert_eq!(answer.status, 409);
    service.configure(|config| config.password_login = false);
    let ada = service.person_with_password("ada").await;
    let mut browser = service.browser_of(&ada).await;
    let answer = browser.post("/account", "/account/provider/remove", &[]).await;
    assert_eq!(answer.status, 409, "a password that is not taken is no way in");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn groups_give_and_take_roles_in_the_projects_that_are_named(pool: Pool) {
    let roles = "perf=linux:triager,leads=linux:admin,ops=admin,perf=unheard:viewer";
    let set = [ADDS, &[("GROUPS_CLAIM", "teams"), ("ROLES", roles)]].concat();
    let (service, provider) = with_provider(pool, &set).await;
    let box_a = service.registered("box-a").await;
    service.accept(&box_a, &a_report().on(&box_a.machine).build()).await;
    let musl = a_report().on(&box_a.machine).with(|report| report.project.name = "musl".into());
    service.accept(&box_a, &musl.build()).await;
    let held = async || {
        let name = scalewatch::model::PersonName::parse("ada@example.org").unwrap();
        let person = db::person::find_by_name(&service.app.db, &name).await.unwrap().unwrap();
        let roles = db::role::list_named(&service.app.db, Some(person.id)).await.unwrap();
        let roles: Vec<_> = roles.into_iter().map(|one| (one.project_name, one.role)).collect();
        (person, roles)
    };
    let linux = |role| ("linux".to_owned(), role);
    for (teams, is_admin, expected) in [
        (json!(["perf", "chess"]), false, vec![linux(Role::Triager)]),
        (json!(["perf", "leads"]), false, vec![linux(Role::Admin)]),
        (json!("ops"), true, vec![]),
        (json!(null), false, vec![]),
    ] {
        provider.script().claims.insert("teams".into(), teams.clone());
        assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 303);
        let (person, roles) = held().await;
        assert_eq!((person.is_admin, roles), (is_admin, expected), "{teams}");
    }
    // A project that no group is about is the admins' own.
    let (person, _) = held().await;
    service.role(&person, "musl", Role::Viewer).await;
    assert_eq!(sign_in(&mut Browser::new(&service), &provider).await.status, 303);
    assert_eq!(held().await.1, [("musl".to_owned(), Role::Viewer)]);
    let done = whats(&service).await;
    assert!(done.contains(&"Example ID role_set person ada@example.org".to_owned()), "{done:?}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn passwords_can_be_switched_off(pool: Pool) {
    let (mut service, provider) = with_provider(pool, ADDS).await;
    let ada = service.person_with_password("ada").await;
    service.configure(|config| config.password_login = false);
    let mut browser = Browser::new(&service);
    let page = browser.get("/login").await.text();
    assert!(!page.contains("type=\"password\"") && page.contains("Sign in with Example ID"));
    let word = crate::support::browser::form_word(&browser.get("/login").await.text());
    assert_eq!(word, None, "there is no form");
    let mut inside = service.browser_of(&ada).await;
    let account = inside.get("/account").await.text();
    assert!(!account.contains("type=\"password\""), "nor on the account page");
    let word = crate::support::browser::form_word(&account).unwrap();
    let fields = [("name", "ada"), ("password", crate::support::browser::PASSWORD)];
    let answer = inside.post_with(&word, "/login", &fields).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    assert_eq!(inside.post_with(&word, "/account/password", &[]).await.status, 403);
    assert_eq!(inside.get("/welcome?code=sw_x").await.status, 403);
    assert_eq!(sign_in(&mut browser, &provider).await.status, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn without_a_provider_there_is_nothing_to_sign_in_by(pool: Pool) {
    let service = Service::on(pool);
    let mut browser = Browser::new(&service);
    assert!(!browser.get("/login").await.text().contains("Sign in with"));
    assert_eq!(browser.get("/login/provider").await.status, 404);
    assert_eq!(browser.get("/login/provider/back?state=x&code=y").await.status, 404);
    let ada = service.person_with_password("ada").await;
    let mut browser = service.browser_of(&ada).await;
    assert_eq!(browser.post("/account", "/account/provider", &[]).await.status, 404);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn admins_see_who_signs_in_by_the_provider_and_forget_it(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    sign_in(&mut Browser::new(&service), &provider).await;
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    let shown = read(&admin.get("/admin").await.text()).text;
    assert!(shown.contains("none of their own signs in by the provider"), "{shown}");
    let viewer = Viewer::new(Who::CommandLine);
    let by = By { viewer: &viewer, origin: "test", now: service.app.clock.now() };
    let mut connection = service.app.db.acquire().await.unwrap();
    let ada = people::find(&mut connection, "ada@example.org").await.unwrap();
    oidc::forget(&mut connection, &by, &ada).await.unwrap();
    assert!(oidc::forget(&mut connection, &by, &ada).await.is_err(), "there is nothing left");
    let mut browser = Browser::new(&service);
    let answer = sign_in(&mut browser, &provider).await;
    assert_refused(&mut browser, &answer, 403, "log in with your password and connect it").await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn sign_ins_from_an_address_are_limited(pool: Pool) {
    let (service, provider) = with_provider(pool, ADDS).await;
    let mut browser = Browser::new(&service);
    for _ in 0..100 {
        assert_eq!(browser.get("/login/provider").await.status, 303);
    }
    assert_eq!(browser.get("/login/provider").await.status, 429);
    service.advance(Duration::minutes(15));
    assert_eq!(sign_in(&mut browser, &provider).await.status, 303);
}
