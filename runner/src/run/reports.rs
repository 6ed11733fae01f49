//! From measured points to reports: one a run, each side of a paired run with its own revision
//! where a parameter plays the code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use wire::{Artefact, Environment, Failure, Machine, Outcome, Point, Project, Report, Revision};

use super::measure::Measured;
use super::plan::Suite;
use super::revision::{Given, Variant};
use super::sides::Sides;
use crate::agent::StateDir;
use crate::compare::files::Side;
use crate::machine;
use crate::report::{About, report};
use crate::workloads;

/// What is known about the code.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// What was given.
    pub given: Given,
    /// The parameter that plays the code under test.
    pub subject_param: Option<String>,
}

/// Makes the reports of one command.
#[derive(Debug)]
pub struct Maker {
    machine: Machine,
    environment: Environment,
    head_environment: Environment,
    artefacts: Vec<Artefact>,
    subject_param: Option<String>,
    /// Of a plain run or of the base.
    first: Option<(Project, Revision)>,
    /// Of the head.
    head: Option<(Project, Revision)>,
}

impl Maker {
    /// Finds machine, environment and revision before anything is measured. `keep` says whether
    /// reports leave this process; where they do not, a pair may be compared without a revision.
    ///
    /// # Errors
    /// When reports are kept and the revision is not known, or when something said about the code
    /// is wrong.
    pub fn new(
        code: Code,
        suite: &Suite,
        sides: Option<&Sides>,
        state: &StateDir,
        keep: bool,
    ) -> anyhow::Result<Maker> {
        let (first, head) = match sides {
            None => (code.revision(suite, &BTreeMap::new())?, None),
            Some(sides) => code.revisions(suite, &sides.base.parameters, &sides.head.parameters)?,
        };
        ensure!(
            first.is_some() || !keep,
            "no report without a revision: say which code is measured with --repo, or with \
             --commit and --position"
        );
        let environment = |dir: Option<&PathBuf>| {
            machine::environment(dir.unwrap_or(&suite.dir), code.given.subject())
        };
        let stand_in = || (!keep).then(not_recorded);
        let maker = Maker {
            machine: machine::machine(state.path()?).context("cannot identify this machine")?,
            environment: environment(sides.and_then(|sides| sides.base.dir.as_ref())),
            head_environment: environment(sides.and_then(|sides| sides.head.dir.as_ref())),
            artefacts: Vec::new(),
            subject_param: code.subject_param,
            first: first.or_else(stand_in),
            head: head.or_else(stand_in),
        };
        maker.rehearse()?;
        Ok(maker)
    }

    /// Makes a report of nothing, so that a commit that is none is found before measuring.
    fn rehearse(&self) -> anyhow::Result<()> {
        let nothing = Outcome::Failed(Failure {
            call: "none".into(),
            errno: None,
            task: None,
            detail: String::new(),
        });
        let point = Point {
            workload: "none".into(),
            version: 1,
            parameters: BTreeMap::new(),
            tasks: 1,
            outcome: nothing,
        };
        for side in [Side::Base, Side::Head] {
            let measured = Measured {
                started_at: String::new(),
                finished_at: String::new(),
                points: vec![point.clone()],
                profiles: BTreeMap::new(),
            };
            if side == Side::Base || self.head.is_some() {
                self.report(Some(side), measured, None)?;
            }
        }
        Ok(())
    }

    /// Adds evidence to every report made from now on.
    pub fn attach(&mut self, artefact: Artefact) {
        self.artefacts.push(artefact);
    }

    /// Where everything is measured.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The report of one run; `run` is its UUID, made at random where none is given.
    ///
    /// # Errors
    /// Names the field that breaks a limit.
    pub fn report(
        &self,
        side: Option<Side>,
        mut measured: Measured,
        run: Option<uuid::Uuid>,
    ) -> anyhow::Result<Report> {
        if let Some(name) = &self.subject_param {
            for point in &mut measured.points {
                point.parameters.remove(name);
            }
        }
        let (revision, environment) = match side {
            Some(Side::Head) => (self.head.clone(), &self.head_environment),
            _ => (self.first.clone(), &self.environment),
        };
        let mut about = About {
            run: run.unwrap_or_else(uuid::Uuid::new_v4).to_string(),
            started_at: measured.started_at,
            finished_at: measured.finished_at,
            machine: self.machine.clone(),
            environment: environment.clone(),
            revision,
            artefacts: self.artefacts.clone(),
        };
        for (i, profile) in &measured.profiles {
            about.artefacts.push(profile.artefact(&measured.points[*i])?);
        }
        report(about, measured.points)
    }
}

type Found = Option<(Project, Revision)>;

impl Code {
    fn revision(&self, suite: &Suite, side: &BTreeMap<String, String>) -> anyhow::Result<Found> {
        self.given.resolve(self.variant(suite, side)?.as_ref())
    }

    /// Two sides are two revisions only where a parameter plays the code; base comes first then.
    fn revisions(
        &self,
        suite: &Suite,
        base: &BTreeMap<String, String>,
        head: &BTreeMap<String, String>,
    ) -> anyhow::Result<(Found, Found)> {
        let Some(name) = &self.subject_param else {
            let both = self.revision(suite, base)?;
            return Ok((both.clone(), both));
        };
        ensure!(
            base.keys().eq([name]),
            "--base and --head must set {name} and nothing else: it plays the code under test"
        );
        ensure!(
            self.given.commit.is_none() && self.given.repo.is_none(),
            "the two sides are two revisions made of {name}: no --commit or --repo with them"
        );
        let mut code = self.clone();
        let position = code.given.position.unwrap_or(1);
        code.given.position = Some(position);
        let first = code.revision(suite, base)?;
        code.given.position = Some(position + 1);
        code.given.parents = first.iter().map(|(_, revision)| revision.commit.clone()).collect();
        Ok((first, code.revision(suite, head)?))
    }

    fn variant(
        &self,
        suite: &Suite,
        side: &BTreeMap<String, String>,
    ) -> anyhow::Result<Option<Variant>> {
        let Some(parameter) = &self.subject_param else { return Ok(None) };
        ensure!(
            suite.sweep.iter().all(|(name, _)| name != parameter),
            "{parameter} plays the code under test: one run measures one value of it"
        );
        let mut values = Vec::new();
        for name in &suite.workloads {
            let named = workloads::named(name)?;
            let (id, version) = (named.workload.id, named.workload.version);
            let Some(usual) = named.usual(parameter) else {
                bail!("--subject-param: {id} has no parameter {parameter}")
            };
            let given = side.get(parameter).or_else(|| suite.parameters.get(parameter));
            let value = given.map_or(usual, String::as_str).to_owned();
            values.push(Variant {
                workload: (id.to_owned(), version),
                parameter: parameter.clone(),
                value,
            });
        }
        ensure!(
            values.len() == 1 || self.given.commit.is_some(),
            "a variant is a revision of one workload: name one, or give --commit"
        );
        Ok(values.pop())
    }
}

/// Stands for a revision where two sides are compared at once and nothing is kept.
fn not_recorded() -> (Project, Revision) {
    let project = Project { name: "none".into(), subject: wire::Subject::Program };
    let revision = Revision {
        commit: "0000000".into(),
        branch: "none".into(),
        parents: Vec::new(),
        position: Some(0),
        committed_at: None,
        subject: "not recorded".into(),
    };
    (project, revision)
}
