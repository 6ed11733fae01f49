//! History in, a point in its middle late: the step moves, the incident with it, in one thread of
//! mail, and nothing twice though two workers race throughout.

use std::collections::BTreeSet;

use scalewatch::db::incident::Filter;
use scalewatch::db::{self, Pool};
use scalewatch::model::incident::{Incident, State};
use scalewatch::model::step::Change;
use scalewatch::model::{Scope, Visible};
use scalewatch::worker::{Did, Worker};
use serde_json::json;

use crate::support::history::{FAST, SLOW, a_run, upload, work};
use crate::support::smtp::Mail;
use crate::support::{Service, row_counts};

/// Two workers at once until both are idle, then one for what both passed over.
async fn race(service: &Service) {
    let worker = || Worker::new(service.app.clone()).expect("the mail settings are good");
    let (one, other) = (worker(), worker());
    let (one, other) = tokio::join!(one.run_until_idle(), other.run_until_idle());
    let mut done = one.expect("the database answers");
    done.extend(other.expect("the database answers"));
    assert!(!done.iter().any(|did| matches!(did, Did::Postponed(..))), "{done:?}");
    work(&service.app).await;
}

/// The one regression.
async fn regression(service: &Service) -> Incident {
    let filter = Filter::default();
    let list = db::incident::list(&service.app.db, &Visible::ALL, &filter, 100);
    let mut all = list.await.unwrap();
    all.retain(|incident| incident.change == Change::Regression);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

fn mails(service: &Service) -> Vec<Mail> {
    let folder = std::fs::read_dir(service.app.config.data.join("mail")).expect("mail was written");
    folder.map(|entry| Mail::read(&entry.expect("an entry").path())).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_late_point_moves_the_incident_in_one_thread_and_nothing_is_doubled(pool: Pool) {
    let service = Service::on(pool);
    let mut machines = Vec::new();
    for name in ["box-a", "box-b", "box-c"] {
        let machine = service.registered(name).await;
        upload(&service, &machine, 1..=12, FAST).await;
        upload(&service, &machine, 20..=31, SLOW).await;
        machines.push(machine);
    }
    race(&service).await;
    let first = regression(&service).await;
    assert_eq!((first.state, first.good.rank, first.bad.rank), (State::New, 12, 20));
    assert_eq!((first.machines, first.steps), (3, 3 * 6));
    assert_eq!(mails(&service).len(), 1);

    // Late, in the middle, on every machine: the step is narrowed, which is no news.
    let mut late = Vec::new();
    for machine in &machines {
        let report = a_run(machine, 16, SLOW).build();
        service.accept(machine, &report).await;
        late.push((machine, report));
    }
    race(&service).await;
    let narrowed = regression(&service).await;
    assert_eq!((narrowed.id, narrowed.good.rank, narrowed.bad.rank), (first.id, 12, 16));
    assert_eq!((narrowed.machines, narrowed.steps), (3, 3 * 6));
    assert_eq!(mails(&service).len(), 1);

    // Once more: revision 16 was fast after all, so what was told of it is untrue.
    for machine in &machines {
        for _ in 0..4 {
            upload(&service, machine, [16], FAST).await;
        }
    }
    race(&service).await;
    let moved = regression(&service).await;
    assert_eq!((moved.id, moved.good.rank, moved.bad.rank), (first.id, 16, 20));
    assert_eq!((moved.state, moved.machines, moved.steps), (State::New, 3, 3 * 6));

    let token = service.token(Scope::Triage).await;
    let path = format!("/api/v1/incidents/{}/state", first.id);
    let answer = service.post(&path, &token, json!({ "to": "confirmed" }).to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for machine in &machines {
        upload(&service, machine, 32..=40, FAST).await;
    }
    race(&service).await;
    assert_eq!(regression(&service).await.state, State::Returned);

    // Opened, moved, confirmed, returned: one thread of four, each told once.
    let told = mails(&service);
    let ids: BTreeSet<String> =
        told.iter().map(|mail| mail.header("Message-ID").expect("every mail has one")).collect();
    let answers: BTreeSet<Option<String>> =
        told.iter().map(|mail| mail.header("In-Reply-To")).collect();
    let subjects: Vec<_> = told.iter().map(|mail| mail.header("Subject")).collect();
    assert_eq!((told.len(), ids.len(), answers.len()), (4, 4, 2), "{subjects:?}");
    let opened = answers.iter().flatten().next().expect("three of them answer");
    assert!(ids.contains(opened) && opened.contains(".opened@"), "{opened}");
    let messages = db::incident::list_messages(&service.app.db, first.id).await.unwrap();
    assert!(messages.iter().all(|one| one.attempts == 1 && one.sent_at.is_some()), "{messages:#?}");

    let steps = db::incident_step::list(&service.app.db, first.id).await.unwrap();
    let places: BTreeSet<_> = steps.iter().map(|step| (step.series, step.bad.rank)).collect();
    assert_eq!(places.len(), steps.len(), "no step stands twice");
    let before = row_counts(&service.app.db).await;
    for (machine, report) in &late {
        assert!(!service.accept(machine, report).await.new);
    }
    race(&service).await;
    assert_eq!(row_counts(&service.app.db).await, before, "sent again, it changes nothing");
}
