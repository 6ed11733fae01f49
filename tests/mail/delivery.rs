//! Once, in the end, whatever happens on the way.

use std::net::TcpListener;
use std::sync::Arc;

use scalewatch::db::Pool;
use scalewatch::worker::{Did, Worker};
use scalewatch::{db, mail};
use time::Duration;

use super::with_regression;
use crate::support::Service;
use crate::support::history::work;
use crate::support::smtp::{SmtpServer, certificate};

/// The one message of the one incident.
async fn the_message(service: &Service) -> scalewatch::model::incident::Message {
    let incident =
        sqlx::query_scalar::<_, i64>("select id from incident").fetch_one(&service.app.db);
    let incident = scalewatch::model::IncidentId(incident.await.unwrap());
    let messages = db::incident::list_messages(&service.app.db, incident).await.unwrap();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    messages.into_iter().next().unwrap()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_regression_reaches_every_recipient_once_however_often_the_worker_runs(pool: Pool) {
    let server = SmtpServer::start();
    let url = format!("smtp://localhost:{}?tls=none", server.port);
    let service = with_regression(pool, Some(url)).await;
    for _ in 0..3 {
        work(&service.app).await;
        service.advance(Duration::days(1));
    }
    let messages = server.messages();
    assert_eq!(messages.len(), 1);
    let to = messages[0].header("X-Envelope-To").unwrap();
    assert_eq!(to, "ada@example.org, lab@example.org");
    assert_eq!(the_message(&service).await.sent_to.as_deref(), Some(to.as_str()));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn mail_waits_for_a_server_that_is_down_and_goes_out_when_it_is_back(pool: Pool) {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    drop(taken);
    let url = format!("smtp://localhost:{port}?tls=none");
    let service = with_regression(pool, Some(url)).await;
    work(&service.app).await;
    let waiting = the_message(&service).await;
    assert_eq!((waiting.attempts, waiting.sent_at), (1, None));
    assert!(waiting.last_error.is_some());
    assert!(work(&service.app).await.is_empty(), "it is not tried again at once");

    let server = SmtpServer::start_with(&["--port", &port.to_string()]);
    service.advance(mail::FIRST_RETRY);
    work(&service.app).await;
    assert_eq!(server.messages().len(), 1);
    let sent = the_message(&service).await;
    assert_eq!((sent.attempts, sent.sent_at.is_some(), sent.last_error), (2, true, None));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_server_that_puts_a_message_off_gets_it_again_later_and_later(pool: Pool) {
    let server = SmtpServer::start_with(&["--refuse", "2"]);
    let url = format!("smtp://localhost:{}?tls=none", server.port);
    let service = with_regression(pool, Some(url)).await;
    work(&service.app).await;
    assert!(the_message(&service).await.last_error.unwrap().contains("come back later"));
    service.advance(mail::FIRST_RETRY);
    work(&service.app).await;
    service.advance(mail::FIRST_RETRY);
    assert!(work(&service.app).await.is_empty(), "the second wait is longer");
    service.advance(mail::FIRST_RETRY);
    work(&service.app).await;
    assert_eq!(server.messages().len(), 1);
    assert_eq!(the_message(&service).await.attempts, 3);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_workers_that_race_send_one_message(pool: Pool) {
    let server = SmtpServer::start();
    let url = format!("smtp://localhost:{}?tls=none", server.port);
    let service = with_regression(pool, Some(url)).await;
    let worker = || Worker::new(service.app.clone()).unwrap();
    while let Did::Judged(_) = worker().step().await.unwrap() {
        if sqlx::query_scalar::<_, i64>("select count(*) from due")
            .fetch_one(&service.app.db)
            .await
            .unwrap()
            == 0
        {
            break;
        }
    }
    assert!(matches!(worker().step().await.unwrap(), Did::Suspected(_)));
    let (one, two, three) = (worker(), worker(), worker());
    let (one, two, three) = tokio::join!(one.step(), two.step(), three.step());
    let did = [one.unwrap(), two.unwrap(), three.unwrap()];
    let sent = did.iter().filter(|did| matches!(did, Did::Message(..))).count();
    assert_eq!((sent, server.messages().len()), (1, 1), "{did:?}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_message_whose_sender_died_is_sent_when_its_lease_has_run_out(pool: Pool) {
    let server = SmtpServer::start();
    let url = format!("smtp://localhost:{}?tls=none", server.port);
    let service = with_regression(pool, Some(url)).await;
    let worker = Worker::new(service.app.clone()).unwrap();
    while sqlx::query_scalar::<_, i64>("select count(*) from outbox")
        .fetch_one(&service.app.db)
        .await
        .unwrap()
        == 0
    {
        assert!(matches!(worker.step().await.unwrap(), Did::Judged(_)));
    }
    assert!(matches!(worker.step().await.unwrap(), Did::Suspected(_)));
    let now = service.app.clock.now();
    let claimed = db::outbox::claim_next(&service.app.db, now, now + mail::LEASE).await.unwrap();
    assert!(claimed.is_some(), "a sender claims it and dies");

    assert!(work(&service.app).await.is_empty());
    service.advance(mail::LEASE);
    work(&service.app).await;
    assert_eq!(server.messages().len(), 1);

    let mut late = service.app.db.acquire().await.unwrap();
    let again = db::outbox::mark_sent(&mut late, &claimed.unwrap(), "nowhere", now).await.unwrap();
    assert!(!again, "the dead sender no longer holds it");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn mail_is_encrypted_and_authenticated_where_the_server_demands_it(pool: Pool) {
    let folder = tempfile::tempdir().expect("a folder");
    let pem = certificate(folder.path());
    let password = folder.path().join("password");
    std::fs::write(&password, "correct horse\n").expect("the folder is ours");
    let pem_text = pem.display().to_string();
    let server = SmtpServer::start_with(&[
        "--certificate",
        &pem_text,
        "--login",
        "robot@example.org:correct horse",
    ]);
    let url = format!(
        "smtp://robot%40example.org@localhost:{}?tls=required&ca={}",
        server.port,
        folder.path().join("certificate.pem").display()
    );
    let mut service = with_regression(pool, Some(url)).await;
    let mut config = (*service.app.config).clone();
    config.mail.smtp_password_file = Some(password);
    service.app.config = Arc::new(config);
    work(&service.app).await;
    let messages = server.messages();
    assert_eq!(messages.len(), 1, "{:?}", the_message(&service).await.last_error);
    assert_eq!(messages[0].header("X-Secured").as_deref(), Some("yes"));
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_certificate_nobody_vouches_for_is_refused_and_the_message_waits(pool: Pool) {
    let folder = tempfile::tempdir().expect("a folder");
    let pem = certificate(folder.path()).display().to_string();
    let server = SmtpServer::start_with(&["--certificate", &pem]);
    let url = format!("smtp://localhost:{}?tls=required", server.port);
    let service = with_regression(pool, Some(url)).await;
    work(&service.app).await;
    assert_eq!(server.messages().len(), 0);
    let waiting = the_message(&service).await;
    assert!(waiting.sent_at.is_none() && waiting.last_error.is_some());
}
