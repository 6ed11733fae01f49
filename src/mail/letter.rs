//! What a mail says, as plain data: loaded once, then written by the templates.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::table;
use crate::chart::{CurveLine, CurvePlot, CurvePoint};
use crate::db::{self, Pool};
use crate::detect::levels::{self, CurveValue};
use crate::format;
use crate::model::incident::{Incident, IncidentStep, RangeEnd};
use crate::model::step::HistoryRow;
use crate::model::{CurveId, IncidentId, Machine};

/// Most rows of one table: a mail is read, not scrolled; the page shows them all.
const MOST_ROWS: usize = 40;

/// Everything a mail about an incident says.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The incident.
    pub incident: Incident,
    /// One section for each machine and curve with a step, the headline's first.
    pub sections: Vec<Section>,
    /// The headline's curve before and after.
    pub plot: Option<CurvePlot>,
    /// Address of the incident's page.
    pub link: String,
}

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

/// Loads what a mail about this incident says.
///
/// # Errors
/// When the database does not answer or the incident is gone.
pub async fn load(pool: &Pool, id: IncidentId, public_url: &str) -> Result<Letter> {
    let incident = db::incident::find(pool, id).await?.context("the incident is gone")?;
    let own = db::incident_step::list(pool, id).await?;
    let machines = db::machine::list(pool).await?;
    let mut curves: Vec<CurveId> = vec![incident.headline.curve];
    for step in own.iter().filter(|step| step.retracted_at.is_none()) {
        if !curves.contains(&step.curve) {
            curves.push(step.curve);
        }
    }
    let mut sections = Vec::new();
    let mut plot = None;
    for curve in curves {
        let steps = db::incident_step::list_standing_of_curve(pool, curve).await?;
        let Some(first) = steps.iter().find(|step| step.incident == Some(id)) else { continue };
        let rows = db::step::list_history(pool, first.machine, curve).await?;
        if plot.is_none() {
            plot = Some(plot_of(first, &rows));
        }
        let machine = machines.iter().find(|machine| machine.id == first.machine);
        sections.push(section(&incident, first, &steps, &rows, machine));
    }
    let link = format!("{public_url}/incidents/{id}");
    Ok(Letter { incident, sections, plot, link })
}

fn section(
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
    let more_rows = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut tasks: Vec<i32> = rows.iter().map(|row| row.step.tasks).collect();
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

fn plot_of(step: &IncidentStep, rows: &[HistoryRow]) -> CurvePlot {
    let (before, after) = levels::curves(rows, step);
    let line = |commit: &str, values: Vec<CurveValue>| CurveLine {
        label: format::commit(commit).to_owned(),
        points: values
            .into_iter()
            .filter_map(|value| {
                let tasks = u32::try_from(value.tasks).ok()?;
                Some(CurvePoint { tasks, value: value.value, interval: value.interval })
            })
            .collect(),
    };
    CurvePlot {
        y_title: format!(
            "{}, {}, {} is better",
            step.metric,
            step.unit.symbol(),
            step.direction.word()
        ),
        lines: vec![line(&step.good.commit, before), line(&step.bad.commit, after)],
        ..CurvePlot::default()
    }
}

impl Letter {
    /// `[linux] 8f2c3b7410: fallocate/append-truncate.ops_per_s_total -34.6% regression`, one line
    /// whatever the names hold.
    pub fn subject(&self) -> String {
        let headline = &self.incident.headline;
        table::one_line(&format!(
            "[{}] {}: {}.{} {} {}",
            self.incident.project_name,
            format::commit(&self.incident.bad.commit),
            headline.workload,
            headline.metric,
            self.change(),
            self.incident.change.word()
        ))
    }

    /// `-34.6%`, or nothing where the level before was not positive.
    pub fn change(&self) -> String {
        let ratio = self.incident.headline.ratio;
        ratio.map_or(String::new(), |(ratio, ..)| table::ascii_change(ratio))
    }

    /// `between -36.1% and -33.0% with 95 % confidence`.
    pub fn interval(&self) -> Option<String> {
        self.incident.headline.ratio.map(|(_, low, high)| {
            format!(
                "between {} and {} with 95 % confidence",
                table::ascii_change(low),
                table::ascii_change(high)
            )
        })
    }

    /// Size of the headline's step with its interval, as pages show it.
    pub fn size(&self) -> String {
        self.incident.headline.ratio.map_or("changed".into(), format::change_with_interval)
    }

    /// `at 2 and 4 tasks`.
    pub fn places(&self) -> String {
        table::places(&self.incident.headline.all_tasks)
    }

    /// Name of the workload and the metric that moved most.
    pub fn what(&self) -> String {
        let headline = &self.incident.headline;
        table::one_line(&format!("{}.{}", headline.workload, headline.metric))
    }

    /// A commit with its subject, cut to one line.
    pub fn named(&self, end: &RangeEnd) -> String {
        table::one_line(&format!("{} (\"{}\")", end.commit, end.subject))
    }
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

    /// LKP's table.
    pub fn table(&self, incident: &Incident) -> String {
        table::lkp(self, &incident.good.commit, &incident.bad.commit)
    }
}

impl Row {
    /// The level before, with the deviation between its runs.
    pub fn before(&self) -> String {
        level(self.levels.before)
    }

    /// The level after, with the deviation between its runs.
    pub fn after(&self) -> String {
        level(self.levels.after)
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

fn level(level: levels::Level) -> String {
    let noise = level.noise_percent.map_or(String::new(), |n| format!(" ± {n} %"));
    format!("{}{noise}", format::number(level.mean))
}
