//! Addresses outside are told once, whatever happens on the way.

mod receiver;

use scalewatch::db::{self, Pool};
use scalewatch::model::{Scope, WebhookId};
use scalewatch::webhook::{self, FIRST_RETRY, MOST_ATTEMPTS, Sent, signature};
use scalewatch::worker::{Did, Worker};
use serde_json::{Value, json};
use time::Duration;

use crate::support::Service;
use crate::support::history::{FAST, SLOW, upload, work};
use receiver::{Heard, Receiver};

const SECRET: &str = "a secret of the test";

/// A service whose project tells this address, before anything happened.
async fn telling(pool: Pool, url: &str) -> (Service, WebhookId) {
    let service = Service::on(pool);
    let box_a = service.registered("box-a").await;
    upload(&service, &box_a, 1..=6, FAST).await;
    let project = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let now = service.app.clock.now();
    let id = db::webhook::insert(&service.app.db, project.id, url, SECRET, now).await.unwrap();
    upload(&service, &box_a, 7..=11, SLOW).await;
    (service, id.expect("it is new"))
}

async fn decide(service: &Service, body: Value) {
    let id = service.get("/api/v1/incidents?state=all").await.json()["items"][0]["id"].clone();
    let token = service.token(Scope::Triage).await;
    let path = format!("/api/v1/incidents/{id}/state");
    let answer = service.post(&path, &token, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn assert_signed(heard: &Heard) {
    let at = heard.header("scalewatch-timestamp").parse().unwrap();
    assert_eq!(heard.header("scalewatch-signature"), signature(SECRET, at, &heard.body));
    assert_eq!(heard.header("scalewatch-event"), heard.json()["id"].to_string());
}

fn events(heard: &[Heard]) -> Vec<String> {
    heard.iter().map(|one| one.json()["event"].as_str().unwrap().to_owned()).collect()
}

fn told(done: &[Did]) -> Vec<&Sent> {
    done.iter()
        .filter_map(|did| match did {
            Did::Webhook(sent) => Some(sent),
            _ => None,
        })
        .collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_happens_to_an_incident_is_told_once_in_order_and_signed(pool: Pool) {
    let receiver = Receiver::answering(&[]).await;
    let (service, _) = telling(pool, &receiver.url).await;
    for _ in 0..3 {
        work(&service.app).await;
        service.advance(Duration::days(1));
    }
    decide(&service, json!({ "to": "acknowledged" })).await;
    decide(&service, json!({ "to": "invalid", "reason": "noise", "note": "two modes" })).await;
    work(&service.app).await;
    let heard = receiver.heard();
    assert_eq!(events(&heard), ["incident_opened", "incident_changed", "incident_closed"]);
    heard.iter().for_each(assert_signed);
    let opened = heard[0].json();
    assert_eq!(heard[0].path, "/hook");
    let shown = service.get("/api/v1/incidents?state=all").await.json()["items"][0].clone();
    assert_eq!(opened["incident"]["url"], shown["url"]);
    assert_eq!(opened["incident"]["bad"], shown["bad"]);
    assert_eq!(opened["incident"]["state"], "new");
    let closed = heard[2].json();
    assert_eq!((&closed["by"], &closed["note"]), (&json!("test"), &json!("two modes")));
    assert_eq!(closed["incident"]["state"], "invalid");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_not_taken_is_sent_again_later_and_later_and_stays_the_same(pool: Pool) {
    let receiver = Receiver::answering(&[500, 302]).await;
    let (service, _) = telling(pool, &receiver.url).await;
    let first = work(&service.app).await;
    assert_eq!(told(&first), [&Sent::Failed("answered 500".into())]);
    assert!(work(&service.app).await.is_empty(), "it is not sent again at once");
    decide(&service, json!({ "to": "acknowledged" })).await;
    service.advance(FIRST_RETRY);
    let second = work(&service.app).await;
    assert_eq!(told(&second), [&Sent::Failed("answered 302".into())], "in order, not followed");
    service.advance(FIRST_RETRY);
    assert!(told(&work(&service.app).await).is_empty(), "the second wait is longer");
    service.advance(FIRST_RETRY);
    work(&service.app).await;
    let heard = receiver.heard();
    assert_eq!(events(&heard), [["incident_opened"; 3].as_slice(), &["incident_changed"]].concat());
    heard.iter().for_each(assert_signed);
    assert!(heard[..3].iter().all(|one| one.body == heard[0].body), "every attempt sends the same");
    assert!(heard.iter().all(|one| one.path == "/hook"));
    let times = heard[..3].iter().map(|one| one.header("scalewatch-timestamp"));
    assert_eq!(times.collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_address_that_is_down_or_gone_holds_up_nothing_for_ever(pool: Pool) {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let down = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let (service, down) = telling(pool, &down).await;
    let project = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let gone = Receiver::answering(&[410]).await;
    let now = service.app.clock.now();
    db::webhook::insert(&service.app.db, project.id, &gone.url, SECRET, now).await.unwrap();
    let done = work(&service.app).await;
    let (failed, abandoned): (Vec<_>, Vec<_>) =
        told(&done).into_iter().partition(|sent| matches!(sent, Sent::Failed(_)));
    assert!(matches!(failed[..], [Sent::Failed(why)] if why.contains("no answer")), "{failed:?}");
    assert!(matches!(abandoned[..], [Sent::Abandoned(why)] if why.contains("410")));
    sqlx::query("update webhook_delivery set attempts = $1 where sent_at is null")
        .bind(MOST_ATTEMPTS - 1)
        .execute(&service.app.db)
        .await
        .unwrap();
    service.advance(webhook::LAST_RETRY);
    let last = work(&service.app).await;
    assert!(matches!(told(&last)[..], [Sent::Abandoned(_)]), "{last:?}");
    let listed = db::webhook::list(&service.app.db).await.unwrap();
    assert!(listed.iter().any(|one| one.id == down) && listed.iter().all(|one| one.waiting == 0));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_workers_tell_each_event_once(pool: Pool) {
    let receiver = Receiver::answering(&[]).await;
    let (service, _) = telling(pool, &receiver.url).await;
    let project = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    for n in 0..6 {
        let url = format!("{}/{n}", receiver.url);
        let now = service.app.clock.now();
        db::webhook::insert(&service.app.db, project.id, &url, SECRET, now).await.unwrap();
    }
    let worker = || Worker::new(service.app.clone()).unwrap();
    while worker().step().await.unwrap() != Did::Nothing {}
    decide(&service, json!({ "to": "acknowledged" })).await;
    decide(&service, json!({ "to": "confirmed" })).await;
    while worker().step().await.unwrap() != Did::Nothing {}
    let drain = async |worker: Worker| {
        while worker.webhook_step().await.unwrap() != Did::Nothing {}
    };
    tokio::join!(drain(worker()), drain(worker()), drain(worker()));
    // What one held while another looked is left for a further look.
    drain(worker()).await;
    let heard = receiver.heard();
    let mut seen: Vec<(String, String)> = heard
        .iter()
        .map(|one| (one.path.clone(), one.header("scalewatch-event").to_owned()))
        .collect();
    assert_eq!(seen.len(), 7 * 3, "{seen:?}");
    for (path, of_path) in seen.iter().fold(
        std::collections::BTreeMap::<String, Vec<i64>>::new(),
        |mut map, (path, event)| {
            map.entry(path.clone()).or_default().push(event.parse().unwrap());
            map
        },
    ) {
        assert!(of_path.is_sorted(), "{path} hears them in their order: {of_path:?}");
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7 * 3, "none is told twice");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_sender_that_died_is_followed_by_another_with_the_same_event(pool: Pool) {
    let receiver = Receiver::answering(&[]).await;
    let (service, _) = telling(pool, &receiver.url).await;
    while Worker::new(service.app.clone()).unwrap().step().await.unwrap() != Did::Nothing {}
    let now = service.app.clock.now();
    let claimed = db::webhook::claim_next(&service.app.db, now, now + webhook::LEASE).await;
    let dead = claimed.unwrap().expect("an event waits");
    assert!(told(&work(&service.app).await).is_empty(), "its lease holds");
    service.advance(webhook::LEASE);
    work(&service.app).await;
    assert_eq!(receiver.heard().len(), 1);
    db::webhook::mark_failed(&service.app.db, &dead, "late", now).await.unwrap();
    work(&service.app).await;
    assert_eq!(receiver.heard().len(), 1, "who lost the lease changes nothing");
}
