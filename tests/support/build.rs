//! Reports with sane defaults: `a_report().on(&machine).at(3).with_samples(&[98.0, 101.0])`.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};
use wire::{
    Artefact, Disturbance, Environment, Identity, Machine, Measured, Metric, Outcome, Point,
    Project, Report, Revision, Subject, Window,
};

use super::noon;

/// A machine whose identity and id follow from its name.
pub fn a_machine(name: &str) -> Machine {
    let hardware_id = format!("dmi-{name}");
    Machine {
        id: hex_of(name, 32),
        name: name.into(),
        identity: Identity {
            architecture: "x86_64".into(),
            cpu_model: "Test CPU 9000".into(),
            sockets: 1,
            cores: 4,
            threads: 8,
            numa_nodes: 1,
            caches: vec![wire::Cache {
                level: 3,
                kind: "unified".into(),
                size_kib: 16 << 10,
                shared_by: 8,
            }],
            memory_class: "32 GiB".into(),
            hardware_id,
        },
    }
}

/// A point of `fallocate/append-truncate` whose ops per second are `ops_per_s`, one window each:
/// every window lasts 1 s and every task receives half of it.
pub fn a_point(tasks: u32, ops_per_s: &[f64]) -> Point {
    let windows = ops_per_s.iter().map(|total| window(tasks, *total as u64)).collect();
    Point {
        workload: "fallocate/append-truncate".into(),
        version: 1,
        parameters: BTreeMap::from([("mode".into(), "process".into())]),
        tasks,
        outcome: Outcome::Measured(Measured {
            placement: (0..tasks).map(|cpu| vec![cpu]).collect(),
            start_skew_ns: 1_000,
            warmup_windows: 1,
            windows,
            metrics: vec![Metric::ops_per_s_total(), Metric::ops_per_cpu_s()],
            disturbance: Disturbance { steal_ns: Some(0), ..Disturbance::default() },
            counters: BTreeMap::new(),
        }),
    }
}

fn window(tasks: u32, total: u64) -> Window {
    let tasks = u64::from(tasks);
    let ops = (0..tasks).map(|task| total / tasks + u64::from(task < total % tasks)).collect();
    Window { dt_ns: 1_000_000_000, ops, cpu_ns: vec![500_000_000; tasks as usize] }
}

/// A profile under this name, packed as a runner packs its folded stacks.
pub fn a_profile(name: String, stacks: &str) -> Artefact {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(stacks.as_bytes()).expect("memory takes it");
    let packed = gzip.finish().expect("memory takes it");
    let content = base64::engine::general_purpose::STANDARD.encode(packed);
    Artefact { name, media_type: Artefact::PROFILE.into(), content }
}

/// A report of one point with one task on a machine called `box-a`, project `linux`, branch
/// `main`, position 1.
pub fn a_report() -> ReportBuilder {
    ReportBuilder(Report {
        format: wire::FORMAT,
        run: uuid::Uuid::new_v4().to_string(),
        started_at: rfc3339(noon() - Duration::minutes(10)),
        finished_at: rfc3339(noon() - Duration::minutes(5)),
        machine: a_machine("box-a"),
        environment: Environment(BTreeMap::from([
            ("cpu.governor".into(), "performance".into()),
            ("kernel.release".into(), "6.9.0".into()),
        ])),
        project: Project { name: "linux".into(), subject: Subject::Program },
        revision: revision(1),
        points: vec![a_point(1, &[100.0, 101.0, 99.0])],
        artefacts: Vec::new(),
    })
}

fn revision(position: i64) -> Revision {
    let parents = if position > 1 { vec![commit(position - 1)] } else { Vec::new() };
    Revision {
        commit: commit(position),
        branch: "main".into(),
        parents,
        position: Some(position),
        committed_at: None,
        subject: format!("ext4: change number {position}"),
    }
}

/// The commit id that [`ReportBuilder::at`] gives to a position.
fn commit(position: i64) -> String {
    hex_of(&format!("commit {position}"), 40)
}

fn rfc3339(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).expect("a time of this century formats")
}

fn hex_of(text: &str, digits: usize) -> String {
    let id = |salt: u8| uuid::Uuid::new_v5(&uuid::Uuid::from_bytes([salt; 16]), text.as_bytes());
    let all = format!("{}{}", id(1).simple(), id(2).simple());
    all[..digits].to_owned()
}

/// A report in the making.
#[derive(Debug, Clone)]
pub struct ReportBuilder(Report);

impl ReportBuilder {
    /// From this machine.
    pub fn on(mut self, machine: &Machine) -> Self {
        self.0.machine = machine.clone();
        self
    }

    /// At the revision of this first-parent position.
    pub fn at(mut self, position: i64) -> Self {
        self.0.revision = revision(position);
        self
    }

    /// One point with one task, one window an `ops_per_s`.
    pub fn with_samples(self, ops_per_s: &[f64]) -> Self {
        self.with_points(vec![a_point(1, ops_per_s)])
    }

    /// These points.
    pub fn with_points(mut self, points: Vec<Point>) -> Self {
        self.0.points = points;
        self
    }

    /// One more fact of the environment, or another value of one.
    pub fn in_environment(mut self, key: &str, value: &str) -> Self {
        self.0.environment.0.insert(key.into(), value.into());
        self
    }

    /// Anything else.
    pub fn with(mut self, change: impl FnOnce(&mut Report)) -> Self {
        change(&mut self.0);
        self
    }

    /// The report; it keeps every limit unless it was changed not to.
    pub fn build(self) -> Report {
        self.0
    }
}
