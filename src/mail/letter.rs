//! What a mail says, as plain data: loaded once, then written by the templates.

use anyhow::{Context as _, Result};

use super::counters::Counters;
use super::section::{Section, section};
use super::table;
use crate::chart::{CurveLine, CurvePlot, CurvePoint};
use crate::db::{self, Pool};
use crate::detect::levels::{self, CurveValue};
use crate::detect::{counters, laws};
use crate::format;
use crate::model::incident::{Incident, IncidentStep, RangeEnd};
use crate::model::scaling::Figure;
use crate::model::step::HistoryRow;
use crate::model::{CurveId, IncidentId};

/// Everything a mail about an incident says.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The incident.
    pub incident: Incident,
    /// One section for each machine and curve with a step, the headline's first.
    pub sections: Vec<Section>,
    /// The headline's curve before and after.
    pub plot: Option<CurvePlot>,
    /// Whether it was measured again before it was told, and what came of it.
    pub confirmation: Option<String>,
    /// Address of the incident's page.
    pub link: String,
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
        let mut rows = db::step::list_history(pool, first.machine, curve).await?;
        if plot.is_none() {
            plot = Some(plot_of(first, &rows));
        }
        let known = db::scaling::list(pool, first.machine, curve).await?;
        for step in steps.iter().filter(|step| step.derived) {
            let figure = Figure::parse(&step.metric);
            rows.extend(
                figure.map(|of| laws::rows_of(&known, of, step.series)).unwrap_or_default(),
            );
        }
        let machine = machines.iter().find(|machine| machine.id == first.machine);
        let mut section = section(&incident, first, &steps, &rows, machine);
        section.counters = Counters::new(first.tasks, &counters::of_step(pool, first).await?);
        sections.push(section);
    }
    let link = format!("{public_url}/incidents/{id}");
    let confirmation = db::job::confirmation::find(pool, id).await?.map(|one| one.words);
    Ok(Letter { incident, sections, plot, confirmation, link })
}

fn plot_of(step: &IncidentStep, rows: &[HistoryRow]) -> CurvePlot {
    // What bends is the curve of the first metric.
    let shown =
        rows.iter().find(|row| if step.derived { row.primary } else { row.metric == step.metric });
    let (metric, unit, direction) = shown.map_or_else(
        || (&step.metric, step.unit, step.direction),
        |row| (&row.metric, row.unit, row.direction),
    );
    let (before, after) = levels::curves(rows, step, metric);
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
        y_title: format!("{metric}, {}, {} is better", unit.symbol(), direction.word()),
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
        let headline = &self.incident.headline;
        table::places(&headline.all_tasks, headline.derived)
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
