//! Time from spawning `scalewatch serve` on an existing database to its first answered `/health`
//! (goal: under 300 ms), and the memory it holds when idle (goal: under 64 MiB).

mod support;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use support::{Database, Http, Server, median};

const STARTS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let database = Database::create().await?;
    let measured = measure(&database);
    database.drop().await?;
    measured
}

fn measure(database: &Database) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = Server::start(database)?;
        let (status, _) = Http::connect(server.address())?.send("GET /health HTTP/1.1\r\n", b"")?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(status == 200, "/health answered {status}");
    }
    let server = Server::start(database)?;
    Http::connect(server.address())?.send("GET /health HTTP/1.1\r\n", b"")?;
    // Idle is what it holds after its worker looked around a few times.
    std::thread::sleep(Duration::from_secs(3));
    let resident = server.resident_bytes()? as f64 / f64::from(1 << 20);
    let worst = times.iter().copied().fold(0.0, f64::max);
    let middle = median(times);
    println!("cold start to the first answered request, {STARTS} starts:");
    println!("  median {middle:.0} ms, worst {worst:.0} ms   (goal: under 300 ms)");
    println!("memory when idle: {resident:.1} MiB          (goal: under 64 MiB)");
    Ok(())
}
