//! Samples a second that the service acknowledges over HTTP, against the physical limit: `COPY` of
//! the very same rows into the very same tables, in the same run, by turns.

mod support;

use anyhow::Result;
use sqlx::PgPool;
use support::copy::copy;
use support::load::{Shape, Uploader};
use support::{Database, Server, median, upload};

const ROUNDS: usize = 5;
const REPORTS: usize = 240;
const CONNECTIONS: usize = 4;
const MACHINES: usize = 4;
const SHAPE: Shape = Shape { workloads: 6, windows: 60, fairness: true };

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
        let samples = (REPORTS * SHAPE.samples()) as f64;
        let http = samples / upload(&server, CONNECTIONS, &requests)?;
        let copy = samples / copy(&pool, "true").await?;
        if round > 0 {
            println!("round {round}: {http:>9.0} samples/s over HTTP, {copy:>9.0} by COPY");
            http_rates.push(http);
            copy_rates.push(copy);
            ratios.push(http / copy);
        }
        sqlx::raw_sql("truncate run cascade; delete from due; checkpoint").execute(&pool).await?;
    }
    println!(
        "{} samples a report, {CONNECTIONS} connections: median {:.0} samples/s acknowledged over \
         HTTP, {:.0} by COPY",
        SHAPE.samples(),
        median(http_rates),
        median(copy_rates)
    );
    println!("ratio {:.2}   (goal: 0.6)", median(ratios));
    let resident = server.resident_bytes()? as f64 / f64::from(1 << 20);
    println!("the service holds {resident:.1} MiB after the load");
    pool.close().await;
    Ok(())
}

/// Every report of a round, each a revision's run on one machine.
fn requests(machines: &[Uploader], round: usize) -> Result<Vec<(&str, Vec<u8>)>> {
    (0..REPORTS)
        .map(|i| {
            let position = (round * REPORTS + i) / machines.len() + 1;
            machines[i % machines.len()].request(SHAPE, position)
        })
        .collect()
}
