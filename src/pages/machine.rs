//! `/machines/{id}`: identity, topology in words, the environments it ran in, its curves and runs.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use time::OffsetDateTime;

use super::failure::Failure;
use super::shown;
use super::view::{Facts, Figure, Layout, RunRows, Section, When, parameter_words};
use super::visitor::{Posted, Visitor};
use crate::api::lookup;
use crate::app::App;
use crate::chart::{Size, TopologyPlot, svg};
use crate::db;
use crate::detect::history::in_words;
use crate::error::{Error, Result};
use crate::format;
use crate::lives;
use crate::model::environment::{Environment, diff};
use crate::model::job::{Agent, Job, JobState};
use crate::model::{Curve, EnvironmentId, EnvironmentUse, Machine, NoiseFloor};

/// Rows of each list.
const SHOWN: i64 = 100;

/// A stretch of runs in one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentRow {
    /// When its first run began.
    pub since: When,
    /// Number of runs.
    pub runs: i64,
    /// What differs from the stretch before.
    pub changes: String,
}

/// What identical code was seen to differ by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorRow {
    /// Workload id.
    pub workload: String,
    /// Metric.
    pub metric: String,
    /// `±1.20 %`.
    pub floor: String,
    /// Where it was seen.
    pub source: &'static str,
    /// `10 pairs`.
    pub observations: String,
    /// When the newest of them was made.
    pub seen: When,
    /// Whether it is the widest of its workload and metric, and so counts.
    pub counts: bool,
}

/// A level of cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheRow {
    /// `L3 unified`.
    pub name: String,
    /// `32 MiB`.
    pub size: String,
    /// Hardware threads that share one.
    pub shared_by: u32,
    /// How many there are.
    pub instances: u32,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/machine.html")]
pub struct MachineView {
    /// Frame.
    pub layout: Layout,
    /// Id in addresses.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Topology in words.
    pub topology: String,
    /// When it was registered.
    pub registered: When,
    /// When its last report came.
    pub last_seen: Option<When>,
    /// What its agent says of itself: when it was heard of, labels and projects.
    pub agent: Option<(When, String)>,
    /// What it does now: number of the job and how far it is.
    pub job: Option<(i64, String)>,
    /// The same drawn, where its numbers divide into a picture.
    pub drawing: Option<Figure>,
    /// Its caches, from the innermost.
    pub caches: Vec<CacheRow>,
    /// The facts behind the id.
    pub identity: Facts,
    /// Newest first.
    pub environments: Vec<EnvironmentRow>,
    /// All facts of the newest.
    pub newest: Facts,
    /// Noise floors, by workload and metric.
    pub floors: Vec<FloorRow>,
    /// Address and title of each curve.
    pub curves: Vec<(String, String)>,
    /// Latest runs.
    pub runs: RunRows,
    /// What the form that merges carries; none for who may not.
    pub merges: Option<String>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let machine = lookup::machine(&app, &id).await?;
    if machine.public_id != id {
        return Ok(Redirect::permanent(&format!("/machines/{}", machine.public_id)).into_response());
    }
    let view = view(&app, &visitor, &machine).await?;
    match view.merges {
        Some(_) => visitor.shown(&view),
        None => Ok(shown(&view)?.into_response()),
    }
}

/// What the form that merges posts.
#[derive(Debug, Deserialize)]
pub struct MergeForm {
    from: Option<String>,
    force: Option<String>,
}

/// Makes everything that another machine measured this one's.
pub async fn merge(
    State(app): State<App>,
    Path(id): Path<String>,
    Posted { visitor, form }: Posted<MergeForm>,
) -> Result<Redirect, Failure> {
    visitor.viewer.require_site_admin()?;
    let from = form.from.unwrap_or_default();
    let from = from.trim();
    if from.is_empty() || from.contains('\0') {
        return Err(Error::invalid("from", "must be the id of a machine").into());
    }
    let mut tx = app.db.begin().await?;
    let by = visitor.by(&app);
    lives::merge::merge(&mut tx, &by, from, &id, form.force.is_some()).await?;
    tx.commit().await?;
    app.due.notify_one();
    Ok(Redirect::to(&format!("/machines/{id}")))
}

async fn view(app: &App, visitor: &Visitor, machine: &Machine) -> Result<MachineView> {
    let now = app.clock.now();
    let visible = visitor.viewer.visible();
    let uses =
        db::pages_machine::list_environment_uses(&app.db, visible, machine.id, SHOWN).await?;
    let mut ids: Vec<EnvironmentId> = uses.iter().map(|one| one.environment).collect();
    ids.sort_unstable();
    ids.dedup();
    let environments = db::environment::list(&app.db, &ids).await?;
    let environments: BTreeMap<EnvironmentId, Environment> =
        environments.into_iter().map(|one| (one.id, one)).collect();
    let newest = uses.first().and_then(|one| environments.get(&one.environment));
    let floors = db::noise::list_of_machine(&app.db, visible, machine.id).await?;
    let curves = db::curve::Filter { machine: Some(machine.id), ..Default::default() };
    let curves = db::curve::list(&app.db, visible, &curves, SHOWN).await?;
    let runs = db::run::Filter { machine: Some(machine.id), ..Default::default() };
    let runs = db::run::list(&app.db, visible, &runs, SHOWN).await?;
    let agent = db::job::agent::find(&app.db, machine.id).await?;
    let live = db::job::Filter {
        machine: Some(machine.id),
        states: Some(JobState::LIVE.to_vec()),
        ..Default::default()
    };
    let job = db::job::list(&app.db, visible, &live, 1).await?.pop();
    Ok(MachineView {
        merges: visitor.viewer.is_site_admin().then(|| visitor.form.word()),
        agent: agent.map(|agent| (When::new(agent.seen_at, now), agent_words(&agent))),
        job: job.map(|job| (job.id.0, job_words(&job))),
        layout: Layout::new(&machine.name, Section::None).seen_by(visitor),
        id: machine.public_id.clone(),
        name: machine.name.clone(),
        topology: topology(&machine.identity),
        registered: When::new(machine.registered_at, now),
        last_seen: machine.last_seen_at.map(|at| When::new(at, now)),
        drawing: drawing(&machine.identity),
        caches: cache_rows(&machine.identity),
        identity: identity(&machine.identity),
        environments: environment_rows(&uses, &environments, now),
        newest: Facts {
            caption: "The newest environment".into(),
            key_title: "fact",
            facts: newest.map(|one| one.facts.clone().into_iter().collect()).unwrap_or_default(),
        },
        floors: floor_rows(&floors, now),
        curves: curves.iter().map(curve_link).collect(),
        runs: RunRows::new("Latest reports first", &runs, now),
    })
}

/// `labels arm, big; prepares linux`.
fn agent_words(agent: &Agent) -> String {
    let prepares = format!("prepares {}", agent.projects.join(", "));
    match agent.labels.as_slice() {
        [] => prepares,
        labels => format!("labels {}; {prepares}", labels.join(", ")),
    }
}

/// `running for linux, turn 2 of 6, 3 of 8 points`.
fn job_words(job: &Job) -> String {
    format!("{} for {}, {}", job.state.title(), job.project_name, job.progress_words())
}

/// `2 sockets of 32 cores, 2 threads a core, 4 NUMA nodes, 512 GiB`.
fn topology(identity: &wire::Identity) -> String {
    let sockets = identity.sockets.max(1);
    let cores = identity.cores.max(1);
    let shared = match identity.threads / cores {
        0 | 1 => "1 thread a core".to_owned(),
        n => format!("{n} threads a core"),
    };
    format!(
        "{}: {} of {}, {shared}, {}, {} of memory",
        identity.cpu_model,
        format::count(sockets as usize, "socket"),
        format::count((cores / sockets) as usize, "core"),
        format::count(identity.numa_nodes as usize, "NUMA node"),
        identity.memory_class
    )
}

/// None where the numbers do not divide, as with cores of two kinds, or are too many to draw.
fn drawing(identity: &wire::Identity) -> Option<Figure> {
    let plot = TopologyPlot {
        sockets: identity.sockets,
        nodes: identity.numa_nodes,
        cores: identity.cores,
        threads: identity.threads,
    };
    let caption = format!(
        "{} A dot is a thread; drawn from the numbers alone, as evenly as they divide.",
        plot.sentence()
    );
    let size = |width| Size { width, height: 0 };
    let drawn = |size: Size| svg::topology(&plot, size.width);
    plot.is_drawable().then(|| Figure::two(caption, (size(880), size(340)), drawn))
}

fn cache_rows(identity: &wire::Identity) -> Vec<CacheRow> {
    let mut caches = identity.caches.clone();
    caches.sort();
    let row = |cache: wire::Cache| CacheRow {
        name: format!("L{} {}", cache.level, cache.kind),
        size: match cache.size_kib {
            kib if kib >= 1024 && kib.is_multiple_of(1024) => format!("{} MiB", kib / 1024),
            kib => format!("{kib} KiB"),
        },
        shared_by: cache.shared_by,
        instances: identity.threads.div_ceil(cache.shared_by.max(1)),
    };
    caches.into_iter().map(row).collect()
}

/// Task counts at which tasks, placed a core each, package by package, fill a part of the machine.
pub(super) fn topology_marks(identity: &wire::Identity) -> Vec<(u32, String)> {
    let cores = identity.cores.max(1);
    let mut marks = Vec::new();
    if identity.numa_nodes > identity.sockets {
        marks.push((cores / identity.numa_nodes, "NUMA node full".to_owned()));
    }
    if identity.sockets > 1 {
        marks.push((cores / identity.sockets, "socket full".to_owned()));
    }
    let all = if identity.threads > cores { "cores full, SMT begins" } else { "cores full" };
    marks.push((cores, all.to_owned()));
    marks
}

fn identity(identity: &wire::Identity) -> Facts {
    let fact = |key: &str, value: String| (key.to_owned(), value);
    let mut facts = vec![
        fact("architecture", identity.architecture.clone()),
        fact("cpu_model", identity.cpu_model.clone()),
        fact("sockets", identity.sockets.to_string()),
        fact("cores", identity.cores.to_string()),
        fact("threads", identity.threads.to_string()),
        fact("numa_nodes", identity.numa_nodes.to_string()),
        fact("memory_class", identity.memory_class.clone()),
        fact("hardware_id", identity.hardware_id.clone()),
    ];
    for cache in &identity.caches {
        let shared = format::count(cache.shared_by as usize, "thread");
        let value = format!("{} KiB, shared by {shared}", cache.size_kib);
        facts.push((format!("cache L{} {}", cache.level, cache.kind), value));
    }
    Facts {
        caption: "What makes it this machine; a change here makes it another one".into(),
        key_title: "fact",
        facts,
    }
}

fn environment_rows(
    uses: &[EnvironmentUse],
    environments: &BTreeMap<EnvironmentId, Environment>,
    now: OffsetDateTime,
) -> Vec<EnvironmentRow> {
    let none = BTreeMap::new();
    let facts = |id: EnvironmentId| environments.get(&id).map_or(&none, |one| &one.facts);
    let row = |(index, one): (usize, &EnvironmentUse)| EnvironmentRow {
        since: When::new(one.since, now),
        runs: one.runs,
        changes: match uses.get(index + 1) {
            Some(before) => in_words(&diff(facts(before.environment), facts(one.environment))),
            None => format!("first seen, {} facts", facts(one.environment).len()),
        },
    };
    uses.iter().enumerate().map(row).collect()
}

fn floor_rows(floors: &[NoiseFloor], now: OffsetDateTime) -> Vec<FloorRow> {
    let of_one =
        |a: &NoiseFloor, b: &NoiseFloor| (&a.workload, &a.metric) == (&b.workload, &b.metric);
    let rows = |floors: &[NoiseFloor]| {
        let widest = floors.iter().map(|floor| floor.relative).fold(0.0, f64::max);
        let row = |floor: &NoiseFloor| FloorRow {
            workload: floor.workload.clone(),
            metric: floor.metric.clone(),
            floor: format!("±{:.2} %", floor.relative * 100.0),
            source: floor.source.title(),
            observations: format::count(
                usize::try_from(floor.observations).unwrap_or(0),
                floor.source.observation(),
            ),
            seen: When::new(floor.at, now),
            counts: floor.relative == widest,
        };
        floors.iter().map(row).collect::<Vec<FloorRow>>()
    };
    floors.chunk_by(of_one).flat_map(rows).collect()
}

fn curve_link(curve: &Curve) -> (String, String) {
    let parameters = parameter_words(&curve.parameters);
    let title = match parameters.as_str() {
        "" => format!("{} ({})", curve.workload, curve.project_name),
        words => format!("{}, {words} ({})", curve.workload, curve.project_name),
    };
    (format!("/curves/{}", curve.id), title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_marked_where_parts_of_the_machine_are_full() {
        let mut identity = wire::Identity {
            architecture: "x86_64".into(),
            cpu_model: "Test CPU".into(),
            sockets: 2,
            cores: 96,
            threads: 192,
            numa_nodes: 4,
            caches: Vec::new(),
            memory_class: "1536 GiB".into(),
            hardware_id: "dmi".into(),
        };
        let mark = |tasks, label: &str| (tasks, label.to_owned());
        assert_eq!(
            topology_marks(&identity),
            [
                mark(24, "NUMA node full"),
                mark(48, "socket full"),
                mark(96, "cores full, SMT begins")
            ]
        );
        assert!(
            topology(&identity).starts_with("Test CPU: 2 sockets of 48 cores, 2 threads a core")
        );
        (identity.sockets, identity.numa_nodes, identity.threads) = (1, 1, 96);
        assert_eq!(topology_marks(&identity), [mark(96, "cores full")]);
    }
}
