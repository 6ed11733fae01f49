//! Forms are taken from our own pages alone.

use axum::http::StatusCode;
use scalewatch::db::Pool;

use crate::support::browser::{Browser, form_word};
use crate::support::{Service, row_counts};

/// Every address that takes a form.
const FORMS: [&str; 18] = [
    "/account/tokens",
    "/account/tokens/revoke",
    "/admin/project",
    "/login",
    "/logout",
    "/welcome",
    "/account/password",
    "/account/sessions",
    "/admin/add",
    "/admin/role",
    "/admin/person",
    "/incidents",
    "/incidents/1",
    "/account/provider",
    "/account/provider/remove",
    "/machines/1/merge",
    "/projects/linux/branches",
    "/jobs",
];

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn no_form_is_taken_without_the_word_that_this_browser_was_shown(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut other = Browser::new(&service);
    let others_word = form_word(&other.get("/login").await.text()).expect("a form");
    let mut admin = service.browser_of(&root).await;
    let own_word = form_word(&admin.get("/account").await.text()).expect("a form");
    let before = row_counts(&service.app.db).await;
    for form in FORMS {
        for word in ["", "0000", &others_word] {
            let answer = admin.post_with(word, form, &[("name", "eve")]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{form} with `{word}`");
        }
        let mut stranger = Browser::new(&service);
        let answer = stranger.post_with(&own_word, form, &[("name", "eve")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{form} without a cookie");
    }
    assert_eq!(row_counts(&service.app.db).await, before);
    let added = admin.post_with(&own_word, "/admin/add", &[("name", "eve")]).await;
    assert_eq!(added.status, 200, "{}", added.text());
}

#[test]
fn the_list_of_forms_is_every_address_that_takes_one() {
    let routes = include_str!("../../src/pages/mod.rs");
    let listed = routes.lines().filter(|line| line.contains(".route(") && line.contains("post("));
    assert_eq!(listed.count(), FORMS.len());
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_form_that_another_site_sends_is_refused_whatever_it_carries(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    let word = form_word(&admin.get("/account").await.text()).expect("a form");
    for site in ["cross-site", "same-site"] {
        let request = axum::http::Request::post("/admin/add")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", site)
            .header("cookie", format!("scalewatch_session={}", admin.cookies["scalewatch_session"]))
            .body(axum::body::Body::from(format!("form_word={word}&name=eve")));
        let answer = service.send(request.unwrap()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.text().contains("from another site"));
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_page_that_shows_no_form_gives_no_cookie(pool: Pool) {
    let service = Service::on(pool);
    let mut browser = Browser::new(&service);
    for page in ["/", "/curves", "/incidents", "/nowhere"] {
        browser.get(page).await;
    }
    assert!(browser.cookies.is_empty(), "{:?}", browser.cookies);
    browser.get("/login").await;
    let given = browser.cookies.clone();
    assert_eq!(given.len(), 1);
    browser.get("/login").await;
    assert_eq!(browser.cookies, given, "it is kept");
}
