//! From a report to its verdicts: POST until the run is stored and every curve of it judged, which
//! queues the mails in the same transaction.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::fill::Lab;
use crate::support::load::Shape;
use crate::support::{Http, quantile};

/// A run of 100 series with as many windows as the runner measures when not told otherwise.
pub const SHAPE: Shape = Shape { workloads: 10, windows: 10, fairness: false };

const RUNS: usize = 200;

/// Median and p99, ms.
pub async fn measure(lab: &Lab<'_>) -> Result<(f64, f64)> {
    let mut http = Http::connect(lab.server.address())?;
    let mut connection = lab.pool.acquire().await?;
    let mut times = Vec::with_capacity(RUNS);
    for i in 0..RUNS {
        let uploader = &lab.machines[i % lab.machines.len()];
        let (head, body) = uploader.request(SHAPE, lab.revisions)?;
        let began = Instant::now();
        let (status, answer) = http.send(head, &body)?;
        ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
        loop {
            let due: bool = sqlx::query_scalar("select exists (select from due)")
                .fetch_one(&mut *connection)
                .await?;
            if !due {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok((quantile(&mut times, 0.5), quantile(&mut times, 0.99)))
}
