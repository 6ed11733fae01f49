//! A service of one person needs no account, and no other service is one.

use std::process::Command;

use scalewatch::db::Pool;

use crate::pages::read::read;
use crate::support::Service;
use crate::support::browser::Browser;
use crate::support::history::{upload_regression, work};
use crate::support::processes::database_url;

async fn with_incident(pool: Pool, local_owner: bool) -> Service {
    let mut service = Service::on(pool);
    service.configure(|config| config.local_owner = local_owner);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_local_owner_decides_without_an_account(pool: Pool) {
    let service = with_incident(pool, true).await;
    for host in ["127.0.0.1:8420", "localhost:8420", "[::1]:8420"] {
        let mut browser = Browser::new(&service);
        browser.host = host;
        let shown = read(&browser.get("/incidents/1").await.text());
        assert!(shown.text.contains("local owner") && shown.text.contains("Decide"), "{host}");
        assert_eq!(browser.get("/admin").await.status, 200);
        assert_eq!(browser.get("/admin/audit").await.status, 200);
    }
    let mut browser = Browser::new(&service);
    browser.host = "localhost:8420";
    let fields = [("from", "new"), ("to", "acknowledged")];
    let answer = browser.post("/incidents/1", "/incidents/1", &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let shown = read(&browser.get("/incidents/1").await.text());
    assert!(shown.text.contains("acknowledged by local owner"), "{}", shown.text);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_name_that_was_made_to_point_here_is_a_strangers(pool: Pool) {
    let service = with_incident(pool, true).await;
    let mut browser = Browser::new(&service);
    browser.host = "rebound.example.org:8420";
    let shown = read(&browser.get("/incidents/1").await.text());
    assert!(shown.text.contains("Log in to decide"), "{}", shown.text);
    assert_eq!(browser.get("/admin").await.status, 401);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn without_a_local_owner_a_loopback_name_gives_no_right(pool: Pool) {
    let service = with_incident(pool, false).await;
    let mut browser = Browser::new(&service);
    browser.host = "127.0.0.1:8420";
    let shown = read(&browser.get("/incidents/1").await.text());
    assert!(shown.text.contains("Log in to decide") && !shown.text.contains("local owner"));
    for page in ["/admin", "/admin/audit"] {
        assert_eq!(browser.get(page).await.status, 401, "{page}");
    }
    let login = browser.get("/login").await.text();
    let word = crate::support::browser::form_word(&login).unwrap();
    let fields = [("from", "new"), ("to", "acknowledged")];
    assert_eq!(browser.post_with(&word, "/incidents/1", &fields).await.status, 401);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn serve_has_a_local_owner_only_on_loopback_and_only_when_told(pool: Pool) {
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .args(["serve", "--local-owner"])
        .env("DATABASE_URL", database_url(&pool))
        .env("SCALEWATCH_LISTEN", "0.0.0.0:0")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--local-owner goes with a loopback address alone"), "{said}");
}
