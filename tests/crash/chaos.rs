//! Kills at random under load: services on one database, and the database under its service. What
//! was acknowledged is there in the end, once; every curve is judged, and no mail is sent twice.
//! `./dev soak` goes on for as long as it is told to.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use scalewatch::db::{self, Pool, schema};
use scalewatch::postgres::{DataFolder, Embedded};
use stats::random::Random;

use crate::postgres::{kill, reachable_folder};
use crate::support::history::{FAST, SLOW, a_run};
use crate::support::processes::{ServiceProcess, eventually};
use crate::support::{Enrolled, Service};

const CLIENTS: usize = 3;

/// First slow revision.
const CULPRIT: i64 = 20;

/// Seconds that `./dev soak` asks for; none in a usual test, which ends after some kills.
fn soak() -> Option<Duration> {
    let seconds = std::env::var("SCALEWATCH_SOAK").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("SCALEWATCH_SOAK is a number of seconds")))
}

/// Runs uploaded again and again until they are acknowledged, one a revision and machine.
struct Load<'a> {
    machines: &'a [Enrolled],
    addresses: Vec<String>,
    next: AtomicI64,
    over: AtomicBool,
    acknowledged: Mutex<BTreeSet<String>>,
}

impl Load<'_> {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().expect("no client panics").len()
    }

    fn client(&self, seed: u64) {
        let mut random = Random::new(seed);
        while !self.over.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let enrolled = &self.machines[number as usize % self.machines.len()];
            let position = number / self.machines.len() as i64 + 1;
            let level = if position < CULPRIT { FAST } else { SLOW };
            let report = a_run(enrolled, position, level).build();
            let body = serde_json::to_vec(&report).expect("a report serialises");
            let patience = Instant::now() + Duration::from_secs(60);
            while !self.post(&enrolled.token, &body, &mut random) {
                assert!(Instant::now() < patience, "run {} is never acknowledged", report.run);
                std::thread::sleep(Duration::from_millis(2));
            }
            self.acknowledged.lock().expect("no client panics").insert(report.run);
        }
    }

    /// Whether the run was acknowledged. What a service says must be so or "later".
    fn post(&self, token: &str, body: &[u8], random: &mut Random) -> bool {
        let pick = (random.unit() * self.addresses.len() as f64) as usize;
        let Some(answer) = ask(&self.addresses[pick], token, body) else { return false };
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "200" | "201" | "429" | "500" | "503"), "{answer}");
        status.starts_with('2')
    }

    /// Waits until so many more runs are acknowledged.
    fn progress(&self, more: usize) {
        let enough = self.acknowledged() + more;
        let patience = Instant::now() + Duration::from_secs(60);
        while self.acknowledged() < enough {
            assert!(Instant::now() < patience, "{} of {enough} runs", self.acknowledged());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The whole answer; none when the service died on the way.
fn ask(address: &str, token: &str, body: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    // Cut off in the head or in the body is no answer.
    answer.trim_end().ends_with('}').then_some(answer)
}

/// Runs the load while `strike` is called after every few runs, `strikes` times or until the soak
/// is over.
fn under_load(load: &Load<'_>, strikes: usize, mut strike: impl FnMut(&mut Random)) {
    let mut random = Random::new(7);
    let end = soak().map(|length| Instant::now() + length);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || load.client(client as u64));
        }
        let mut struck = 0;
        while end.map_or(struck < strikes, |end| Instant::now() < end) {
            load.progress(1 + (random.unit() * 12.0) as usize);
            strike(&mut random);
            struck += 1;
        }
        // Far enough past the culprit that every series shows it.
        let enough = load.machines.len() * (CULPRIT as usize + 10);
        load.progress(enough.saturating_sub(load.acknowledged()).max(5));
        load.over.store(true, Ordering::Relaxed);
    });
}

/// Waits until all is judged and told, then checks that nothing is missing and nothing there twice.
async fn check(pool: &Pool, load: &Load<'_>, mails: &Path) {
    let none = async |what: &'static str, count: &'static str| {
        eventually(what, async || {
            let left = sqlx::query_scalar::<_, i64>(count).fetch_one(pool).await;
            (left.ok() == Some(0)).then_some(())
        })
        .await;
    };
    none("the last judgement", "select count(*) from due").await;
    // Nobody waits here until the lease of a sender that was killed runs out.
    let release = "update outbox set claimed_until = null where sent_at is null";
    sqlx::query(release).execute(pool).await.unwrap();
    let unsent = "select count(*) from outbox where sent_at is null and withdrawn_at is null";
    none("the last mail", unsent).await;
    let stored = sqlx::query_scalar::<_, uuid::Uuid>("select id from run").fetch_all(pool).await;
    let stored: BTreeSet<String> = stored.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(&stored, &*load.acknowledged.lock().unwrap(), "what was acknowledged is there");
    let runs = stored.len() as i64;
    let rows: (i64, i64, i64) = sqlx::query_as(
        "select (select count(*) from run), (select count(*) from point),
                (select count(*) from measurement)",
    )
    .fetch_one(pool)
    .await
    .unwrap();
    assert_eq!(rows, (runs, 3 * runs, 6 * runs), "runs, points and measurements");
    // Three task counts of two metrics on each machine, and one incident for all of them.
    let steps: (i64, i64) = sqlx::query_as(
        "select count(*), count(distinct (series_id, environment_id)) from step
         where retracted_at is null",
    )
    .fetch_one(pool)
    .await
    .unwrap();
    let series = 6 * load.machines.len() as i64;
    assert_eq!(steps, (series, series), "one step a series");
    let open: i64 = sqlx::query_scalar("select count(*) from incident where state = 'new'")
        .fetch_one(pool)
        .await
        .unwrap();
    assert_eq!(open, 1);
    let sent: i64 = sqlx::query_scalar("select count(*) from outbox where sent_at is not null")
        .fetch_one(pool)
        .await
        .unwrap();
    let files = std::fs::read_dir(mails).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "eml")).count();
    assert_eq!(files as i64, sent, "one mail for each event");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn two_services_killed_at_random_lose_nothing_and_double_nothing(pool: Pool) {
    let data = tempfile::tempdir().expect("a data folder");
    let machines = two_machines(&pool).await;
    let start = |listen: &str| ServiceProcess::start(&pool, data.path(), listen, &[]);
    let mut services = [start("127.0.0.1:0"), start("127.0.0.1:0")].map(Some);
    let addresses: Vec<String> =
        services.iter().flatten().map(|service| service.address.clone()).collect();
    let load = Load {
        machines: &machines,
        addresses: addresses.clone(),
        next: AtomicI64::new(0),
        over: AtomicBool::new(false),
        acknowledged: Mutex::default(),
    };
    under_load(&load, 14, |random| {
        let victim = usize::from(random.unit() < 0.5);
        services[victim].take().expect("both run between strikes").kill();
        services[victim] = Some(start(&addresses[victim]));
    });
    check(&pool, &load, &data.path().join("mail")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_killed_at_random_under_its_service_loses_nothing_and_doubles_nothing() {
    let folder = reachable_folder();
    let held = DataFolder::hold(folder.path()).expect("nobody holds a fresh folder");
    let server = Embedded::start(&held).expect("Postgres is installed where tests run");
    let pool = db::connect(server.address(), 4).await.unwrap();
    schema::migrate(&pool).await.unwrap();
    let machines = two_machines(&pool).await;
    let data = tempfile::tempdir().expect("a data folder");
    let service = ServiceProcess::start_on(server.address(), data.path(), "127.0.0.1:0", &[]);
    let load = Load {
        machines: &machines,
        addresses: vec![service.address.clone()],
        next: AtomicI64::new(0),
        over: AtomicBool::new(false),
        acknowledged: Mutex::default(),
    };
    tokio::task::block_in_place(|| {
        under_load(&load, 4, |_| {
            let process = server.process_id();
            kill(process);
            let patience = Instant::now() + Duration::from_secs(60);
            while server.process_id() == process {
                assert!(Instant::now() < patience, "the server is started again");
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    });
    check(&pool, &load, &data.path().join("mail")).await;
    pool.close().await;
}

async fn two_machines(pool: &Pool) -> Vec<Enrolled> {
    let service = Service::on(pool.clone());
    vec![service.registered("box-a").await, service.registered("box-b").await]
}
