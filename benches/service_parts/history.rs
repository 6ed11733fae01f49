//! One more point of a history, short or long: POST until the curve is judged. Long histories are
//! multiplied in the database from one run that came over HTTP.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::fill::Lab;
use crate::support::load::{Shape, Uploader};
use crate::support::{Http, quantile};

const SHAPE: Shape = Shape { workloads: 1, windows: 10, fairness: false };
const LENGTHS: [usize; 4] = [100, 1_000, 10_000, 100_000];
const POINTS: usize = 40;

/// Prints the time for each length, and how it grows.
pub async fn measure(lab: &Lab<'_>) -> Result<()> {
    println!("\n== one more run of a curve of {} series", SHAPE.series());
    let mut medians = Vec::new();
    for length in LENGTHS {
        let (machine, _) = lone_series(lab, length, &format!("{length}")).await?;
        let mut http = Http::connect(lab.server.address())?;
        let mut times = Vec::new();
        for position in length + 1..=length + POINTS {
            let mut report = crate::support::load::report(&machine.machine, SHAPE, position);
            report.project.name = format!("bench-{length}");
            let head = machine.head.replace("gzip", "identity");
            let began = Instant::now();
            let (status, answer) = http.send(&head, &serde_json::to_vec(&report)?)?;
            ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
            lab.judged_soon().await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let median = quantile(&mut times, 0.5);
        medians.push(median);
        println!(
            "after {length} runs: p50 {median:.1} ms, p99 {:.1} ms",
            quantile(&mut times, 0.99)
        );
    }
    let growth = medians.iter().copied().fold(0.0, f64::max)
        / medians.iter().copied().fold(f64::INFINITY, f64::min);
    println!("largest ÷ smallest p50: {growth:.2} (goal: 1.5)");
    Ok(())
}

/// A machine of its own with one curve of `length` runs, judged, and the curve's first series.
pub async fn lone_series(lab: &Lab<'_>, length: usize, name: &str) -> Result<(Uploader, i64)> {
    let number = 1_000_000 + length * 10 + name.len();
    let machine = Uploader::register(lab.database, &lab.server, number)?;
    let mut report = crate::support::load::report(&machine.machine, SHAPE, length);
    report.project.name = format!("bench-{name}");
    let head = machine.head.replace("gzip", "identity");
    let (status, answer) =
        Http::connect(lab.server.address())?.send(&head, &serde_json::to_vec(&report)?)?;
    ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
    let run = uuid::Uuid::parse_str(&report.run)?;
    for statement in MULTIPLY {
        sqlx::query(statement).bind(run).bind(length as i64).execute(&lab.pool).await?;
    }
    lab.judged().await?;
    sqlx::raw_sql("analyze").execute(&lab.pool).await?;
    let series = sqlx::query_scalar(
        "select s.id from series s join machine m on m.id = s.machine_id
         where m.public_id = $1 and s.is_primary order by s.tasks limit 1",
    )
    .bind(&machine.machine.id)
    .fetch_optional(&lab.pool)
    .await?;
    Ok((machine, series.context("the run made series")?))
}

/// Revisions, runs and measurements before the run $1 at position $2; values differ by 2 %.
const MULTIPLY: [&str; 4] = [
    "insert into revision (branch_id, commit_id, position, rank, parents, subject)
     select v.branch_id, encode(sha256(int8send(n)), 'hex'), n, n, '{}', 'change ' || n
     from run r join revision v on v.id = r.revision_id cross join generate_series(1, $2 - 1) n
     where r.id = $1",
    "insert into run (machine_id, id, revision_id, environment_id, body_digest, started_at,
                      finished_at, received_at)
     select r.machine_id, gen_random_uuid(), v.id, r.environment_id, sha256(int8send(v.id)),
            r.started_at, r.finished_at, r.received_at
     from run r join revision own on own.id = r.revision_id
     join revision v on v.branch_id = own.branch_id and v.id <> own.id
     where r.id = $1 and $2 > 0",
    "insert into measurement (machine_id, series_id, run_id, branch_id, revision_id, environment_id,
                              rank, finished_at, mean, sd, scale, min, median, median_low, median_high,
                              max, n, derived)
     select m.machine_id, m.series_id, other.id, m.branch_id, other.revision_id, m.environment_id,
            v.rank, other.finished_at, m.mean * f, m.sd, m.scale, m.min * f, m.median * f,
            m.median_low * f, m.median_high * f, m.max * f, m.n, m.derived
     from measurement m
     join run own on own.machine_id = m.machine_id and own.id = m.run_id
     join run other on other.machine_id = m.machine_id and other.id <> own.id
     join revision v on v.id = other.revision_id
     cross join lateral (select 0.99 + 0.02 * random() + 0 * v.rank as f) noise
     where m.run_id = $1 and $2 > 0",
    "insert into due (machine_id, curve_id, marked_at)
     select machine_id, curve_id, received_at
     from run join point on point.machine_id = run.machine_id and point.run_id = run.id
     where run.id = $1 and $2 > 0 group by 1, 2, 3
     on conflict do nothing",
];

impl Lab<'_> {
    /// As [`Lab::judged`], looking more often.
    async fn judged_soon(&self) -> Result<()> {
        let mut connection = self.pool.acquire().await?;
        loop {
            let due: bool = sqlx::query_scalar("select exists (select from due)")
                .fetch_one(&mut *connection)
                .await?;
            if !due {
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
