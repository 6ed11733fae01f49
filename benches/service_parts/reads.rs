//! What pages and CI read, by eight clients at once while reports arrive, against the p99 of the
//! bare SQL that any program would have to ask, beside the same ingest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sqlx::PgPool;

use crate::fill::Lab;
use crate::latency;
use crate::support::load::commit;
use crate::support::{Http, quantile};

const CLIENTS: usize = 8;
const TIME: Duration = Duration::from_secs(3);

/// One kind of reading at one size, ms.
pub struct Read {
    pub what: &'static str,
    pub p50: f64,
    pub p99: f64,
}

/// A path for each number, and the SQL that its answer cannot do without.
struct Kind {
    what: &'static str,
    paths: Vec<String>,
    sql: &'static str,
    /// The parameters of the SQL, one row a path.
    parameters: Vec<Vec<i64>>,
}

/// Measures all kinds and prints them.
pub async fn measure(lab: &Lab<'_>) -> Result<Vec<Read>> {
    let mut reads = Vec::new();
    for kind in kinds(lab).await? {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        beside_ingest(lab, || ask(lab, &kind, &mut ours)).await?;
        beside_ingest(lab, || query(&lab.pool, &kind, &mut bare)).await?;
        let read =
            Read { what: kind.what, p50: quantile(&mut ours, 0.5), p99: quantile(&mut ours, 0.99) };
        let (bare50, bare99) = (quantile(&mut bare, 0.5), quantile(&mut bare, 0.99));
        println!(
            "{}: p50 {:.1} ms, p99 {:.1} ms; bare SQL p50 {bare50:.1} ms, p99 {bare99:.1} ms; \
             {:.2}× (goal: 3)",
            read.what,
            read.p50,
            read.p99,
            read.p99 / bare99
        );
        reads.push(read);
    }
    size_of_series(lab).await?;
    Ok(reads)
}

/// Runs `work` while one client uploads a report after the other.
async fn beside_ingest<F: Future<Output = Result<()>>>(
    lab: &Lab<'_>,
    work: impl FnOnce() -> F,
) -> Result<()> {
    let requests: Vec<_> = lab
        .machines
        .iter()
        .map(|machine| -> Result<_> {
            Ok((
                machine,
                crate::support::load::report(&machine.machine, latency::SHAPE, lab.revisions),
            ))
        })
        .collect::<Result<_>>()?;
    let ended = AtomicBool::new(false);
    let upload = || -> Result<()> {
        let mut http = Http::connect(lab.server.address())?;
        for (machine, report) in requests.iter().cycle() {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let mut report = report.clone();
            report.run = uuid::Uuid::new_v4().to_string();
            let head = machine.head.replace("gzip", "identity");
            let (status, answer) = http.send(&head, &serde_json::to_vec(&report)?)?;
            ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(())
    };
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            let uploader = scope.spawn(upload);
            let done = tokio::runtime::Handle::current().block_on(work());
            ended.store(true, Ordering::Relaxed);
            uploader.join().expect("the uploader does not panic")?;
            done
        })
    })
}

async fn ask(lab: &Lab<'_>, kind: &Kind, times: &mut Vec<f64>) -> Result<()> {
    let client = |first: usize| -> Result<Vec<f64>> {
        let mut http = Http::connect(lab.server.address())?;
        let (mut times, end) = (Vec::new(), Instant::now() + TIME);
        for path in kind.paths.iter().cycle().skip(first) {
            let began = Instant::now();
            if began > end {
                break;
            }
            let head = format!("GET {path} HTTP/1.1\r\nAccept-Encoding: identity\r\n");
            let (status, answer) = http.send(&head, b"")?;
            ensure!(status == 200, "{path}: {status} {}", String::from_utf8_lossy(&answer));
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(times)
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|i| scope.spawn(move || client(i * 7))).collect();
        for one in clients {
            times.extend(one.join().expect("a client does not panic")?);
        }
        Ok(())
    })
}

async fn query(pool: &PgPool, kind: &Kind, times: &mut Vec<f64>) -> Result<()> {
    let client = |first: usize| async move {
        let mut connection = pool.acquire().await?;
        let (mut times, end) = (Vec::new(), Instant::now() + TIME);
        for parameters in kind.parameters.iter().cycle().skip(first) {
            let began = Instant::now();
            if began > end {
                break;
            }
            let query =
                parameters.iter().fold(sqlx::query(kind.sql), |query, one| query.bind(*one));
            query.fetch_all(&mut *connection).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        anyhow::Ok(times)
    };
    let clients = futures_util::future::try_join_all((0..CLIENTS).map(|i| client(i * 7)));
    times.extend(clients.await?.into_iter().flatten());
    Ok(())
}

async fn kinds(lab: &Lab<'_>) -> Result<Vec<Kind>> {
    let series: Vec<(i64, i64)> = sqlx::query_as(
        "select machine_id, id from series where is_primary order by md5(id::text) limit 200",
    )
    .fetch_all(&lab.pool)
    .await?;
    let curves: Vec<(i64, i64)> =
        sqlx::query_as("select machine_id, id from curve order by md5(id::text) limit 200")
            .fetch_all(&lab.pool)
            .await?;
    let ranks: (i64, i64) = ((lab.revisions as i64 / 2).max(1), lab.revisions as i64);
    let (base, head) = (commit(ranks.0 as usize), commit(ranks.1 as usize));
    let both = |rows: &[(i64, i64)]| rows.iter().map(|(a, b)| vec![*a, *b]).collect();
    Ok(vec![
        Kind {
            what: "a series",
            paths: series
                .iter()
                .map(|(_, id)| format!("/api/v1/series/{id}?form=columns"))
                .collect(),
            sql: "select m.rank, r.commit_id, m.finished_at, m.environment_id, m.n, m.mean, m.sd,
                         m.min, m.median, m.max
                  from measurement m join revision r on r.id = m.revision_id
                  where m.machine_id = $1 and m.series_id = $2 order by m.rank",
            parameters: both(&series),
        },
        Kind {
            what: "a curve",
            paths: curves.iter().map(|(_, id)| format!("/api/v1/curves/{id}")).collect(),
            sql: "select s.tasks, m.rank, r.commit_id, m.n, m.median
                  from series s
                  join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
                  join revision r on r.id = m.revision_id
                  where s.machine_id = $1 and s.curve_id = $2 and s.is_primary
                  order by s.tasks, m.rank",
            parameters: both(&curves),
        },
        Kind {
            what: "two revisions of a curve",
            paths: curves
                .iter()
                .map(|(_, id)| format!("/api/v1/compare?curve={id}&base={base}&head={head}"))
                .collect(),
            sql: "select s.tasks, m.rank, m.n, m.median
                  from series s
                  join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
                  where s.machine_id = $1 and s.curve_id = $2 and s.is_primary
                    and (m.rank = $3 or m.rank between $4 - 40 and $4)",
            parameters: curves.iter().map(|(m, c)| vec![*m, *c, ranks.1, ranks.0]).collect(),
        },
        Kind {
            what: "the overview",
            paths: vec!["/".into()],
            sql: "select (select count(*) from machine), (select count(*) from curve),
                         (select count(*) from run), (select count(*) from due),
                         (select count(*) from incident where state = 'new'),
                         (select count(*) from (select * from run order by received_at desc
                                                limit 20) latest)",
            parameters: vec![Vec::new()],
        },
    ])
}

/// A series of 1000 points as JSON, compressed.
async fn size_of_series(lab: &Lab<'_>) -> Result<()> {
    let id = crate::history::lone_series(lab, 1000, "size").await?.1;
    let mut http = Http::connect(lab.server.address())?;
    let head =
        format!("GET /api/v1/series/{id}?form=columns HTTP/1.1\r\nAccept-Encoding: gzip\r\n");
    let (status, answer) = http.send(&head, b"")?;
    ensure!(status == 200, "{status}");
    println!(
        "a series of 1000 points as JSON: {:.1} kB compressed (goal: 40 kB)",
        answer.len() as f64 / 1e3
    );
    Ok(())
}
