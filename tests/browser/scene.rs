//! What the browser reads about: two machines, fourteen revisions, one of which makes block
//! allocation slower from 16 tasks on. Values follow from a fixed seed.

use std::collections::BTreeMap;

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};
use wire::{
    Cache, Direction, Disturbance, Environment, Failure, Identity, Machine, Measured, Metric,
    Outcome, Point, Project, Report, Revision, Source, Subject, Unit, Window,
};

/// Index of the revision that made it slower.
pub const CULPRIT: usize = 9;

const SUBJECTS: [&str; 14] = [
    "ext4: drop an unused argument of the group iterator",
    "mm: keep the batch of the per-CPU list in one word",
    "ext4: name the states of a block group",
    "fs: let a path walk skip the second permission check",
    "ext4: count searched groups per allocation",
    "lib: unroll the checksum over short buffers",
    "ext4: report the goal in the allocation trace",
    "<script>alert('subject')</script> is not a good subject",
    "jbd2: wake the commit thread once",
    "ext4: take the group lock before reading the free count",
    "ext4: test the read bit before setting it",
    "fs: free names after the walk",
    "mm: shrink the folio batch on the stack",
    "ext4: say which group was full",
];

/// A number of a fixed sequence, −1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }

    /// 1 give or take `share`, most often close to 1.
    fn around_one(&mut self, share: f64) -> f64 {
        1.0 + share * (self.next() + self.next() + self.next()) / 2.0
    }
}

/// Both machines.
pub fn machines() -> [Machine; 2] {
    let machine = |name: &str, cpu: &str, sockets, cores, threads, nodes, memory: &str| Machine {
        id: hex_of(name, 32),
        name: name.into(),
        identity: Identity {
            architecture: if sockets == 1 { "aarch64" } else { "x86_64" }.into(),
            cpu_model: cpu.into(),
            sockets,
            cores,
            threads,
            numa_nodes: nodes,
            caches: vec![Cache {
                level: 3,
                kind: "unified".into(),
                size_kib: 32 << 10,
                shared_by: threads / nodes,
            }],
            memory_class: memory.into(),
            hardware_id: format!("dmi-{name}"),
        },
    };
    [
        machine("arm-80", "Example Server 920", 1, 80, 80, 2, "512 GiB"),
        machine("x86-192", "Example Processor 9654", 2, 96, 192, 4, "1536 GiB"),
    ]
}

/// Every report of a machine, oldest first, the newest a few hours before `now`.
pub fn reports(machine: &Machine, now: OffsetDateTime) -> Vec<Report> {
    let mut noise = Noise(machine.identity.threads.into());
    let runs = (0..SUBJECTS.len()).flat_map(|revision| [(revision, 0), (revision, 1)]);
    runs.map(|(revision, repeat)| report(machine, revision, repeat, now, &mut noise)).collect()
}

fn report(
    machine: &Machine,
    revision: usize,
    repeat: i64,
    now: OffsetDateTime,
    noise: &mut Noise,
) -> Report {
    let age = 7 * (SUBJECTS.len() - revision) as i64 - 2 * repeat - 1;
    let finished = now - Duration::hours(age);
    let mut points: Vec<Point> =
        [1, 2, 4, 8, 16, 32, 64].map(|tasks| allocation(machine, revision, tasks, noise)).into();
    points.extend([1, 2, 4, 8, 16, 32].map(|tasks| creation(machine, tasks, noise)));
    if revision == 6 && repeat == 1 {
        points[6].outcome = Outcome::Failed(Failure {
            call: "fallocate".into(),
            errno: Some(28),
            task: Some(41),
            detail: "the file system was full in window 3".into(),
        });
    }
    Report {
        format: wire::FORMAT,
        run: run_id(machine, revision, repeat),
        started_at: rfc3339(finished - Duration::minutes(12)),
        finished_at: rfc3339(finished),
        machine: machine.clone(),
        environment: environment(machine, revision),
        project: Project { name: "linux".into(), subject: Subject::Kernel },
        revision: Revision {
            commit: commit(revision),
            branch: "main".into(),
            parents: revision.checked_sub(1).map(commit).into_iter().collect(),
            position: Some(18_230 + revision as i64),
            committed_at: None,
            subject: SUBJECTS[revision].into(),
        },
        points,
        artefacts: Vec::new(),
    }
}

/// The commit of a revision.
pub fn commit(revision: usize) -> String {
    hex_of(SUBJECTS[revision], 40)
}

fn environment(machine: &Machine, revision: usize) -> Environment {
    let microcode =
        if machine.identity.sockets == 2 && revision >= 4 { "0xa10113e" } else { "0xa101144" };
    let facts = [
        ("cpu.governor", "performance"),
        ("cpu.microcode", microcode),
        ("cpu.smt", if machine.identity.sockets == 2 { "on" } else { "notsupported" }),
        ("fs.mount_options", "rw,relatime,mb_optimize_scan=1"),
        ("fs.size", "8 GiB"),
        ("fs.type", "ext4"),
        ("libc", "glibc 2.36"),
        ("mm.thp", "madvise"),
        ("runner.version", "0.1.0"),
    ];
    let pairs = facts.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Environment(BTreeMap::from(pairs))
}

fn allocation(machine: &Machine, revision: usize, tasks: u32, noise: &mut Noise) -> Point {
    let total = match tasks {
        1 => 295e3,
        2 => 171e3,
        4 => 165e3,
        8 => 175e3,
        16 => 191e3,
        32 => 209e3,
        _ => 230e3,
    };
    let slower = revision >= CULPRIT && tasks >= 16;
    let faster_box = if machine.identity.sockets == 2 { 1.22 } else { 1.0 };
    let level = total * faster_box * if slower { 0.882 } else { 1.0 } * noise.around_one(0.004);
    let extents = (1.4 + 0.6 * f64::from(tasks).log2()) * if slower { 0.93 } else { 1.0 };
    let extents: Vec<f64> = (0..10).map(|_| extents * noise.around_one(0.01)).collect();
    let files = Metric {
        name: "extents_per_file".into(),
        unit: Unit::Count,
        direction: Direction::Lower,
        source: Source::Values(extents),
    };
    let parameters = [("chunk", "8192"), ("mode", "process"), ("size", "1048576")];
    point("fallocate/append-truncate", &parameters, tasks, level, Some(files), noise)
}

fn creation(machine: &Machine, tasks: u32, noise: &mut Noise) -> Point {
    let n = f64::from(tasks);
    let faster_box = if machine.identity.sockets == 2 { 1.1 } else { 1.0 };
    let level = 148e3 * faster_box * n / (1.0 + 0.31 * (n - 1.0) + 0.004 * n * (n - 1.0));
    let level = level * noise.around_one(0.004);
    point("aim/creat-close", &[("mode", "process")], tasks, level, None, noise)
}

fn point(
    workload: &str,
    parameters: &[(&str, &str)],
    tasks: u32,
    level: f64,
    more: Option<Metric>,
    noise: &mut Noise,
) -> Point {
    let windows = (0..10).map(|_| window(tasks, level * noise.around_one(0.008), noise)).collect();
    let pairs = parameters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let mut metrics =
        vec![Metric::ops_per_s_total(), Metric::ops_per_cpu_s(), Metric::task_fairness()];
    metrics.extend(more);
    Point {
        workload: workload.into(),
        version: 1,
        parameters: pairs.collect(),
        tasks,
        outcome: Outcome::Measured(Measured {
            placement: (0..tasks).map(|cpu| vec![cpu]).collect(),
            start_skew_ns: 21_000 + u64::from(tasks) * 400,
            warmup_windows: 6,
            windows,
            metrics,
            disturbance: Disturbance {
                steal_ns: Some(0),
                other_cpu_ns: Some(4_200_000),
                ..Disturbance::default()
            },
            counters: BTreeMap::new(),
        }),
    }
}

fn window(tasks: u32, total: f64, noise: &mut Noise) -> Window {
    let share = total / f64::from(tasks);
    Window {
        dt_ns: 1_000_000_000 + (noise.next() * 40_000.0) as i64,
        ops: (0..tasks).map(|_| (share * noise.around_one(0.02)) as u64).collect(),
        cpu_ns: (0..tasks).map(|_| (998_000_000.0 + noise.next() * 1e6) as u64).collect(),
    }
}

fn rfc3339(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).expect("a time of this century formats")
}

fn run_id(machine: &Machine, revision: usize, repeat: i64) -> String {
    let name = format!("{} {revision} {repeat}", machine.id);
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

fn hex_of(text: &str, digits: usize) -> String {
    let id = |salt: u8| uuid::Uuid::new_v5(&uuid::Uuid::from_bytes([salt; 16]), text.as_bytes());
    let all = format!("{}{}", id(1).simple(), id(2).simple());
    all[..digits].to_owned()
}
