//! One incident, one thread: each change worth telling follows the mail that opened it.

use scalewatch::db::Pool;
use scalewatch::model::Scope;
use serde_json::json;

use super::with_regression;
use crate::support::Service;
use crate::support::history::{FAST, upload, work};
use crate::support::smtp::Mail;

/// Every mail in the folder, by name.
fn mails(service: &Service) -> Vec<(String, Mail)> {
    let folder = std::fs::read_dir(service.app.config.data.join("mail")).expect("mail was written");
    let mut mails: Vec<(String, Mail)> = folder
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), Mail::read(&entry.path())))
        .collect();
    mails.sort_by(|a, b| a.0.cmp(&b.0));
    mails
}

async fn decide(service: &Service, body: serde_json::Value) {
    let token = service.token(Scope::Triage).await;
    let id = service.get("/api/v1/incidents?state=all").await.json()["items"][0]["id"].clone();
    let path = format!("/api/v1/incidents/{id}/state");
    let answer = service.post(&path, &token, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    work(&service.app).await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn decisions_are_told_in_the_thread_of_the_mail_that_opened_it(pool: Pool) {
    let service = with_regression(pool, None).await;
    work(&service.app).await;
    let first = mails(&service).remove(0).1;
    let first = first.header("Message-ID").unwrap();

    decide(&service, json!({ "to": "acknowledged" })).await;
    assert_eq!(mails(&service).len(), 1, "that somebody looks at it is no news");
    let note = "Seen\r\nBcc: all@example.org\n<b>by hand</b>";
    decide(&service, json!({ "to": "confirmed", "note": note })).await;
    let told = mails(&service);
    assert_eq!(told.len(), 2);
    let (name, mail) = &told[0];
    assert!(name.contains("-changed-"), "{name}");
    assert_eq!(mail.header("In-Reply-To").unwrap(), first);
    assert_eq!(mail.header("References").unwrap(), first);
    assert_eq!(mail.header("Bcc"), None);
    assert!(mail.header("Subject").unwrap().starts_with("Re: [linux] "));
    let text = mail.part("text/plain").replace("\r\n", "\n").replace('\n', " ");
    assert!(text.contains("was acknowledged; now: confirmed by test."), "{text}");
    assert!(text.contains("Seen Bcc: all@example.org <b>by hand</b>"), "{text}");
    assert!(text.contains("ext4: change number 7") && text.contains("/incidents/"), "{text}");
    let html = mail.part("text/html");
    assert!(html.contains("confirmed: regression") && !html.contains("<b>by hand"), "{html}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn that_the_level_is_back_is_told_once(pool: Pool) {
    let service = with_regression(pool, None).await;
    work(&service.app).await;
    let box_a = service.registered("box-a").await;
    for positions in [12..=18, 19..=22] {
        upload(&service, &box_a, positions, FAST).await;
        work(&service.app).await;
    }
    let told = mails(&service);
    let names: Vec<&String> = told.iter().map(|(name, _)| name).collect();
    assert_eq!(told.len(), 2, "{names:?}");
    let text = told[0].1.part("text/plain").replace("\r\n", " ");
    assert!(text.contains("was new; now: the level is back since "), "{text}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn nothing_is_told_of_what_was_refuted_before_anyone_was_told(pool: Pool) {
    let mut service = with_regression(pool, None).await;
    // Nobody listens there: the message waits.
    let folder = service.app.config.clone();
    let mut config = (*folder).clone();
    config.mail.smtp_url = Some("smtp://127.0.0.1:1?tls=none".into());
    service.app.config = std::sync::Arc::new(config);
    work(&service.app).await;
    service.app.config = folder;
    decide(&service, json!({ "to": "invalid", "reason": "environment" })).await;
    service.advance(time::Duration::hours(2));
    work(&service.app).await;
    assert!(!service.app.config.data.join("mail").exists(), "{:?}", mails(&service).len());
}
