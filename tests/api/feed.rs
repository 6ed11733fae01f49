//! Incidents for feed readers, and badges for READMEs.

use axum::http::header;
use scalewatch::db::{self, Pool};
use scalewatch::model::Scope;

use crate::support::history::{upload_regression, work};
use crate::support::{Service, a_report};

async fn with_incident(pool: Pool) -> Service {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    service
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_feed_holds_incidents_as_entries_that_link_to_their_pages(pool: db::Pool) {
    let service = with_incident(pool).await;
    let feed = service.get("/api/v1/incidents.atom").await;
    assert_eq!(feed.headers[header::CONTENT_TYPE], "application/atom+xml; charset=utf-8");
    let text = feed.text();
    let incident = service.get("/api/v1/incidents").await.json()["items"][0].clone();
    let page = incident["url"].as_str().unwrap();
    for part in [
        "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
        "<entry><title>regression ",
        "fallocate/append-truncate",
        &*format!("<id>{page}</id>"),
        &*format!("href=\"{page}\""),
        &*format!("<published>{}</published>", incident["opened_at"].as_str().unwrap()),
        "<category term=\"linux\"/>",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    for (query, entries) in [
        ("state=open", 1),
        ("state=settled", 0),
        ("project=linux&branch=main", 1),
        ("change=improvement", 0),
    ] {
        let text = service.get(&format!("/api/v1/incidents.atom?{query}")).await.text();
        assert_eq!(text.matches("<entry>").count(), entries, "{query}");
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_subject_with_markup_and_control_characters_leaves_the_feed_well_formed(pool: db::Pool) {
    let service = with_incident(pool).await;
    sqlx::query("update revision set subject = $1")
        .bind("<b>&\u{1}\u{1b}]]> \"quoted\"")
        .execute(&service.app.db)
        .await
        .unwrap();
    let text = service.get("/api/v1/incidents.atom").await.text();
    assert!(text.contains("&lt;b&gt;&amp;]]&gt; "), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_badge_says_how_a_branch_stands(pool: db::Pool) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    assert_eq!(service.get("/api/v1/projects/linux/badge.svg").await.status, 404);
    let said = async |query: &str| {
        let answer = service.get(&format!("/api/v1/projects/linux/badge.svg{query}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.headers[header::CONTENT_TYPE], "image/svg+xml");
        let text = answer.text();
        let (_, title) = text.split_once("<title>").unwrap();
        title.split_once("</title>").unwrap().0.to_owned()
    };
    let report = a_report().on(&box_a.machine).at(1).build();
    service.accept(&box_a, &report).await;
    let commit = &report.revision.commit[..10];
    assert_eq!(said("").await, format!("linux main: {commit} not judged yet"));
    work(&service.app).await;
    assert_eq!(said("").await, format!("linux main: no regression at {commit}"));
    upload_regression(&service, &box_a).await;
    work(&service.app).await;
    let last = &a_report().at(11).build().revision.commit[..10];
    assert_eq!(said("?branch=main").await, format!("linux main: 1 regression at {last}"));
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let token = service.token(Scope::Triage).await;
    let invalid = r#"{"to": "invalid", "reason": "workload"}"#;
    let path = format!("/api/v1/incidents/{id}/state");
    assert_eq!(service.post(&path, &token, invalid).await.status, 200);
    assert_eq!(said("").await, format!("linux main: no regression at {last}"));
}
