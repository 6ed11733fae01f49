//! The limits of what is said about jobs; the first field that breaks one is named.

use crate::check::{Checked, hex, name, require, text};
use crate::{AskedRange, AskedRevision, Claim, Finish, Heartbeat, JobRequest, Plan, Progress};

/// Limits of jobs, shared by the runner, the service and the documentation.
pub mod limits {
    /// Most bytes of a request about a job.
    pub const BODY_BYTES: usize = 1 << 20;
    /// Most workloads of a plan, labels or projects of an agent.
    pub const NAMES: usize = 256;
    /// Most parameters of a plan, and most values of one that is swept.
    pub const PARAMETERS: usize = 64;
    /// Most runs of each revision.
    pub const RUNS: u32 = 100;
    /// Most jobs that one request makes.
    pub const JOBS: usize = 500;
    /// Most bytes of a log that are kept: its end.
    pub const LOG_BYTES: usize = 16 << 10;
    /// Highest priority, and with a minus the lowest.
    pub const PRIORITY: i32 = 100;
    /// Longest time from claim to end, seconds.
    pub const LIMIT_S: std::ops::RangeInclusive<u32> = 10..=604_800;
    /// Longest time out of reach that an agent may announce, seconds.
    pub const AWAY_S: u32 = 7_200;
    /// Longest wait of a claim, seconds: shorter than what a service that stops waits for requests.
    pub const WAIT_S: u32 = 5;
}

fn names(values: &[String], field: &str) -> Checked {
    let most = limits::NAMES;
    require(values.len() <= most, field, format!("must have at most {most} entries"))?;
    values.iter().enumerate().try_for_each(|(i, value)| name(value, format!("{field}[{i}]")))
}

fn word(value: &Option<String>, field: &str) -> Checked {
    value.as_deref().map_or(Ok(()), |value| name(value, field))
}

fn pair(key: &str, value: &str, field: &str) -> Checked {
    name(key, field)?;
    require(!key.contains('='), field, "has a name with a `=` in it")?;
    text(value, format!("{field}.{key}"))
}

impl Plan {
    /// Checks the plan's shape; `at` is put before each field's path. Whether a workload takes its
    /// parameters is known to the machine alone.
    ///
    /// # Errors
    /// The first field that breaks a limit.
    pub fn check(&self, at: &str) -> Checked {
        let field = |name: &str| format!("{at}.{name}");
        require(!self.workloads.is_empty(), field("workloads"), "must have at least 1 entry")?;
        names(&self.workloads, &field("workloads"))?;
        for (i, id) in self.workloads.iter().enumerate() {
            let at = format!("{}[{i}]", field("workloads"));
            require(!id.starts_with('-'), at, "must be the id of a workload")?;
        }
        let modes = ["process", "thread", "both"];
        let known = self.mode.as_deref().is_none_or(|mode| modes.contains(&mode));
        require(known, field("mode"), "must be process, thread or both")?;
        word(&self.tasks, &field("tasks"))?;
        word(&self.placement, &field("placement"))?;
        let most = limits::PARAMETERS;
        for (size, name) in [(self.parameters.len(), "parameters"), (self.sweep.len(), "sweep")] {
            require(size <= most, field(name), format!("must have at most {most} entries"))?;
        }
        for (key, value) in &self.parameters {
            pair(key, value, &field("parameters"))?;
        }
        for (key, values) in &self.sweep {
            let at = format!("{}.{key}", field("sweep"));
            let range = 1..=most;
            let problem = format!("must have 1 to {most} values");
            require(range.contains(&values.len()), at.as_str(), problem)?;
            for value in values {
                pair(key, value, &field("sweep"))?;
                require(!value.contains(','), at.as_str(), "has a value with a comma in it")?;
            }
        }
        let windows = crate::limits::WINDOWS as u32;
        let counted = |value: Option<u32>, least: u32, most: u32, name: &str| {
            let fits = value.is_none_or(|value| (least..=most).contains(&value));
            require(fits, field(name), format!("must be {least} to {most}"))
        };
        counted(self.windows, 1, windows, "windows")?;
        counted(self.warmup, 0, windows, "warmup")?;
        counted(self.window_ms, 1, 3_600_000, "window_ms")
    }
}

impl AskedRevision {
    fn check(&self, at: &str) -> Checked {
        hex(&self.commit, &format!("{at}.commit"), 7..=64)?;
        word(&self.branch, &format!("{at}.branch"))?;
        require(
            self.position.is_none_or(|position| position >= 0),
            format!("{at}.position"),
            "must be at least 0",
        )?;
        let most = crate::limits::PARENTS;
        let parents = format!("{at}.parents");
        let problem = format!("must have at most {most} parents");
        require(self.parents.len() <= most, parents.as_str(), problem)?;
        for (i, parent) in self.parents.iter().enumerate() {
            hex(parent, &format!("{parents}[{i}]"), 7..=64)?;
        }
        self.subject.as_deref().map_or(Ok(()), |said| text(said, format!("{at}.subject")))
    }
}

impl AskedRange {
    fn check(&self) -> Checked {
        hex(&self.after, "range.after", 7..=64)?;
        hex(&self.upto, "range.upto", 7..=64)?;
        word(&self.branch, "range.branch")
    }
}

impl JobRequest {
    /// Checks every limit that the types do not carry. Times are checked by the service.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Checked {
        name(&self.project, "project")?;
        match (&self.revision, &self.range) {
            (Some(revision), None) => revision.check("revision")?,
            (None, Some(range)) => range.check()?,
            (None, None) => require(false, "revision", "must be given, or a range")?,
            (Some(_), Some(_)) => require(false, "range", "must not stand beside a revision")?,
        }
        if let Some(base) = &self.base {
            base.check("base")?;
            let one = self.revision.as_ref().map(|head| &head.commit);
            require(one.is_some(), "base", "takes a revision, not a range")?;
            require(one != Some(&base.commit), "base.commit", "must not be the revision's own")?;
        }
        self.plan.check("plan")?;
        match (&self.machine, &self.label) {
            (Some(machine), None) => name(machine, "machine")?,
            (None, Some(label)) => name(label, "label")?,
            (None, None) => require(false, "machine", "must be given, or a label")?,
            (Some(_), Some(_)) => require(false, "label", "must not stand beside a machine")?,
        }
        let most = limits::RUNS;
        let runs = self.runs.is_none_or(|runs| (1..=most).contains(&runs));
        require(runs, "runs", format!("must be 1 to {most}"))?;
        let most = limits::PRIORITY;
        let priority = self.priority.is_none_or(|one| (-most..=most).contains(&one));
        require(priority, "priority", format!("must be -{most} to {most}"))?;
        let range = limits::LIMIT_S;
        let limit = self.limit_s.is_none_or(|limit| range.contains(&limit));
        require(limit, "limit_s", format!("must be {} to {}", range.start(), range.end()))
    }
}

impl Claim {
    /// Checks every limit.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Checked {
        names(&self.labels, "labels")?;
        names(&self.projects, "projects")?;
        name(&self.runner, "runner")?;
        let most = limits::WAIT_S;
        require(self.wait_s <= most, "wait_s", format!("must be at most {most}"))
    }
}

fn log(value: &Option<String>) -> Checked {
    let most = limits::LOG_BYTES;
    let fits = value.as_ref().is_none_or(|log| log.len() <= most && !log.contains('\0'));
    require(fits, "log", format!("must have at most {most} bytes and no NUL: send its end"))
}

impl Progress {
    fn check(&self) -> Checked {
        let most = crate::limits::TEXT;
        let fits = self.words.len() <= most && !self.words.contains('\0');
        require(fits, "progress.words", format!("must have at most {most} bytes and no NUL"))
    }
}

impl Heartbeat {
    /// Checks every limit.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Checked {
        require(self.state.is_live(), "state", "must be claimed, preparing or running")?;
        let most = limits::AWAY_S;
        let away = self.away_s.is_none_or(|away| away <= most);
        require(away, "away_s", format!("must be at most {most}"))?;
        self.progress.check()?;
        log(&self.log)
    }
}

impl Finish {
    /// Checks every limit.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Checked {
        let most = 2 * limits::RUNS as usize;
        require(self.runs.len() <= most, "runs", format!("must have at most {most} entries"))?;
        if let Some(reason) = &self.failed {
            text(reason, "failed")?;
        }
        log(&self.log)
    }
}
