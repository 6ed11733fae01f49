//! Samples a second that the service acknowledges over HTTP, against the physical limit: `COPY` of
//! the very same rows into the very same tables, in the same run, by turns.

mod support;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::TryStreamExt as _;
use sqlx::PgPool;
use sqlx::postgres::PgPoolCopyExt as _;
use support::{Database, Http, Server, median};
use wire::{Disturbance, Measured, Metric, Outcome, Point, Report, Window};

const ROUNDS: usize = 5;
const REPORTS: usize = 240;
const CONNECTIONS: usize = 4;
const MACHINES: usize = 4;
const WORKLOADS: [&str; 6] =
    ["file/open", "file/dup", "sys/getppid", "ctl/int-loop", "aim/creat-close", "fallocate/append"];
const TASKS: [u32; 5] = [1, 2, 4, 8, 16];
const WINDOWS: usize = 60;

/// Tables whose rows come with every run, parents first, and how they order.
const TABLES: [&str; 3] = ["run", "point", "measurement"];

#[tokio::main]
async fn main() -> Result<()> {
    let database = Database::create().await?;
    let measured = measure(&database).await;
    database.drop().await?;
    measured
}

async fn measure(database: &Database) -> Result<()> {
    let server = Server::start(database)?;
    let pool = PgPool::connect(&database.url()).await?;
    let machines: Vec<Uploader> = (0..MACHINES)
        .map(|number| Uploader::register(database, &server, number))
        .collect::<Result<_>>()?;
    let (mut http_rates, mut copy_rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round fills caches and creates curves; it does not count.
    for round in 0..=ROUNDS {
        let requests = requests(&machines, round)?;
        let samples = (REPORTS * WORKLOADS.len() * TASKS.len() * WINDOWS) as f64;
        let http = samples / upload(&server, &requests)?;
        let copy = samples / copy(&pool).await?;
        if round > 0 {
            println!("round {round}: {http:>9.0} samples/s over HTTP, {copy:>9.0} by COPY");
            http_rates.push(http);
            copy_rates.push(copy);
            ratios.push(http / copy);
        }
    }
    println!(
        "{} samples a report, {CONNECTIONS} connections: median {:.0} samples/s acknowledged over \
         HTTP, {:.0} by COPY",
        WORKLOADS.len() * TASKS.len() * WINDOWS,
        median(http_rates),
        median(copy_rates)
    );
    println!("ratio {:.2}   (goal: 0.3)", median(ratios));
    let resident = server.resident_bytes()? as f64 / f64::from(1 << 20);
    println!("the service holds {resident:.1} MiB after the load");
    pool.close().await;
    Ok(())
}

/// A machine and the head of its requests.
struct Uploader {
    machine: wire::Machine,
    head: String,
}

impl Uploader {
    fn register(database: &Database, server: &Server, number: usize) -> Result<Uploader> {
        let machine = machine(number);
        let create = ["admin", "token", "create", "--name", "bench", "--scope", "register"];
        let made = database.program().args(create).stderr(std::process::Stdio::null()).output()?;
        ensure!(made.status.success(), "no token: {}", String::from_utf8_lossy(&made.stderr));
        let token = String::from_utf8(made.stdout)?;
        let head = |path: &str, token: &str, encoding: &str| {
            format!(
                "POST /api/v1/{path} HTTP/1.1\r\nContent-Type: application/json\r\n\
                 Authorization: Bearer {token}\r\nContent-Encoding: {encoding}\r\n"
            )
        };
        let mut http = Http::connect(server.address())?;
        let body = serde_json::to_vec(&machine)?;
        let (status, answer) = http.send(&head("machines", token.trim(), "identity"), &body)?;
        ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
        let registered: wire::Registered = serde_json::from_slice(&answer)?;
        Ok(Uploader { machine, head: head("runs", &registered.token, "gzip") })
    }
}

fn machine(number: usize) -> wire::Machine {
    wire::Machine {
        id: format!("{number:032x}"),
        name: format!("bench-{number}"),
        identity: wire::Identity {
            architecture: "x86_64".into(),
            cpu_model: "bench".into(),
            sockets: 1,
            cores: 16,
            threads: 16,
            numa_nodes: 1,
            caches: Vec::new(),
            memory_class: "32 GiB".into(),
            hardware_id: format!("bench-{number}"),
        },
    }
}

/// Head and compressed body of every report of a round, each a revision's run on one machine.
fn requests(machines: &[Uploader], round: usize) -> Result<Vec<(&str, Vec<u8>)>> {
    (0..REPORTS)
        .map(|i| {
            let uploader = &machines[i % machines.len()];
            let report = report(&uploader.machine, (round * REPORTS + i) / machines.len());
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&serde_json::to_vec(&report)?)?;
            Ok((uploader.head.as_str(), gzip.finish()?))
        })
        .collect()
}

fn report(machine: &wire::Machine, position: usize) -> Report {
    let points = WORKLOADS
        .iter()
        .flat_map(|workload| TASKS.map(|tasks| point(workload, tasks, position as u64)))
        .collect();
    Report {
        format: wire::FORMAT,
        run: uuid::Uuid::new_v4().to_string(),
        started_at: "2026-03-01T12:00:00Z".into(),
        finished_at: "2026-03-01T12:30:00Z".into(),
        machine: machine.clone(),
        environment: wire::Environment(BTreeMap::from([("kernel.release".into(), "6.9".into())])),
        project: wire::Project { name: "bench".into(), subject: wire::Subject::Program },
        revision: wire::Revision {
            commit: format!("{position:040x}"),
            branch: "main".into(),
            parents: Vec::new(),
            position: Some(position as i64),
            committed_at: None,
            subject: format!("change {position}"),
        },
        points,
        artefacts: Vec::new(),
    }
}

/// Counts with the digits of real ones: about a million operations a second, a few percent apart.
fn point(workload: &str, tasks: u32, seed: u64) -> Point {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(tasks);
    let mut jitter = |range: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % range
    };
    let windows = (0..WINDOWS)
        .map(|_| Window {
            dt_ns: 1_000_000_000 + jitter(1_000_000) as i64,
            ops: (0..tasks).map(|_| 1_000_000 + jitter(30_000)).collect(),
            cpu_ns: (0..tasks).map(|_| 999_000_000 + jitter(1_000_000)).collect(),
        })
        .collect();
    Point {
        workload: workload.into(),
        version: 1,
        parameters: BTreeMap::from([("mode".into(), "process".into())]),
        tasks,
        outcome: Outcome::Measured(Measured {
            placement: (0..tasks).map(|cpu| vec![cpu]).collect(),
            start_skew_ns: jitter(100_000),
            warmup_windows: 5,
            windows,
            metrics: vec![
                Metric::ops_per_s_total(),
                Metric::ops_per_cpu_s(),
                Metric::task_fairness(),
            ],
            disturbance: Disturbance::default(),
            counters: BTreeMap::new(),
        }),
    }
}

/// Seconds until every request was acknowledged.
fn upload(server: &Server, requests: &[(&str, Vec<u8>)]) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let send_all = || -> Result<()> {
        let mut http = Http::connect(server.address())?;
        while let Some((head, body)) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (status, answer) = http.send(head, body)?;
            ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(())
    };
    let began = Instant::now();
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(send_all)).collect();
        senders.into_iter().try_for_each(|sender| sender.join().expect("no sender panics"))
    })?;
    Ok(began.elapsed().as_secs_f64())
}

/// Takes the rows of this round out, and puts them back by `COPY` in one transaction. Seconds of
/// the putting back, commit included; leaves the tables empty for the next round.
async fn copy(pool: &PgPool) -> Result<f64> {
    let mut rows = Vec::new();
    for table in TABLES {
        let out = pool.copy_out_raw(&format!("copy {table} to stdout (format binary)")).await?;
        rows.push(out.try_collect::<Vec<_>>().await?.concat());
    }
    empty(pool).await?;
    let mut transaction = pool.begin().await?;
    let began = Instant::now();
    for (table, bytes) in TABLES.iter().zip(&rows) {
        let statement = format!("copy {table} from stdin (format binary)");
        let mut into = transaction.copy_in_raw(&statement).await?;
        into.send(bytes.as_slice()).await?;
        into.finish().await.with_context(|| format!("COPY into {table}"))?;
    }
    transaction.commit().await?;
    let took = began.elapsed().as_secs_f64();
    empty(pool).await?;
    Ok(took)
}

async fn empty(pool: &PgPool) -> Result<()> {
    sqlx::raw_sql("truncate run cascade; delete from due; checkpoint").execute(pool).await?;
    Ok(())
}
