//! The service with a lab's results in it: ingest against `COPY`, the time from a report to its
//! verdicts, reads beside ingest against bare SQL, bytes on disk, and what one more point costs.
//! Sizes in samples are the arguments, 10^6 and 10^7 without; every figure stands beside its goal.

#[path = "service_parts/disk.rs"]
mod disk;
#[path = "service_parts/fill.rs"]
mod fill;
#[path = "service_parts/history.rs"]
mod history;
#[path = "service_parts/latency.rs"]
mod latency;
#[path = "service_parts/reads.rs"]
mod reads;
mod support;

use anyhow::{Context as _, Result, ensure};
use sqlx::PgPool;
use support::load::{Shape, Uploader};
use support::{Database, Server};

/// 20 machines with 100 series each: 2000 series of one revision.
pub const MACHINES: usize = 20;

/// What fills the service.
pub const SHAPE: Shape = Shape { workloads: 10, windows: 60, fairness: false };

/// Samples at which the time to a verdict is taken first: nearly nothing is stored.
const NEARLY_EMPTY: f64 = 1e4;

#[tokio::main]
async fn main() -> Result<()> {
    let mut sizes = sizes()?;
    let database = Database::create().await?;
    sizes.sort_by(f64::total_cmp);
    let measured = measure(&database, &sizes).await;
    database.drop().await?;
    measured
}

/// The arguments; cargo's own `--bench` is passed over.
fn sizes() -> Result<Vec<f64>> {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if words.is_empty() {
        return Ok(vec![1e6, 1e7]);
    }
    words
        .iter()
        .map(|word| {
            let size: f64 = word.parse().with_context(|| format!("`{word}` is no number"))?;
            ensure!((NEARLY_EMPTY..=1e9).contains(&size), "a size is 1e4 to 1e9 samples");
            Ok(size)
        })
        .collect()
}

/// What was measured at one size; milliseconds where no other unit is named.
pub struct Figures {
    pub samples: f64,
    /// Samples a second over HTTP, and by `COPY` of the same rows.
    pub http: f64,
    pub copy: f64,
    /// POST to judged: median, p99.
    pub verdict: (f64, f64),
    pub reads: Vec<reads::Read>,
}

async fn measure(database: &Database, sizes: &[f64]) -> Result<()> {
    let server = Server::start(database)?;
    let pool = PgPool::connect(&database.url()).await?;
    let machines: Vec<Uploader> = (0..MACHINES)
        .map(|number| Uploader::register(database, &server, number))
        .collect::<Result<_>>()?;
    let mut lab = fill::Lab { database, pool, server, machines, revisions: 0 };
    lab.fill_to(NEARLY_EMPTY).await?;
    let first = latency::measure(&lab).await?;
    println!(
        "{NEARLY_EMPTY:.0e} samples: POST to judged p50 {:.1} ms, p99 {:.1} ms",
        first.0, first.1
    );
    let mut all: Vec<Figures> = Vec::new();
    for &size in sizes {
        println!("\n== {size:.0e} samples");
        let (http, copy) = lab.fill_to(size).await?;
        println!(
            "ingest: {http:.0} samples/s over HTTP, durable; COPY of the same rows {copy:.0}; \
             ratio {:.2} (goal: 0.6)",
            http / copy
        );
        disk::measure(&lab).await?;
        let verdict = latency::measure(&lab).await?;
        println!(
            "a run of {} series, POST to judged: p50 {:.1} ms, p99 {:.1} ms (goal: p99 10 ms)",
            latency::SHAPE.series(),
            verdict.0,
            verdict.1
        );
        let reads = reads::measure(&lab).await?;
        all.push(Figures { samples: size, http, copy, verdict, reads });
    }
    growth(first, &all);
    history::measure(&lab).await?;
    let resident = lab.server.resident_bytes()? as f64 / f64::from(1 << 20);
    println!("the service holds {resident:.1} MiB after it all");
    lab.pool.close().await;
    Ok(())
}

/// How figures grew from the first size to the last.
fn growth(nearly_empty: (f64, f64), all: &[Figures]) {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
    println!("\n== from {:.0e} to {:.0e} samples", first.samples, last.samples);
    println!("ingest: {:.2}× slower (goal: 1.3)", first.http / last.http);
    println!(
        "POST to judged, p99: {:.2}× of that with nearly nothing stored (goal: flat)",
        last.verdict.1 / nearly_empty.1
    );
    for (before, after) in first.reads.iter().zip(&last.reads) {
        println!("{}, p99: {:.2}× slower (goal: 1.5)", before.what, after.p99 / before.p99);
    }
}
