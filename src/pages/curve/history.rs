//! The history of a curve at one task count: every run in the order of revisions, with levels,
//! incidents, changes of environment and failed runs.

use std::collections::BTreeMap;

use super::revisions::Chosen;
use super::{Choice, CurveView, Figure, Metric};
use crate::app::App;
use crate::chart::points::levels;
use crate::chart::{Band, HistoryColumn, HistoryDot, HistoryPlot, Size, svg};
use crate::db;
use crate::detect::history::in_words;
use crate::detect::modes;
use crate::error::{Error, Result};
use crate::format;
use crate::model::environment::{Environment, diff};
use crate::model::incident::IncidentStep;
use crate::model::step::Change;
use crate::model::{Curve, EnvironmentId, FailedPoint, Measurement};
use crate::pages::noise;
use crate::pages::view::{CommitMark, Value, When, short_run};

const WIDE: Size = Size { width: 1080, height: 280 };
const NARROW: Size = Size { width: 360, height: 260 };

/// A task count to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChoice {
    /// Task count.
    pub tasks: i32,
    /// Address of the page with it.
    pub href: String,
    /// It is the one shown.
    pub chosen: bool,
}

/// Summary of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFigures {
    /// Median.
    pub median: Value,
    /// Least.
    pub min: Value,
    /// Greatest.
    pub max: Value,
    /// Number of samples.
    pub n: usize,
}

/// One run of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRow {
    /// Revision.
    pub commit: CommitMark,
    /// Its figures; none when the point failed.
    pub values: Option<RunFigures>,
    /// UUID of the run.
    pub run: String,
    /// Its first group.
    pub run_short: String,
    /// When it ended.
    pub finished: When,
}

/// Fills the history's part of the page.
pub async fn fill(
    app: &App,
    curve: &Curve,
    metric: &Metric,
    (chosen, failed): (&Chosen, &[FailedPoint]),
    choice: &Choice,
    view: &mut CurveView,
) -> Result<()> {
    let tasks = task_count(curve, chosen, choice)?;
    let filter = db::history::Filter {
        metric: Some(&metric.name),
        tasks: Some(tasks),
        branch: Some(chosen.branch),
        ..Default::default()
    };
    let runs = db::history::list(&app.db, curve, &filter, false).await?;
    let failed: Vec<&FailedPoint> =
        failed.iter().filter(|one| one.tasks == tasks && one.branch == chosen.branch).collect();
    let environments = environments(app, &runs).await?;
    let steps: Vec<&IncidentStep> = chosen
        .steps
        .iter()
        .filter(|step| !step.derived && step.metric == metric.name && step.tasks == tasks)
        .collect();
    let plot = plot(metric, tasks, (&runs, &failed), &steps, &environments);
    let caption = "Every run in the order of revisions, the newest at the right; whiskers are 95 % \
                   intervals of a run's median, the line is the median between steps. The axis \
                   does not start at 0 where that would hide changes.";
    view.tasks = tasks;
    view.tasks_words = format::count(tasks.unsigned_abs() as usize, "task");
    view.task_choices = choices(curve, view.id, tasks, choice);
    view.history = Figure::two(caption, (WIDE, NARROW), |size| svg::history(&plot, size));
    view.history_rows = rows(&runs, &failed, app);
    let last_step = steps.iter().map(|step| step.bad.rank).max();
    let modes = modes::of_newest_level(&runs, last_step);
    view.modes = modes.map(|modes| noise::modes_words(&modes, metric));
    view.floor = noise::floor(app, curve, metric).await?;
    Ok(())
}

/// What the address asks for, else where the newest step lies, else the most tasks.
fn task_count(curve: &Curve, chosen: &Chosen, choice: &Choice) -> Result<i32> {
    if let Some(text) = choice.tasks.as_deref().filter(|text| !text.is_empty()) {
        let known = text.parse().ok().filter(|tasks| curve.tasks.contains(tasks));
        let problem = || format!("`{text}` is not a task count of this curve");
        return known.ok_or_else(|| Error::query("tasks", problem()));
    }
    let step = chosen.steps.iter().filter(|step| step.primary).max_by(|a, b| {
        let size = |step: &IncidentStep| step.ratio.map_or(0.0, |(ratio, _, _)| ratio.ln().abs());
        (a.bad.rank, size(a))
            .partial_cmp(&(b.bad.rank, size(b)))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok(step.map(|step| step.tasks).or(curve.tasks.last().copied()).unwrap_or(1))
}

fn choices(curve: &Curve, id: i64, tasks: i32, choice: &Choice) -> Vec<TaskChoice> {
    let kept = |name: &str, value: &Option<String>| match value {
        Some(value) if value.chars().all(|c| c.is_ascii_alphanumeric()) && !value.is_empty() => {
            format!("&{name}={value}")
        }
        _ => String::new(),
    };
    let kept_all = [
        ("rev", &choice.rev),
        ("base", &choice.base),
        ("from", &choice.from),
        ("to", &choice.to),
        ("axis", &choice.axis),
    ];
    let rest: String = kept_all.map(|(name, value)| kept(name, value)).concat();
    let one = |count: &i32| TaskChoice {
        tasks: *count,
        href: format!("/curves/{id}?tasks={count}{rest}#history"),
        chosen: *count == tasks,
    };
    curve.tasks.iter().map(one).collect()
}

async fn environments(
    app: &App,
    runs: &[Measurement],
) -> Result<BTreeMap<EnvironmentId, Environment>> {
    let mut ids: Vec<EnvironmentId> = runs.iter().map(|run| run.environment).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = db::environment::list(&app.db, &ids).await?;
    Ok(found.into_iter().map(|one| (one.id, one)).collect())
}

fn plot(
    metric: &Metric,
    tasks: i32,
    (runs, failed): (&[Measurement], &[&FailedPoint]),
    steps: &[&IncidentStep],
    environments: &BTreeMap<EnvironmentId, Environment>,
) -> HistoryPlot {
    let columns = columns(runs, failed);
    let place = |rank: i64| columns.iter().position(|(key, _)| key.0 == rank);
    let mut bands = Vec::new();
    for step in steps {
        let (Some(from), Some(to)) = (place(step.good.rank), place(step.bad.rank)) else {
            continue;
        };
        let size = step.ratio.map_or(String::new(), |(ratio, _, _)| format::change(ratio));
        let label = match step.incident {
            Some(incident) => format!("incident {incident}, {size}"),
            None => format!("step, {size}"),
        };
        bands.push(Band { from, to, label, worse: step.change == Change::Regression });
    }
    let environments = environment_changes(runs, environments, place);
    let steps = bands.iter().map(|band| band.to);
    let changes: Vec<usize> = steps.chain(environments.iter().map(|(at, _)| *at)).collect();
    let drawn: Vec<HistoryColumn> = columns.iter().map(|(_, column)| column.clone()).collect();
    HistoryPlot {
        y_title: format!("{} at {tasks} tasks, {}", metric.title(), metric.axis()),
        levels: levels(&drawn, &changes),
        columns: drawn,
        bands,
        environments,
    }
}

/// One column a revision, by rank and commit.
fn columns(runs: &[Measurement], failed: &[&FailedPoint]) -> Vec<((i64, String), HistoryColumn)> {
    let mut columns: BTreeMap<(i64, String), HistoryColumn> = BTreeMap::new();
    let mut days = BTreeMap::new();
    for run in runs {
        let key = (run.rank, run.commit.clone());
        let day = format::date(run.committed_at.unwrap_or(run.finished_at));
        days.entry(key.clone()).or_insert(day);
        columns.entry(key).or_default().dots.push(dot(run));
    }
    for point in failed {
        columns.entry((point.rank, point.commit.clone())).or_default().failed += 1;
    }
    let mut last_day = String::new();
    for (key, column) in &mut columns {
        column.commit = format::commit(&key.1).to_owned();
        column.date = days.remove(key).filter(|day| *day != last_day);
        last_day = column.date.clone().unwrap_or(last_day);
    }
    columns.into_iter().collect()
}

/// By its summary, which for runs of old lacks the interval.
fn dot(run: &Measurement) -> HistoryDot {
    let by_summary = HistoryDot { value: run.summary.median, interval: run.interval };
    match run.interval {
        None => HistoryDot::of(&run.samples).unwrap_or(by_summary),
        Some(_) => by_summary,
    }
}

/// Where a run's environment differs from that of the run before it, in the order of revisions.
fn environment_changes(
    runs: &[Measurement],
    environments: &BTreeMap<EnvironmentId, Environment>,
    place: impl Fn(i64) -> Option<usize>,
) -> Vec<(usize, String)> {
    let changed = runs.windows(2).filter(|pair| pair[0].environment != pair[1].environment);
    let change = |pair: &[Measurement]| {
        let (before, after) =
            (environments.get(&pair[0].environment)?, environments.get(&pair[1].environment)?);
        Some((place(pair[1].rank)?, in_words(&diff(&before.facts, &after.facts))))
    };
    changed.filter_map(change).collect()
}

fn rows(runs: &[Measurement], failed: &[&FailedPoint], app: &App) -> Vec<HistoryRow> {
    let now = app.clock.now();
    let measured = runs.iter().map(|run| {
        let values = RunFigures {
            median: Value::new(run.summary.median),
            min: Value::new(run.summary.min),
            max: Value::new(run.summary.max),
            n: run.summary.n,
        };
        let commit = CommitMark::new(&run.commit, &run.subject);
        ((run.rank, run.finished_at), row(commit, Some(values), run.run, run.finished_at, now))
    });
    let failed = failed.iter().map(|one| {
        let commit = CommitMark::new(&one.commit, &one.subject);
        ((one.rank, one.finished_at), row(commit, None, one.run, one.finished_at, now))
    });
    let mut all: Vec<_> = measured.chain(failed).collect();
    all.sort_by_key(|(order, _)| std::cmp::Reverse(*order));
    all.into_iter().map(|(_, row)| row).collect()
}

fn row(
    commit: CommitMark,
    values: Option<RunFigures>,
    run: crate::model::RunId,
    finished_at: time::OffsetDateTime,
    now: time::OffsetDateTime,
) -> HistoryRow {
    HistoryRow {
        commit,
        values,
        run: run.to_string(),
        run_short: short_run(&run),
        finished: When::new(finished_at, now),
    }
}
