//! Told to stop: what was begun is finished, nothing new is begun, and not for ever.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use scalewatch::db::{self, Pool};

use crate::support::history::upload_regression;
use crate::support::processes::{ServiceProcess, eventually};
use crate::support::{Enrolled, Service, a_report};

/// An upload that has sent its head and half of its body.
struct Upload {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Upload {
    fn begin(process: &ServiceProcess, enrolled: &Enrolled, report: &wire::Report) -> Upload {
        let body = serde_json::to_vec(report).unwrap();
        let (half, rest) = body.split_at(body.len() / 2);
        let mut stream = TcpStream::connect(&process.address).unwrap();
        write!(
            stream,
            "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {}\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            enrolled.token,
            body.len()
        )
        .unwrap();
        // The service asks for the body: it has the request in hand.
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(half).unwrap();
        Upload { stream, rest: rest.to_vec() }
    }

    fn finish(mut self) -> String {
        self.stream.write_all(&self.rest).unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// Waits until nobody is let in any more.
async fn refuses(process: &ServiceProcess) {
    eventually("refusal of new connections", async || {
        let refused = TcpStream::connect(&process.address).err()?;
        (refused.kind() == ErrorKind::ConnectionRefused).then_some(())
    })
    .await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn an_upload_in_flight_is_stored_while_new_connections_are_refused(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    let data = tempfile::tempdir().unwrap();
    let limit = [("SCALEWATCH_SHUTDOWN_SECONDS", "600")];
    let mut process = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &limit);
    let report = a_report().on(&enrolled.machine).build();
    let upload = Upload::begin(&process, &enrolled, &report);
    // Asks for certificates to be read again, and means nothing where there are none.
    process.signal("HUP");
    process.signal("TERM");
    refuses(&process).await;
    let answer = upload.finish();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(process.wait().success());
    let stored: Vec<uuid::Uuid> =
        sqlx::query_scalar("select id from run").fetch_all(&pool).await.unwrap();
    assert_eq!(stored, [report.run.parse::<uuid::Uuid>().unwrap()]);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_does_not_end_is_cut_off_at_the_limit_and_nothing_of_it_is_stored(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    let data = tempfile::tempdir().unwrap();
    let limit = [("SCALEWATCH_SHUTDOWN_SECONDS", "1")];
    let mut process = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &limit);
    let report = a_report().on(&enrolled.machine).build();
    let upload = Upload::begin(&process, &enrolled, &report);
    process.signal("TERM");
    // It is never finished, and the service ends all the same.
    assert!(process.wait().success());
    drop(upload);
    let stored: i64 =
        sqlx::query_scalar("select count(*) from run").fetch_one(&pool).await.unwrap();
    assert_eq!(stored, 0);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn the_worker_finishes_its_unit_and_begins_no_other(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    upload_regression(&service, &enrolled).await;
    let waiting = async |column: &'static str| -> i64 {
        sqlx::query_scalar(column).fetch_one(&pool).await.unwrap()
    };
    let due = "select count(*) from due";
    assert_eq!(waiting(due).await, 1);
    // Whoever judges has to wait here, in the middle of a unit.
    let mut held = pool.begin().await.unwrap();
    sqlx::raw_sql("lock table incident in access exclusive mode")
        .execute(&mut *held)
        .await
        .unwrap();
    let data = tempfile::tempdir().unwrap();
    let limit = [("SCALEWATCH_SHUTDOWN_SECONDS", "600")];
    let mut process = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &limit);
    eventually("a worker that waits", async || {
        let blocked = "select count(*) from pg_stat_activity where datname = current_database()
                           and application_name = 'scalewatch' and wait_event_type = 'Lock'";
        (waiting(blocked).await > 0).then_some(())
    })
    .await;
    process.signal("TERM");
    refuses(&process).await;
    assert!(process.is_running(), "it is not cut off");
    held.rollback().await.unwrap();
    assert!(process.wait().success());
    assert_eq!(waiting(due).await, 0, "the curve was judged");
    assert_eq!(waiting("select count(*) from incident").await, 1);
    let unsent = db::health::find_backlog(&pool).await.unwrap().unsent_messages;
    assert_eq!(unsent, 1, "the mail is the next unit, of whoever works next");
}
