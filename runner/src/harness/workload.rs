//! What a workload is: facts about it, a set-up, and an endless loop that counts its operations.
//!
//! `prepare` runs once in the child before any task exists; `start` runs in each task, already on
//! its CPU, before the gate; `run` is the loop. It ends only by a fault, or, where the workload
//! `can_stop`, when its ticks say so; all others are ended from outside in the middle of a turn.
//! A workload of fixed work ([`Prepared::fixed_work`]) does it once in `run`, again and again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fault::{Attempt, Fault};
use super::partner::Partners;
use super::plan::Mode;
use super::shared::Ticks;
use super::tally::SideMetric;
#[cfg(doc)]
use super::tally::Tally;

/// One workload. Every fact is shown to people and checked by tests.
pub struct Workload {
    /// Path-like id, e.g. `file/open`.
    pub id: &'static str,
    /// Raised when the loop changes what it measures; another version is another series.
    pub version: u32,
    /// What it is, in a few words.
    pub description: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Which path of the kernel (or of the model) it stresses.
    pub stresses: &'static str,
    /// Parameters beside tasks, mode and placement.
    pub parameters: &'static [Parameter],
    /// Metrics beside operations per second and per CPU-second and the tasks' fairness.
    pub metrics: &'static [SideMetric],
    /// Whether it needs a writable directory; relative paths then lie in a fresh folder there.
    pub needs_directory: bool,
    /// The modes it can run in, [`Mode::BOTH`] as a rule.
    pub modes: &'static [Mode],
    /// Whether the loop asks [`Ticks::stopped`]; [`Prepared::verify`] is then called at the end.
    pub can_stop: bool,
    /// Words each task needs beside the 31 of its head.
    pub extra_words: usize,
    /// Makes what all tasks share.
    pub prepare: fn(&Setup<'_>) -> Attempt<Box<dyn Prepared>>,
}

/// What `prepare` is given.
pub struct Setup<'a> {
    /// Number of tasks.
    pub tasks: u32,
    /// Whether they are processes or threads.
    pub mode: Mode,
    /// Starts a second process or thread for a task.
    pub partners: Partners,
    /// The parameters, checked, defaults filled in.
    pub values: &'a Values,
}

/// What all tasks share once prepared.
pub trait Prepared: Sync {
    /// Set-up of one task, run in that task: opens its files, touches its memory.
    ///
    /// # Errors
    /// The call that failed.
    fn start(&self, task: u32) -> Attempt<Box<dyn Task + '_>>;

    /// Whether each window's [`Tally::held`] is wanted; reading it costs a moment for each process.
    fn watches_memory(&self) -> bool {
        false
    }

    /// Checks the shared state after all tasks stopped. `total(word)` is a counter summed over
    /// the tasks, from the first operation on. Called where the workload `can_stop`
    /// or does fixed work.
    ///
    /// # Errors
    /// What is wrong with it.
    fn verify(&self, total: &dyn Fn(usize) -> u64) -> Attempt<()> {
        let _ = total;
        Ok(())
    }

    /// Whether [`Task::run`] does a fixed piece of work and returns. The tasks are then released
    /// together, the slowest ends the window, and the next window is the same work again.
    fn fixed_work(&self) -> bool {
        false
    }

    /// How often [`Prepared::tend`] is called while the tasks run; none: never.
    fn tended_every(&self) -> Option<Duration> {
        None
    }

    /// Work beside the tasks, such as a committer's: in a thread of the sampler, on any CPU. Its
    /// last call returns before [`Prepared::verify`]. Only for workloads that `can_stop`.
    fn tend(&self) {}

    /// Metrics found once, after [`Prepared::verify`]: names of [`Workload::metrics`] whose value
    /// is [`super::at_end`].
    fn found(&self) -> Vec<(&'static str, f64)> {
        vec![]
    }

    /// Takes back what would outlive the child and its folder, once no task process is left.
    fn clear(&self) {}
}

/// A task that is set up.
pub trait Task {
    /// Makes one piece of fixed work ready, before each release; not part of what is measured.
    ///
    /// # Errors
    /// The call that failed.
    fn make_ready(&mut self) -> Attempt<()> {
        Ok(())
    }

    /// The loop. Calls [`Ticks::tick`] once an operation.
    ///
    /// # Errors
    /// The fault that ended it; `Ok` only after [`Ticks::stopped`], or when a fixed piece of work is done.
    fn run(&mut self, ticks: &Ticks) -> Attempt<()>;
}

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Snake-case name.
    pub name: &'static str,
    /// Value when none is given.
    pub default: &'static str,
    /// What may be given.
    pub allowed: Allowed,
    /// What it does, in a few words.
    pub about: &'static str,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub enum Allowed {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number in this range, both ends included.
    Whole(u64, u64),
    /// A decimal number in this range, both ends included.
    Fraction(f64, f64),
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Allowed::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Allowed::Fraction(least, most) => write!(f, "a number from {least} to {most}"),
        }
    }
}

impl Parameter {
    /// The one spelling of `value`, so that equal settings make equal series.
    ///
    /// # Errors
    /// Names the parameter, the value and what is allowed.
    fn canonical(&self, value: &str) -> anyhow::Result<String> {
        let spelt = match self.allowed {
            Allowed::OneOf(words) => words.contains(&value).then(|| value.to_owned()),
            Allowed::Whole(least, most) => value
                .parse::<u64>()
                .ok()
                .filter(|n| (least..=most).contains(n))
                .map(|n| n.to_string()),
            Allowed::Fraction(least, most) => value
                .parse::<f64>()
                .ok()
                .filter(|n| (least..=most).contains(n))
                .map(|n| (n + 0.0).to_string()),
        };
        spelt.ok_or_else(|| {
            anyhow::anyhow!("parameter {}: {value:?} is not {}", self.name, self.allowed)
        })
    }
}

/// A slow-down of known size of every operation of any workload, to find out which one is noticed.
/// Only in builds for that: in all others counting an operation costs nothing more.
#[cfg(feature = "inject")]
const INJECTED: &[Parameter] = &[Parameter {
    name: "spin_ns",
    default: "0",
    allowed: Allowed::Fraction(0.0, 1e6),
    about: "nanoseconds spun for every operation, in pieces",
}];
#[cfg(not(feature = "inject"))]
const INJECTED: &[Parameter] = &[];

/// The parameters of a point: checked, complete, one spelling each.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Values(pub BTreeMap<String, String>);

impl Values {
    /// A parameter as a word; panics when the workload declared no such parameter.
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("parameter {name} is not declared"))
    }

    /// A parameter declared [`Allowed::Whole`].
    ///
    /// # Errors
    /// When it is not a whole number.
    pub fn whole(&self, name: &'static str) -> Attempt<u64> {
        self.word(name).parse().map_err(|_| Fault::wrong(name, "is not a whole number"))
    }

    /// A parameter declared [`Allowed::Fraction`].
    ///
    /// # Errors
    /// When it is not a number.
    pub fn fraction(&self, name: &'static str) -> Attempt<f64> {
        self.word(name).parse().map_err(|_| Fault::wrong(name, "is not a number"))
    }
}

impl Workload {
    /// Whether it runs in this mode.
    ///
    /// # Errors
    /// Names the workload, the mode and what it runs in.
    pub fn check_mode(&self, mode: Mode) -> anyhow::Result<()> {
        let modes: Vec<&str> = self.modes.iter().map(|mode| mode.word()).collect();
        let modes = modes.join(" or ");
        anyhow::ensure!(
            self.modes.contains(&mode),
            "mode: {} runs in {modes} mode, not in {} mode",
            self.id,
            mode.word()
        );
        Ok(())
    }

    /// Checks `given` and fills in the defaults.
    ///
    /// # Errors
    /// Names the parameter, its value and what is allowed.
    pub fn resolve(&self, given: &BTreeMap<String, String>) -> anyhow::Result<Values> {
        let known = |name: &str| self.parameters.iter().chain(INJECTED).any(|p| p.name == name);
        if let Some(name) = given.keys().find(|name| !known(name)) {
            let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            anyhow::bail!("parameter {name}: {} has no such parameter (it has: {known})", self.id);
        }
        let spell = |p: &Parameter| {
            let value = given.get(p.name).map_or(p.default, String::as_str);
            Ok((p.name.to_owned(), p.canonical(value)?))
        };
        let injected = INJECTED.iter().filter(|p| given.contains_key(p.name));
        Ok(Values(
            self.parameters.iter().chain(injected).map(spell).collect::<anyhow::Result<_>>()?,
        ))
    }
}
