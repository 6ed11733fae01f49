//! How long a login lasts, and how it is ended.

use scalewatch::db::Pool;
use time::Duration;

use crate::support::Service;
use crate::support::browser::{Browser, PASSWORD};

async fn is_logged_in(browser: &mut Browser<'_>) -> bool {
    browser.get("/account").await.status == 200
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_session_ends_when_it_is_not_used_and_after_a_month_all_the_same(pool: Pool) {
    let service = Service::on(pool);
    let ada = service.person("ada", false).await;
    let mut idle = service.browser_of(&ada).await;
    let mut used = service.browser_of(&ada).await;
    service.advance(Duration::days(7) - Duration::SECOND);
    assert!(is_logged_in(&mut used).await);
    service.advance(Duration::SECOND);
    assert!(!is_logged_in(&mut idle).await);
    for _ in 0..4 {
        service.advance(Duration::days(5));
        assert!(is_logged_in(&mut used).await);
    }
    service.advance(Duration::days(3) - Duration::SECOND);
    assert!(is_logged_in(&mut used).await);
    service.advance(Duration::SECOND);
    assert!(!is_logged_in(&mut used).await, "30 days after its login");
    service.browser_of(&ada).await;
    let left: i64 = sqlx::query_scalar("select count(*) from session")
        .fetch_one(&service.app.db)
        .await
        .unwrap();
    assert_eq!(left, 1, "those that are over are removed with the next login");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn logging_out_ends_this_session_one_or_all(pool: Pool) {
    let service = Service::on(pool);
    let (ada, bob) = (service.person("ada", false).await, service.person("bob", false).await);
    let mut others = service.browser_of(&bob).await;
    let mut browsers = Vec::new();
    for _ in 0..4 {
        browsers.push(service.browser_of(&ada).await);
    }
    let [mut one, mut two, mut three, mut four] =
        <[Browser<'_>; 4]>::try_from(browsers).ok().expect("four");

    assert_eq!(one.post("/account", "/logout", &[]).await.status, 303);
    assert!(!one.cookies.contains_key("scalewatch_session") && !is_logged_in(&mut one).await);

    let listed = two.get("/account").await.text();
    let ids: Vec<&str> = listed.split("name=\"session\" value=\"").skip(1).collect();
    let ids: Vec<&str> = ids.iter().filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(ids.len(), 3 + 1, "three sessions, and all");
    let oldest = ids.iter().filter_map(|id| id.parse::<i64>().ok()).min().unwrap().to_string();
    let stolen = others.post("/account", "/account/sessions", &[("session", &oldest)]).await;
    assert_eq!(stolen.status, 404, "of somebody else");
    let answer = three.post("/account", "/account/sessions", &[("session", &oldest)]).await;
    assert_eq!(answer.status, 303);
    assert!(!is_logged_in(&mut two).await && is_logged_in(&mut three).await);

    let answer = three.post("/account", "/account/sessions", &[("session", "all")]).await;
    assert_eq!(answer.status, 303);
    assert!(!is_logged_in(&mut three).await && !is_logged_in(&mut four).await);
    assert!(is_logged_in(&mut others).await);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_new_password_takes_the_old_one_and_ends_every_other_session(pool: Pool) {
    let service = Service::on(pool);
    let ada = service.person_with_password("ada").await;
    let mut here = service.browser_of(&ada).await;
    let mut there = service.browser_of(&ada).await;
    let new = "staple staple staple";
    for (current, password, again, told) in [
        ("wrong", new, new, "current: is not the password"),
        (PASSWORD, new, PASSWORD, "again: is not the same password"),
        (PASSWORD, "short", "short", "password: must have at least 10 characters"),
    ] {
        let fields = [("current", current), ("password", password), ("again", again)];
        let answer = here.post("/account", "/account/password", &fields).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text().contains(told), "{}", answer.text());
    }
    let fields = [("current", PASSWORD), ("password", new), ("again", new)];
    assert_eq!(here.post("/account", "/account/password", &fields).await.status, 303);
    assert!(is_logged_in(&mut here).await && !is_logged_in(&mut there).await);
    assert_eq!(Browser::new(&service).log_in("ada").await.status, 401);
    let mut browser = Browser::new(&service);
    let answer = browser.post("/login", "/login", &[("name", "ada"), ("password", new)]).await;
    assert_eq!(answer.status, 303);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn neither_a_password_nor_a_cookie_can_be_read_from_the_database(pool: Pool) {
    let service = Service::on(pool);
    service.person_with_password("ada").await;
    let mut browser = Browser::new(&service);
    browser.log_in("ada").await;
    let cookie = browser.cookies["scalewatch_session"].clone();
    let rows: Vec<String> = sqlx::query_scalar(
        "select person::text from person union all select session::text from session
         union all select audit::text from audit union all select rate::text from rate",
    )
    .fetch_all(&service.app.db)
    .await
    .unwrap();
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        assert!(!row.contains(PASSWORD) && !row.contains(&cookie[3..]), "{row}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_person_who_is_disabled_or_removed_is_nobody_at_once(pool: Pool) {
    let service = Service::on(pool);
    let root = service.person("root", true).await;
    let mut admin = service.browser_of(&root).await;
    for (name, word) in [("ada", "disable"), ("bob", "remove")] {
        let person = service.person_with_password(name).await;
        let mut browser = service.browser_of(&person).await;
        assert!(is_logged_in(&mut browser).await);
        let fields = [("name", name), ("do", word)];
        assert_eq!(admin.post("/admin", "/admin/person", &fields).await.status, 303);
        assert!(!is_logged_in(&mut browser).await, "{word}");
        assert_eq!(Browser::new(&service).log_in(name).await.status, 401, "{word}");
    }
    admin.post("/admin", "/admin/person", &[("name", "ada"), ("do", "enable")]).await;
    assert_eq!(Browser::new(&service).log_in("ada").await.status, 303);
}
