//! A run that was found → the report of it. The run's UUID follows from the report, so that the same
//! file makes the same report each time.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;
use wire::{Environment, Failure, Identity, Imported, Machine, Point, Project, Report};

use super::Format;
use super::found::{FoundMetric, FoundPoint, FoundRun, Outcome, Tasks};
use super::json;
use super::meaning::Meaning;
use super::problem::{Problem, Result};
use super::revision::{Given, Revisions};

/// Names UUIDs of imported runs.
const NAMESPACE: Uuid = Uuid::from_u128(0x5ca1_ea7c_4b1d_4f0e_9d3c_1a90_27e5_b6f4);

/// Everything that a report needs and the file does not tell.
#[derive(Debug)]
pub struct Setting {
    /// Whose format it is.
    pub format: Format,
    /// Where it ran.
    pub machine: Machine,
    /// Whose code.
    pub project: Project,
    /// Which code.
    pub given: Given,
    /// The branch's history, where one was given.
    pub revisions: Option<Revisions>,
    /// Units and directions.
    pub meaning: Meaning,
    /// When it ran, where the file does not say.
    pub measured_at: Option<OffsetDateTime>,
    /// More facts of the environment.
    pub environment: BTreeMap<String, String>,
    /// Task count where the file does not tell it.
    pub tasks: u32,
    /// The parameter that is the task count.
    pub tasks_from: Option<String>,
    /// What the files called the first run's revision.
    pub first_name: Option<String>,
}

impl Setting {
    /// The report of a run; none where everything in it is to be left out. `named` is the name of the
    /// file or folder, where those name revisions.
    ///
    /// # Errors
    /// What is missing or breaks a limit, with its place in the file.
    pub fn report(&mut self, run: FoundRun, named: Option<&str>) -> Result<Option<Report>> {
        run.check()?;
        self.one_name(&run)?;
        let revision = self.given.of(&run, named, self.revisions.as_ref())?;
        let at = self.time_of(&run, revision.committed_at.as_deref())?;
        let places: Vec<String> = run.points.iter().map(|point| point.place.clone()).collect();
        let mut points = Vec::with_capacity(run.points.len());
        let mut kept = Vec::new();
        for (found, place) in run.points.into_iter().zip(places) {
            let point = self.point(found).map_err(|problem| at_place(problem, &place))?;
            if let Some(point) = point {
                points.push(point);
                kept.push(place);
            }
        }
        if points.is_empty() {
            return Ok(None);
        }
        let mut facts = BTreeMap::from([("imported.format".to_owned(), self.format.word().into())]);
        facts.extend(
            run.environment.into_iter().map(|(key, fact)| (format!("imported.{key}"), fact)),
        );
        facts.extend(self.environment.clone());
        let mut report = Report {
            format: wire::FORMAT,
            run: Uuid::nil().to_string(),
            started_at: at.clone(),
            finished_at: at,
            machine: self.machine.clone(),
            environment: Environment(facts),
            project: self.project.clone(),
            revision,
            points,
            artefacts: Vec::new(),
        };
        report.run = uuid_of(&report, &run.origin)?;
        report.check().map_err(|invalid| located(&invalid, &kept))?;
        Ok(Some(report))
    }

    /// One commit cannot stand for what the files call by several names.
    fn one_name(&mut self, run: &FoundRun) -> Result<()> {
        let Some(name) = run.name.as_ref().filter(|_| self.given.commit.is_some()) else {
            return Ok(());
        };
        let first = self.first_name.get_or_insert_with(|| name.clone());
        match first == name {
            true => Ok(()),
            false => Err(Problem::whole(format!(
                "the files name several revisions, `{first}` and `{name}`, but --commit is one"
            ))),
        }
    }

    /// When the run was; never the time of the import.
    fn time_of(&self, run: &FoundRun, committed_at: Option<&str>) -> Result<String> {
        match (run.at.or(self.measured_at), committed_at) {
            (Some(at), _) => {
                at.format(&Rfc3339).map_err(|error| Problem::whole(format!("its time: {error}")))
            }
            (None, Some(time)) => Ok(time.to_owned()),
            (None, None) => Err(Problem::whole(
                "when it was measured is not told: give --measured-at, or --committed-at",
            )),
        }
    }

    fn point(&mut self, mut found: FoundPoint) -> Result<Option<Point>> {
        let tasks = self.tasks_of(&mut found)?;
        let outcome = match found.outcome {
            Outcome::Values(metrics) => match self.imported(metrics)? {
                Some(imported) => wire::Outcome::Imported(imported),
                None => return Ok(None),
            },
            Outcome::Failed(detail) => wire::Outcome::Failed(Failure {
                call: self.format.tool().into(),
                errno: None,
                task: None,
                detail,
            }),
        };
        Ok(Some(Point {
            workload: self.format.workload(&found.workload),
            version: 1,
            parameters: found.parameters,
            tasks,
            outcome,
        }))
    }

    fn tasks_of(&self, found: &mut FoundPoint) -> Result<u32> {
        if let Some(parameter) = &self.tasks_from {
            let value = found.parameters.remove(parameter).ok_or_else(|| {
                Problem::whole(format!(
                    "there is no parameter `{parameter}` to take the tasks from"
                ))
            })?;
            return super::text::tasks(&value)
                .map_err(|problem| Problem::whole(format!("parameter {parameter}: {problem}")));
        }
        Ok(match found.tasks {
            Tasks::Untold => self.tasks,
            Tasks::Count(count) => count,
            Tasks::PercentOfThreads(percent) => {
                let threads = f64::from(self.machine.identity.threads);
                ((threads * percent / 100.0).round() as u32).max(1)
            }
        })
    }

    fn imported(&mut self, metrics: Vec<FoundMetric>) -> Result<Option<Imported>> {
        let tool = self.format.tool().to_owned();
        let mut imported = Imported { tool, metrics: Vec::new(), spread: BTreeMap::new() };
        for found in metrics {
            let Some((metric, spread)) = self.meaning.of(found)? else { continue };
            imported.spread.extend(spread.map(|spread| (metric.name.clone(), spread)));
            imported.metrics.push(metric);
        }
        Ok((!imported.metrics.is_empty()).then_some(imported))
    }
}

fn at_place(mut problem: Problem, place: &str) -> Problem {
    if problem.place.is_empty() {
        place.clone_into(&mut problem.place);
    }
    problem
}

fn uuid_of(report: &Report, origin: &str) -> Result<String> {
    let canonical = serde_json::to_vec(&(report, origin));
    let canonical =
        canonical.map_err(|error| Problem::whole(format!("cannot be kept: {error}")))?;
    Ok(Uuid::new_v5(&NAMESPACE, &canonical).to_string())
}

/// `points[3].workload` is the place in the file that the fourth point came from.
fn located(invalid: &wire::Invalid, places: &[String]) -> Problem {
    let index = invalid.field.strip_prefix("points[").and_then(|rest| rest.split_once(']'));
    let found =
        index.and_then(|(index, rest)| Some((places.get(index.parse::<usize>().ok()?)?, rest)));
    match found {
        Some((place, rest)) => {
            let field = rest.trim_start_matches('.');
            let gap = if field.is_empty() { "" } else { " " };
            Problem::at(place.clone(), format!("{field}{gap}{}", invalid.problem))
        }
        None => Problem::at(invalid.field.clone(), invalid.problem.clone()),
    }
}

/// A machine from a file: as `scalewatch-runner machine --json` prints it, or by hand with `name` and
/// `identity`, where its id follows from its identity as the runner's does.
///
/// # Errors
/// Where the file is none, and a field that breaks a limit.
pub fn machine_of(bytes: &[u8]) -> Result<Machine> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Described {
        id: Option<String>,
        name: String,
        identity: Identity,
    }
    let tree: serde_json::Value = json::parse(bytes)?;
    let tree = tree.get("machine").cloned().unwrap_or(tree);
    let described: Described = serde_path_to_error::deserialize(tree)
        .map_err(|error| Problem::at(error.path().to_string(), error.inner().to_string()))?;
    let canonical = serde_json::to_vec(&described.identity);
    let canonical = canonical.map_err(|error| Problem::whole(error.to_string()))?;
    let id = || Sha256::digest(&canonical).iter().map(|byte| format!("{byte:02x}")).collect();
    let machine = Machine {
        id: described.id.unwrap_or_else(id),
        name: described.name,
        identity: described.identity,
    };
    machine.check("").map_err(|invalid| Problem::at(invalid.field, invalid.problem))?;
    Ok(machine)
}
