//! Reports by a seeded generator: the same number gives the same report, the digits are those of
//! real counts, and a machine's level changes now and then, so that there is something to find.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use wire::{Disturbance, Measured, Metric, Outcome, Point, Report, Window};

use super::{Database, Http, Server};

/// Task counts of every curve.
pub const TASKS: [u32; 5] = [1, 2, 4, 8, 16];

/// Revisions between two changes of a curve's level.
const CALM: u64 = 150;

/// What every report holds.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Curves, each at every one of [`TASKS`].
    pub workloads: usize,
    /// Windows of a point.
    pub windows: usize,
    /// Whether fairness is a third metric.
    pub fairness: bool,
}

impl Shape {
    /// Samples of a report: windows of all points.
    pub fn samples(self) -> usize {
        self.points() * self.windows
    }

    /// Points of a report.
    pub fn points(self) -> usize {
        self.workloads * TASKS.len()
    }

    /// Series of a report.
    pub fn series(self) -> usize {
        self.points() * if self.fairness { 3 } else { 2 }
    }
}

/// A registered machine and the head of its requests.
pub struct Uploader {
    pub machine: wire::Machine,
    pub head: String,
}

impl Uploader {
    pub fn register(database: &Database, server: &Server, number: usize) -> Result<Uploader> {
        let machine = machine(number);
        let create = ["admin", "token", "create", "--name", "bench", "--scope", "register"];
        let made = database.program().args(create).stderr(Stdio::null()).output()?;
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

    /// Head and compressed body of the machine's report at a revision.
    pub fn request(&self, shape: Shape, position: usize) -> Result<(&str, Vec<u8>)> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&serde_json::to_vec(&report(&self.machine, shape, position))?)?;
        Ok((&self.head, gzip.finish()?))
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

/// Commit id of a position.
pub fn commit(position: usize) -> String {
    let mut random = Random(position as u64);
    (0..5).map(|_| format!("{:08x}", random.below(1 << 32))).collect()
}

/// The report of a machine at a revision.
pub fn report(machine: &wire::Machine, shape: Shape, position: usize) -> Report {
    let seed = u64::from_str_radix(&machine.id, 16).unwrap_or_default();
    let points = (0..shape.workloads)
        .flat_map(|workload| {
            TASKS.map(|tasks| point(shape, workload, tasks, seed, position as u64))
        })
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
            commit: commit(position),
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

/// About a million operations a second and task, a few percent apart; between two runs about 1 %.
fn point(shape: Shape, workload: usize, tasks: u32, machine: u64, position: u64) -> Point {
    let mut random = Random(
        position.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (machine << 40 | (workload as u64) << 20 | u64::from(tasks)),
    );
    // Every curve changes at revisions of its own, down and up again by 8 %.
    let slow = ((position + machine * 7 + workload as u64 * 31) / CALM) % 2;
    let level = 1_000_000 - slow * 80_000 + random.below(10_000) + random.below(10_000);
    let windows = (0..shape.windows)
        .map(|_| Window {
            dt_ns: 1_000_000_000 + random.below(1_000_000) as i64,
            ops: (0..tasks).map(|_| level + random.below(30_000)).collect(),
            cpu_ns: (0..tasks).map(|_| 999_000_000 + random.below(1_000_000)).collect(),
        })
        .collect();
    let mut metrics = vec![Metric::ops_per_s_total(), Metric::ops_per_cpu_s()];
    if shape.fairness {
        metrics.push(Metric::task_fairness());
    }
    Point {
        workload: format!("bench/load-{workload}"),
        version: 1,
        parameters: BTreeMap::from([("mode".into(), "process".into())]),
        tasks,
        outcome: Outcome::Measured(Measured {
            placement: (0..tasks).map(|cpu| vec![cpu]).collect(),
            start_skew_ns: random.below(100_000),
            warmup_windows: 5,
            windows,
            metrics,
            disturbance: Disturbance::default(),
            counters: BTreeMap::new(),
        }),
    }
}

/// Knuth's linear congruential generator, the upper bits of it.
struct Random(u64);

impl Random {
    fn below(&mut self, range: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 31) % range
    }
}
