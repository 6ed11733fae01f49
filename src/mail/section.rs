//! What a mail says of one curve of one machine.

use std::collections::BTreeMap;

use super::counters::Counters;
use super::table;
use crate::detect::{explain, levels};
use crate::format;
use crate::model::Machine;
use crate::model::incident::{Incident, IncidentStep};
use crate::model::step::HistoryRow;

/// Most rows of one table: a mail is read, not scrolled; the page shows them all.
const MOST_ROWS: usize = 40;

/// What moved on one curve of one machine.
#[derive(Debug, Clone)]
pub struct Section {
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Machine, in words: `box-a: 8 threads, 1 socket, Test CPU 9000, 32 GiB memory`.
    pub machine: String,
    /// The machine's name.
    pub machine_name: String,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Task counts with a step.
    pub tasks: Vec<i32>,
    /// One row for each step of this curve whose range meets the incident's.
    pub rows: Vec<Row>,
    /// Rows left out for length.
    pub more_rows: usize,
    /// What steps of its law of scaling do to the curve, in sentences.
    pub bends: Vec<String>,
    /// Counters that moved with its first step.
    pub counters: Counters,
    /// A command that measures these points again.
    pub reproduce: String,
}

/// One step as a row.
#[derive(Debug, Clone)]
pub struct Row {
    /// The step.
    pub step: IncidentStep,
    /// Both levels.
    pub levels: levels::Levels,
}

pub(super) fn section(
    incident: &Incident,
    first: &IncidentStep,
    steps: &[IncidentStep],
    history: &[HistoryRow],
    machine: Option<&Machine>,
) -> Section {
    let meets = |step: &&IncidentStep| {
        step.incident == Some(incident.id)
            || (step.environment == first.environment
                && step.good.rank < incident.bad.rank
                && incident.good.rank < step.bad.rank)
    };
    let mut rows: Vec<Row> = steps
        .iter()
        .filter(meets)
        .filter_map(|step| {
            let levels = levels::around(history, step, steps)?;
            Some(Row { step: step.clone(), levels })
        })
        .collect();
    let bends = rows.iter().filter_map(|row| explain::bend(&row.step)).collect();
    let more_rows = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut tasks: Vec<i32> = rows.iter().flat_map(|row| row.step.measured_tasks()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    Section {
        workload: first.workload.clone(),
        version: first.version,
        machine: machine.map_or_else(|| first.machine_name.clone(), machine_words),
        machine_name: first.machine_name.clone(),
        parameters: first.parameters.clone(),
        reproduce: table::reproduce(&first.workload, &first.parameters, &tasks),
        tasks,
        rows,
        more_rows,
        bends,
        counters: Counters::default(),
    }
}

fn machine_words(machine: &Machine) -> String {
    let identity = &machine.identity;
    let count = |n: u32, noun: &str| format::count(n as usize, noun);
    format!(
        "{}: {}, {}, {}, {} memory",
        machine.name,
        count(identity.threads, "thread"),
        count(identity.sockets, "socket"),
        identity.cpu_model,
        identity.memory_class
    )
}

impl Section {
    /// The workload's id on one line.
    pub fn workload_name(&self) -> String {
        table::one_line(&self.workload)
    }

    /// The machine on one line.
    pub fn machine_line(&self) -> String {
        table::one_line(&self.machine)
    }

    /// Workload and machine on one line.
    pub fn heading(&self) -> String {
        table::one_line(&format!("{} on {}", self.workload, self.machine_name))
    }

    /// `1, 2, 4`.
    pub fn task_list(&self) -> String {
        self.tasks.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
    }

    /// Parameters by name, each on one line.
    pub fn parameter_lines(&self) -> Vec<(String, String)> {
        let lines = self.parameters.iter();
        lines.map(|(name, value)| (table::one_line(name), table::one_line(value))).collect()
    }

    /// What steps of its law do to the curve, each a paragraph of ASCII.
    pub fn bend_paragraphs(&self) -> Vec<String> {
        self.bends.iter().map(|words| table::wrapped(&table::ascii(words))).collect()
    }

    /// LKP's table.
    pub fn table(&self, incident: &Incident) -> String {
        table::lkp(self, &incident.good.commit, &incident.bad.commit)
    }
}

impl Row {
    /// The level before, with the deviation between its runs.
    pub fn before(&self) -> String {
        self.level(self.levels.before)
    }

    /// The level after, with the deviation between its runs.
    pub fn after(&self) -> String {
        self.level(self.levels.after)
    }

    fn level(&self, level: levels::Level) -> String {
        let noise = level.noise_percent.map_or(String::new(), |n| format!(" ± {n} %"));
        let mean = if self.step.is_share() { format::share } else { format::number };
        format!("{}{noise}", mean(level.mean))
    }

    /// `4`, `to 4` of what all task counts up to there say.
    pub fn tasks(&self) -> String {
        let tasks = self.step.tasks;
        if self.step.derived { format!("to {tasks}") } else { tasks.to_string() }
    }

    /// The change with its interval; both levels where there is no ratio.
    pub fn change(&self) -> String {
        self.step.ratio.map_or_else(
            || {
                format!(
                    "{} → {}",
                    format::number(self.step.before),
                    format::number(self.step.after)
                )
            },
            format::change_with_interval,
        )
    }
}
