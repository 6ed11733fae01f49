//! A real streaming replica: what is read from it, what is not, and what happens when it is late or gone.

use std::sync::Arc;

use scalewatch::app::App;
use scalewatch::app::replica::{Replica, Standing};
use scalewatch::db::{self, Pool};
use scalewatch::model::Role;
use serde_json::Value;
use time::Duration;

use crate::support::browser::Browser;
use crate::support::cluster::Cluster;
use crate::support::history::{FAST, SLOW, upload, work};
use crate::support::processes::{ServiceProcess, eventually};
use crate::support::{Enrolled, Service, a_report};

/// A primary, its replica, and a service that reads from both.
struct Pair {
    service: Service,
    replica: Replica,
    /// Straight into the replica.
    copy: Pool,
    follower: Option<Cluster>,
    primary: Cluster,
}

impl Pair {
    async fn start() -> Pair {
        let primary = Cluster::start();
        let pool = primary.pool().await;
        db::schema::migrate(&pool).await.unwrap();
        let follower = primary.replica();
        let mut service = Service::on(pool);
        let address = follower.address().to_owned();
        service.configure(|config| config.database_replica_url = Some(address));
        service.app = service.app.clone().with_replica().unwrap();
        let replica = service.app.replica.clone().unwrap();
        let copy = follower.pool().await;
        Pair { service, replica, copy, follower: Some(follower), primary }
    }

    /// Waits until the replica has replayed all that the primary has written, by position, and has the
    /// service look.
    async fn in_step(&self) {
        let written = db::replica::written(&self.service.app.db).await.unwrap();
        eventually("replay of all that was written", async || {
            let progress = db::replica::find_progress(&self.copy).await.unwrap();
            progress.replayed.filter(|replayed| *replayed >= written)
        })
        .await;
        self.look().await;
    }

    async fn look(&self) {
        self.replica.look(&self.service.app.db, self.service.app.clock.now()).await;
    }

    async fn on_replica(&self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&self.copy).await.unwrap();
    }

    /// How many reads went where, as `/metrics` says.
    async fn reads(&self) -> (u64, u64) {
        let text = self.service.get("/metrics").await.text();
        let count = |from: &str| {
            let name = format!("scalewatch_reads_total{{from=\"{from}\"}} ");
            let line = text.lines().find_map(|line| line.strip_prefix(&name));
            line.map_or(0, |count| count.parse().unwrap())
        };
        (count("replica"), count("primary"))
    }

    /// Runs that a stranger sees.
    async fn runs(&self) -> usize {
        let answer = self.service.get("/api/v1/runs").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["items"].as_array().unwrap().len()
    }

    async fn ready(&self) -> Value {
        self.service.get("/health/ready").await.json()["parts"]["replica"].clone()
    }

    async fn upload(&self, enrolled: &Enrolled, position: i64) {
        let report = a_report().on(&enrolled.machine).at(position).build();
        self.service.accept(enrolled, &report).await;
    }
}

#[tokio::test]
async fn what_was_written_is_read_from_the_replica_once_it_is_there_and_late_reads_from_the_primary()
 {
    let pair = Pair::start().await;
    let box_a = pair.service.registered("box-a").await;
    pair.upload(&box_a, 1).await;
    assert_eq!(pair.runs().await, 1, "a replica that was not looked at is not read from");
    assert_eq!(pair.reads().await, (0, 1));
    pair.in_step().await;
    assert_eq!(pair.runs().await, 1);
    assert_eq!(pair.reads().await, (1, 1));

    // It stands still: what is read is what was so, for as long as that may be.
    pair.on_replica("select pg_wal_replay_pause()").await;
    pair.upload(&box_a, 2).await;
    pair.look().await;
    assert_eq!(pair.runs().await, 1, "the second run is not there yet");
    assert!(matches!(pair.replica.standing(), Standing::Following(lag) if lag.bytes > 0));
    pair.service.advance(Duration::seconds(7));
    pair.look().await;
    let metrics = pair.service.get("/metrics").await.text();
    assert!(metrics.contains("\nscalewatch_replica_lag_seconds{} 7.0\n"), "{metrics}");
    assert!(metrics.contains("\nscalewatch_replica_in_use{} 1\n"), "{metrics}");
    assert_eq!(pair.ready().await["lag_s"], 7.0);

    // Too long.
    pair.service.advance(Duration::seconds(4));
    pair.look().await;
    assert!(matches!(pair.replica.standing(), Standing::Behind(lag) if lag.seconds == 11.0));
    let ready = pair.ready().await;
    assert_eq!((&ready["state"], &ready["lag_s"]), (&"degraded".into(), &11.0.into()));
    assert!(ready["reason"].as_str().unwrap().contains("11 s behind"), "{ready}");
    assert_eq!(pair.service.get("/health/ready").await.status, 200, "reads go on without it");
    assert_eq!(pair.runs().await, 2, "read from the primary");
    assert!(
        pair.service.get("/metrics").await.text().contains("\nscalewatch_replica_in_use{} 0\n")
    );

    pair.on_replica("select pg_wal_replay_resume()").await;
    pair.in_step().await;
    let before = pair.reads().await;
    assert_eq!(pair.runs().await, 2);
    assert_eq!(pair.reads().await, (before.0 + 1, before.1));
    assert_eq!(pair.ready().await["state"], "ok");
}

#[tokio::test]
async fn reads_go_on_when_the_replica_is_killed_and_come_back_with_it() {
    let mut pair = Pair::start().await;
    let box_a = pair.service.registered("box-a").await;
    upload(&pair.service, &box_a, 1..=6, FAST).await;
    upload(&pair.service, &box_a, 7..=11, SLOW).await;
    work(&pair.service.app).await;
    pair.in_step().await;
    let paths = ["/", "/curves", "/curves/1", "/incidents", "/incidents/1", "/incidents/1/why"]
        .into_iter()
        .chain(["/search?q=change", "/api/v1/runs", "/api/v1/curves/1", "/api/v1/incidents.atom"])
        .chain(["/api/v1/machines", "/api/v1/projects/linux", "/api/v1/series/1"]);
    let mut whole = Vec::new();
    for path in paths {
        let answer = pair.service.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        whole.push((path, answer.text()));
    }
    assert_eq!(pair.reads().await, (whole.len() as u64, 0), "all of them by the replica");

    // Nobody has noticed yet: the first read that finds no server is answered all the same.
    pair.copy.close().await;
    pair.follower.take().unwrap().stop();
    assert!(matches!(pair.replica.standing(), Standing::Following(_)));
    for (path, before) in &whole {
        let answer = pair.service.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, before.clone()), "{path}");
    }
    assert_eq!(pair.reads().await, (whole.len() as u64, whole.len() as u64));
    pair.look().await;
    assert!(matches!(pair.replica.standing(), Standing::Away(_)));
    let ready = pair.ready().await;
    assert_eq!(ready["state"], "degraded");
    assert!(ready["reason"].as_str().unwrap().contains("primary"), "{ready}");
    let metrics = pair.service.get("/metrics").await.text();
    assert!(metrics.contains("\nscalewatch_replica_in_use{} 0\n"), "{metrics}");
    assert!(!metrics.contains("\nscalewatch_replica_lag_seconds{} "), "unknown is not zero");
}

#[tokio::test]
async fn the_program_finds_its_replica_by_itself_and_goes_on_without_it() {
    let mut pair = Pair::start().await;
    let box_a = pair.service.registered("box-a").await;
    pair.upload(&box_a, 1).await;
    let data = tempfile::tempdir().unwrap();
    let address = pair.follower.as_ref().unwrap().address().to_owned();
    let settings = [("DATABASE_REPLICA_URL", address.as_str())];
    let primary = pair.primary.address();
    let process = ServiceProcess::start_on(primary, data.path(), "127.0.0.1:0", &settings);
    let says = async |line: &str| {
        let line = format!("\n{line}\n");
        eventually(&line, async || process.get("/metrics").contains(&line).then_some(())).await;
    };
    says("scalewatch_replica_in_use{} 1").await;
    pair.in_step().await;
    assert!(process.get("/api/v1/runs").contains("box-a"));
    says("scalewatch_reads_total{from=\"replica\"} 1").await;
    pair.copy.close().await;
    pair.follower.take().unwrap().stop();
    assert!(process.get("/api/v1/runs").contains("box-a"));
    says("scalewatch_replica_in_use{} 0").await;
    assert!(process.stop("TERM").success());
}

#[tokio::test]
async fn a_browser_sees_what_it_did_itself_though_the_replica_does_not_have_it() {
    let pair = Pair::start().await;
    let service = &pair.service;
    let box_a = service.registered("box-a").await;
    upload(service, &box_a, 1..=6, FAST).await;
    upload(service, &box_a, 7..=11, SLOW).await;
    work(&service.app).await;
    let ada = service.person("ada", false).await;
    service.role(&ada, "linux", Role::Triager).await;
    let mut browser = service.browser_of(&ada).await;
    pair.in_step().await;
    pair.on_replica("select pg_wal_replay_pause()").await;
    let before = pair.reads().await;
    assert!(browser.get("/incidents/1").await.text().contains("box-a"));
    assert_eq!(pair.reads().await, (before.0 + 1, before.1), "a person reads from the replica too");

    let decided = [("from", "new"), ("to", "acknowledged")];
    let answer = browser.post("/incidents/1", "/incidents/1", &decided).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let state = async |browser: &mut Browser| {
        let text = browser.get("/incidents/1").await.text();
        (text.contains("ada"), text.matches("acknowledged").count())
    };
    let mut stranger = Browser::new(service);
    let (own, others) = (state(&mut browser).await, state(&mut stranger).await);
    assert!(own.1 > others.1, "{own:?} against {others:?}");
    let form = browser.post("/incidents/1", "/incidents/1", &decided);
    assert_eq!(form.await.status, 409, "writes know what is so now");

    // A logout counts at once, for what the replica answers too.
    let mut left = Browser::new(service);
    left.cookies.insert("scalewatch_session".into(), browser.cookies["scalewatch_session"].clone());
    assert!(left.get("/").await.text().contains("/account"));
    browser.post("/account", "/logout", &[]).await;
    assert!(!left.get("/").await.text().contains("/account"));

    pair.on_replica("select pg_wal_replay_resume()").await;
    pair.in_step().await;
    let before = pair.reads().await;
    assert_eq!(state(&mut browser).await.1, state(&mut stranger).await.1);
    assert_eq!(pair.reads().await, (before.0 + 2, before.1), "both by the replica again");
}

#[tokio::test]
async fn a_server_that_is_no_replica_of_this_database_is_not_read_from() {
    let pair = Pair::start().await;
    let primary = pair.service.app.db.clone();
    let other = Cluster::start();
    let now = pair.service.app.clock.now();
    let standing = async |address: &str| {
        let replica = Replica::new(address, 2, 10).unwrap();
        replica.look(&primary, now).await;
        match replica.standing() {
            Standing::Away(why) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(standing(other.address()).await.contains("another database"));
    assert!(standing(pair.primary.address()).await.contains("takes writes of its own"));
    assert!(standing("postgres://nobody@127.0.0.1:1/x").await.contains("does not answer"));
    let mut config = (*pair.service.app.config).clone();
    config.database_replica_url = Some("mysql://x".into());
    let app = App::new(primary.clone(), pair.service.app.clock.clone(), Arc::new(config));
    assert!(app.with_replica().is_err());
}
