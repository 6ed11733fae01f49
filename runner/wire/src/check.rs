//! The limits of a report. [`Report::check`] names the first field that breaks one.

use std::collections::BTreeSet;
use std::fmt;

use crate::{
    Artefact, Disturbance, FORMAT, Imported, Machine, Measured, Metric, NoiseFloors, Outcome,
    Point, Report, Revision, Source, Spread, Window,
};

/// Limits of a report, shared by the runner, the service and the documentation.
pub mod limits {
    /// Most bytes of a report after decompression.
    pub const BODY_BYTES: usize = 32 << 20;
    /// Most points of a report.
    pub const POINTS: usize = 10_000;
    /// Most windows of a point.
    pub const WINDOWS: usize = 100_000;
    /// Most metrics of a point.
    pub const METRICS: usize = 64;
    /// Most counters of a point.
    pub const COUNTERS: usize = 256;
    /// Most tasks of a point.
    pub const TASKS: u32 = 65_536;
    /// Most bytes of a sentence, parameter or environment value.
    pub const TEXT: usize = 4_096;
    /// Most bytes of what is looked up by name: project, branch, workload, parameter, metric and
    /// artefact.
    pub const NAME: usize = 256;
    /// Most entries of an environment or of a point's parameters.
    pub const ENTRIES: usize = 512;
    /// Most parents of a revision.
    pub const PARENTS: usize = 64;
    /// Most artefacts of a report.
    pub const ARTEFACTS: usize = 1_024;
    /// Most noise floors of one request.
    pub const FLOORS: usize = 10_000;
    /// Largest noise floor, relative.
    pub const FLOOR: f64 = 10.0;
    /// Most ops or nanoseconds of one task in one window (2^53, exact in a double).
    pub const COUNT: u64 = 1 << 53;
}

/// A field that breaks a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Path of the field, e.g. `points[0].tasks`.
    pub field: String,
    /// What is wrong, with the limit.
    pub problem: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for Invalid {}

pub(crate) type Checked = Result<(), Invalid>;

pub(crate) fn require(
    holds: bool,
    field: impl Into<String>,
    problem: impl Into<String>,
) -> Checked {
    if holds { Ok(()) } else { Err(Invalid { field: field.into(), problem: problem.into() }) }
}

pub(crate) fn text(value: &str, field: impl Into<String>) -> Checked {
    let field = field.into();
    require(!value.trim().is_empty(), field.as_str(), "must not be empty")?;
    require(
        value.len() <= limits::TEXT,
        field.as_str(),
        format!("must have at most {} bytes", limits::TEXT),
    )?;
    require(!value.contains('\0'), field, "must not contain a NUL character")
}

pub(crate) fn name(value: &str, field: impl Into<String>) -> Checked {
    let field = field.into();
    text(value, field.as_str())?;
    require(value.len() <= limits::NAME, field, format!("must have at most {} bytes", limits::NAME))
}

pub(crate) fn hex(value: &str, field: &str, lengths: std::ops::RangeInclusive<usize>) -> Checked {
    let digits = value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    require(
        digits && lengths.contains(&value.len()),
        field,
        format!("must be {} to {} lower-case hex digits", lengths.start(), lengths.end()),
    )
}

/// The names of a point's metrics, and how many there are.
fn metrics(metrics: &[Metric], at: &str) -> Checked {
    require(!metrics.is_empty(), format!("{at}.metrics"), "must have at least 1 metric")?;
    require(
        metrics.len() <= limits::METRICS,
        format!("{at}.metrics"),
        format!("must have at most {} metrics", limits::METRICS),
    )?;
    let mut names = BTreeSet::new();
    metrics.iter().enumerate().try_for_each(|(i, metric)| {
        let field = format!("{at}.metrics[{i}].name");
        name(&metric.name, field.as_str())?;
        require(names.insert(&metric.name), field, "repeats an earlier metric of this point")
    })
}

impl NoiseFloors {
    /// Checks every limit that the types do not carry. Times are checked by the service.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Result<(), Invalid> {
        let most = format!("must have at most {} entries", limits::FLOORS);
        require(self.floors.len() <= limits::FLOORS, "floors", most)?;
        let mut seen = BTreeSet::new();
        for (i, floor) in self.floors.iter().enumerate() {
            let at = |field: &str| format!("floors[{i}].{field}");
            name(&floor.workload, at("workload"))?;
            name(&floor.metric, at("metric"))?;
            let range = format!("must be 0 to {}", limits::FLOOR);
            require((0.0..=limits::FLOOR).contains(&floor.relative), at("relative"), range)?;
            require(floor.pairs > 0, at("pairs"), "must be at least 1")?;
            let twice = "is there twice with this workload";
            require(seen.insert((&floor.workload, &floor.metric)), at("metric"), twice)?;
        }
        Ok(())
    }
}

impl Report {
    /// Checks every limit that the types do not carry. Times are checked by the service, which has
    /// a calendar.
    ///
    /// # Errors
    /// The first field that breaks a limit, with its path and the limit.
    pub fn check(&self) -> Checked {
        require(self.format == FORMAT, "format", format!("must be {FORMAT}"))?;
        let uuid_shape = self.run.len() == 36
            && self.run.char_indices().all(|(i, c)| match i {
                8 | 13 | 18 | 23 => c == '-',
                _ => c.is_ascii_digit() || ('a'..='f').contains(&c),
            });
        require(uuid_shape, "run", "must be a lower-case hyphenated UUID")?;
        self.machine.check("machine.")?;
        require(
            self.environment.0.len() <= limits::ENTRIES,
            "environment",
            format!("must have at most {} entries", limits::ENTRIES),
        )?;
        for (key, value) in &self.environment.0 {
            name(key, "environment")?;
            require(
                value.len() <= limits::TEXT && !value.contains('\0'),
                format!("environment.{key}"),
                format!("must have at most {} bytes and no NUL", limits::TEXT),
            )?;
        }
        name(&self.project.name, "project.name")?;
        self.revision.check()?;
        require(!self.points.is_empty(), "points", "must have at least 1 point")?;
        require(
            self.points.len() <= limits::POINTS,
            "points",
            format!("must have at most {} points", limits::POINTS),
        )?;
        let mut seen = BTreeSet::new();
        for (i, point) in self.points.iter().enumerate() {
            point.check(&format!("points[{i}]"))?;
            let key = (&point.workload, point.version, &point.parameters, point.tasks);
            require(
                seen.insert(key),
                format!("points[{i}]"),
                "repeats an earlier point of this run: same workload, version, parameters and tasks",
            )?;
        }
        require(
            self.artefacts.len() <= limits::ARTEFACTS,
            "artefacts",
            format!("must have at most {} artefacts", limits::ARTEFACTS),
        )?;
        let mut names = BTreeSet::new();
        self.artefacts.iter().enumerate().try_for_each(|(i, artefact)| {
            artefact.check(i)?;
            require(
                names.insert(&artefact.name),
                format!("artefacts[{i}].name"),
                "repeats an earlier artefact of this run",
            )
        })
    }
}

impl Machine {
    /// Checks the limits of a machine; `prefix` is put before each field's path.
    ///
    /// # Errors
    /// The first field that breaks a limit.
    pub fn check(&self, prefix: &str) -> Checked {
        hex(&self.id, &format!("{prefix}id"), 16..=64)?;
        text(&self.name, format!("{prefix}name"))?;
        let identity = &self.identity;
        text(&identity.architecture, format!("{prefix}identity.architecture"))?;
        text(&identity.cpu_model, format!("{prefix}identity.cpu_model"))?;
        text(&identity.memory_class, format!("{prefix}identity.memory_class"))?;
        text(&identity.hardware_id, format!("{prefix}identity.hardware_id"))?;
        for (name, count) in [
            ("sockets", identity.sockets),
            ("cores", identity.cores),
            ("threads", identity.threads),
            ("numa_nodes", identity.numa_nodes),
        ] {
            require(
                (1..=limits::TASKS).contains(&count),
                format!("{prefix}identity.{name}"),
                format!("must be 1 to {}", limits::TASKS),
            )?;
        }
        require(
            identity.caches.len() <= limits::ENTRIES,
            format!("{prefix}identity.caches"),
            format!("must have at most {} entries", limits::ENTRIES),
        )?;
        identity.caches.iter().enumerate().try_for_each(|(i, cache)| {
            name(&cache.kind, format!("{prefix}identity.caches[{i}].kind"))
        })
    }
}

impl Revision {
    fn check(&self) -> Checked {
        hex(&self.commit, "revision.commit", 7..=64)?;
        name(&self.branch, "revision.branch")?;
        text(&self.subject, "revision.subject")?;
        require(
            self.parents.len() <= limits::PARENTS,
            "revision.parents",
            format!("must have at most {} parents", limits::PARENTS),
        )?;
        for (i, parent) in self.parents.iter().enumerate() {
            hex(parent, &format!("revision.parents[{i}]"), 7..=64)?;
        }
        require(
            self.position.is_some() || self.committed_at.is_some(),
            "revision.position",
            "must be given where revision.committed_at is not: order is never the order of arrival",
        )?;
        require(self.position.is_none_or(|p| p >= 0), "revision.position", "must be at least 0")
    }
}

impl Point {
    fn check(&self, at: &str) -> Checked {
        name(&self.workload, format!("{at}.workload"))?;
        require(
            (1..=i32::MAX as u32).contains(&self.version),
            format!("{at}.version"),
            "must be 1 to 2147483647",
        )?;
        require(
            (1..=limits::TASKS).contains(&self.tasks),
            format!("{at}.tasks"),
            format!("must be 1 to {}", limits::TASKS),
        )?;
        require(
            self.parameters.len() <= limits::ENTRIES,
            format!("{at}.parameters"),
            format!("must have at most {} entries", limits::ENTRIES),
        )?;
        for (key, value) in &self.parameters {
            name(key, format!("{at}.parameters"))?;
            require(
                value.len() <= limits::TEXT && !value.contains('\0'),
                format!("{at}.parameters.{key}"),
                format!("must have at most {} bytes and no NUL", limits::TEXT),
            )?;
        }
        match &self.outcome {
            Outcome::Measured(measured) => {
                measured.check(&format!("{at}.outcome.measured"), self.tasks as usize)
            }
            Outcome::Imported(imported) => imported.check(&format!("{at}.outcome.imported")),
            Outcome::Failed(failure) => {
                text(&failure.call, format!("{at}.outcome.failed.call"))?;
                require(
                    failure.detail.len() <= limits::TEXT && !failure.detail.contains('\0'),
                    format!("{at}.outcome.failed.detail"),
                    format!("must have at most {} bytes and no NUL", limits::TEXT),
                )
            }
        }
    }
}

impl Measured {
    fn check(&self, at: &str, tasks: usize) -> Checked {
        require(
            self.placement.is_empty() || self.placement.len() == tasks,
            format!("{at}.placement"),
            format!("must be empty or have one list a task ({tasks})"),
        )?;
        require(
            self.start_skew_ns <= limits::COUNT,
            format!("{at}.start_skew_ns"),
            format!("must be at most {}", limits::COUNT),
        )?;
        require(
            self.warmup_windows as usize <= limits::WINDOWS,
            format!("{at}.warmup_windows"),
            format!("must be at most {}", limits::WINDOWS),
        )?;
        require(!self.windows.is_empty(), format!("{at}.windows"), "must have at least 1 sample")?;
        require(
            self.windows.len() <= limits::WINDOWS,
            format!("{at}.windows"),
            format!("must have at most {} samples", limits::WINDOWS),
        )?;
        for (i, window) in self.windows.iter().enumerate() {
            window.check(&format!("{at}.windows[{i}]"), tasks)?;
        }
        self.disturbance.check(&format!("{at}.disturbance"), self.windows.len())?;
        metrics(&self.metrics, at)?;
        for (i, metric) in self.metrics.iter().enumerate() {
            if let Source::Values(values) = &metric.source {
                let field = format!("{at}.metrics[{i}].source.values");
                require(
                    values.len() == 1 || values.len() == self.windows.len(),
                    field.as_str(),
                    "must have 1 value or one a window",
                )?;
                require(values.iter().all(|v| v.is_finite()), field, "must be finite numbers")?;
            }
        }
        self.check_counters(&format!("{at}.counters"))
    }

    fn check_counters(&self, at: &str) -> Checked {
        require(
            self.counters.len() <= limits::COUNTERS,
            at,
            format!("must have at most {} entries", limits::COUNTERS),
        )?;
        self.counters.iter().try_for_each(|(counter, value)| {
            name(counter, at)?;
            require(
                value.is_finite() && *value >= 0.0,
                format!("{at}.{counter}"),
                "must be a finite number, 0 or more",
            )
        })
    }
}

impl Imported {
    fn check(&self, at: &str) -> Checked {
        name(&self.tool, format!("{at}.tool"))?;
        metrics(&self.metrics, at)?;
        for (i, metric) in self.metrics.iter().enumerate() {
            let field = format!("{at}.metrics[{i}].source");
            let Source::Values(values) = &metric.source else {
                return require(
                    false,
                    field,
                    "must be values: there are no windows to derive from",
                );
            };
            let field = format!("{field}.values");
            let most = format!("must have 1 to {} values", limits::WINDOWS);
            require((1..=limits::WINDOWS).contains(&values.len()), field.as_str(), most)?;
            require(values.iter().all(|v| v.is_finite()), field, "must be finite numbers")?;
        }
        self.spread.iter().try_for_each(|(metric, spread)| {
            let field = format!("{at}.spread.{metric}");
            let known = self.metrics.iter().any(|one| one.name == *metric);
            require(known, field.as_str(), "must be of a metric of this point")?;
            spread.check(&field)
        })
    }
}

impl Spread {
    fn check(&self, at: &str) -> Checked {
        let told = [self.sd, self.low, self.high];
        let finite = told.iter().flatten().all(|value| value.is_finite());
        require(finite, at, "must be finite numbers")?;
        let samples = (1..=limits::COUNT).contains(&self.samples.unwrap_or(1));
        let most = format!("must be 1 to {}", limits::COUNT);
        require(samples, format!("{at}.samples"), most)?;
        require(self.sd.is_none_or(|sd| sd >= 0.0), format!("{at}.sd"), "must be 0 or more")
    }
}

impl Disturbance {
    fn check(&self, at: &str, windows: usize) -> Checked {
        let mut next = 0;
        for (i, disturbed) in self.windows.iter().enumerate() {
            let field = format!("{at}.windows[{i}]");
            let index = disturbed.window as usize;
            require(
                (next..windows).contains(&index),
                format!("{field}.window"),
                format!("must be the index of one of the {windows} windows, ascending"),
            )?;
            name(&disturbed.why, format!("{field}.why"))?;
            next = index + 1;
        }
        Ok(())
    }
}

impl Window {
    fn check(&self, at: &str, tasks: usize) -> Checked {
        require(self.dt_ns > 0, format!("{at}.dt_ns"), "must be more than 0")?;
        require(
            self.dt_ns as u64 <= limits::COUNT,
            format!("{at}.dt_ns"),
            format!("must be at most {}", limits::COUNT),
        )?;
        require(
            self.ops.len() == tasks,
            format!("{at}.ops"),
            format!("must have one count a task ({tasks})"),
        )?;
        require(
            self.cpu_ns.len() == tasks,
            format!("{at}.cpu_ns"),
            format!("must have one time a task ({tasks})"),
        )?;
        require(
            self.ops.iter().all(|&n| n <= limits::COUNT),
            format!("{at}.ops"),
            format!("must be at most {}", limits::COUNT),
        )?;
        require(
            self.cpu_ns.iter().all(|&n| n <= limits::COUNT),
            format!("{at}.cpu_ns"),
            format!("must be at most {}", limits::COUNT),
        )
    }
}

impl Artefact {
    fn check(&self, i: usize) -> Checked {
        name(&self.name, format!("artefacts[{i}].name"))?;
        text(&self.media_type, format!("artefacts[{i}].media_type"))?;
        require(
            !self.content.contains('\0'),
            format!("artefacts[{i}].content"),
            "must not contain a NUL character",
        )
    }
}
