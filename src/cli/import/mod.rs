//! `import`: results of other tools → runs, stored as if a runner had sent them.
//!
//! Everything is read and checked before anything is stored. Each run is stored in a transaction of
//! its own, under a UUID that follows from its content: what breaks off is taken up by importing again.

mod args;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

pub use args::Import;

use crate::app::App;
use crate::clock::Clock;
use crate::config::Config;
use crate::db;
use crate::import::{
    Ask, Given, Input, Mapping, Meaning, Problem, Revisions, Setting, Source, inputs, machine_of,
};
use crate::ingest;
use crate::model::revision::subject_word;

/// What an import came to.
#[derive(Debug, Default)]
struct Sum {
    runs: usize,
    new: usize,
    points: usize,
}

impl Import {
    pub async fn run(self, config: Config) -> Result<()> {
        let pool = db::connect(config.database_url()?, 2).await?;
        if let Some(problem) = db::schema::problem(&pool).await? {
            bail!("{problem}");
        }
        let app = App::new(pool.clone(), Clock::system(), Arc::new(config));
        let done = self.import(&app).await;
        pool.close().await;
        done
    }

    async fn import(self, app: &App) -> Result<()> {
        let ask = self.ask()?;
        let machine = self.machine(app).await?;
        let project = self.project(app).await?;
        let inputs = inputs(self.format, &self.paths, self.code.by_revision)?;
        let mut setting = self.setting(machine, project)?;
        let mut found = Sum::default();
        read_all(&mut setting, &inputs, &ask, &mut |report| {
            found.runs += 1;
            found.points += report.points.len();
            ingest::prepare(report).map(drop)?;
            Ok(())
        })?;
        if let Some(unused) = setting.meaning.unused() {
            bail!("{unused} names no metric of these files");
        }
        if found.runs == 0 {
            bail!("nothing is left to import");
        }
        if self.dry_run {
            println!("{} of {} would be stored, unless they are", points(&found), runs(found.runs));
            return Ok(());
        }
        let stored = self.store(app, setting, inputs, ask, found.runs).await?;
        let known = stored.runs - stored.new;
        println!(
            "{} of {} read: {} new, {known} known before",
            points(&stored),
            runs(stored.runs),
            stored.new
        );
        Ok(())
    }
}

impl Import {
    fn ask(&self) -> Result<Ask> {
        Ok(Ask {
            workload: self.what.workload.clone(),
            column: self.table.column.clone(),
            baseline: self.table.baseline.clone(),
            mapping: Mapping::parse(&self.table.maps, self.table.delimiter)?,
        })
    }

    async fn machine(&self, app: &App) -> Result<wire::Machine> {
        if let Some(path) = &self.whose.machine_file {
            let name = path.display().to_string();
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
            return Ok(machine_of(&bytes).map_err(|problem| problem.of_file(&name))?);
        }
        let wanted = self.whose.machine.as_deref().unwrap_or_default();
        let known = match db::machine::find_by_public_id(&app.db, wanted).await? {
            Some(known) => vec![known],
            None => {
                let all = db::machine::list(&app.db).await?;
                all.into_iter().filter(|machine| machine.name == wanted).collect()
            }
        };
        match known.as_slice() {
            [one] => Ok(wire::Machine {
                id: one.public_id.clone(),
                name: one.name.clone(),
                identity: one.identity.clone(),
            }),
            [] => bail!(
                "no registered machine has the id or name `{wanted}`; describe it with --machine-file"
            ),
            _ => bail!("several machines are called `{wanted}`: give the id of one"),
        }
    }

    async fn project(&self, app: &App) -> Result<wire::Project> {
        let name = self.whose.project.clone();
        let known = db::project::find_by_name(&app.db, &name).await?.map(|project| project.subject);
        let subject = match (known, self.whose.subject) {
            (Some(known), Some(given)) if known != given => {
                bail!("project {name} is known with the subject {}", subject_word(known))
            }
            (known, given) => known.or(given).with_context(|| {
                format!("project {name} is new: say with --subject what it tests")
            })?,
        };
        Ok(wire::Project { name, subject })
    }

    fn setting(&self, machine: wire::Machine, project: wire::Project) -> Result<Setting> {
        let (code, what) = (&self.code, &self.what);
        let environment: BTreeMap<_, _> = self.whose.environment.iter().cloned().collect();
        Ok(Setting {
            format: self.format,
            machine,
            project,
            given: Given {
                commit: code.commit.clone(),
                branch: code.branch.clone(),
                position: code.position,
                committed_at: code.committed_at.clone(),
                subject: code.message.clone(),
            },
            revisions: code.revisions.as_deref().map(revisions).transpose()?,
            meaning: Meaning::parse(&what.units, &what.directions, &what.skipped)?,
            measured_at: self.whose.measured_at,
            environment,
            tasks: what.tasks,
            tasks_from: what.tasks_from.clone(),
            first_name: None,
        })
    }

    /// Reads everything once more, run by run, so that no more than a few are held, and stores each.
    async fn store(
        &self,
        app: &App,
        mut setting: Setting,
        inputs: Vec<Input>,
        ask: Ask,
        all: usize,
    ) -> Result<Sum> {
        register(app, &setting.machine).await?;
        let (send, mut prepared) = tokio::sync::mpsc::channel(2);
        let reading = tokio::task::spawn_blocking(move || {
            read_all(&mut setting, &inputs, &ask, &mut |report| {
                // Nobody listens any more when storing failed, which says why.
                let _ = send.blocking_send(ingest::prepare(report)?);
                Ok(())
            })
        });
        let mut sum = Sum::default();
        let mut failed = Ok(());
        while let Some(report) = prepared.recv().await {
            match ingest::store(app, None, &report).await {
                Ok(accepted) => {
                    sum.runs += 1;
                    sum.new += usize::from(accepted.new);
                    sum.points += accepted.points;
                }
                Err(error) => {
                    failed = Err(anyhow::Error::new(error));
                    prepared.close();
                    break;
                }
            }
        }
        while prepared.recv().await.is_some() {}
        let read = reading.await.context("the thread that reads died")?;
        failed.and(read).with_context(|| {
            format!(
                "{} of {} were stored before this; importing again stores the rest",
                sum.runs,
                runs(all)
            )
        })?;
        Ok(sum)
    }
}

async fn register(app: &App, machine: &wire::Machine) -> Result<()> {
    let mut connection = app.db.acquire().await?;
    db::machine::insert_if_unknown(&mut connection, machine, app.clock.now()).await?;
    Ok(())
}

fn revisions(path: &Path) -> Result<Revisions> {
    let source = Source::on_disk(path)?;
    let name = source.name();
    let read = || Revisions::read(&mut source.open(&name)?);
    Ok(read().map_err(|problem| problem.of_file(&source.shown(&name)))?)
}

/// Makes the report of each run of all inputs.
fn read_all(
    setting: &mut Setting,
    inputs: &[Input],
    ask: &Ask,
    each: &mut dyn FnMut(wire::Report) -> Result<()>,
) -> Result<()> {
    setting.first_name = None;
    for input in inputs {
        let mut failed = None;
        let read = setting.format.read(input, ask, &mut |run| {
            let report = setting.report(run, input.revision.as_deref())?;
            if let Some(report) = report
                && let Err(error) = each(report)
            {
                let problem = Problem::whole(format!("{error:#}"));
                failed = Some(error);
                return Err(problem);
            }
            Ok(())
        });
        match failed {
            Some(error) => return Err(error.context(input.shown())),
            None => read.map_err(|problem| problem.of_file(&input.shown()))?,
        }
    }
    Ok(())
}

fn points(sum: &Sum) -> String {
    crate::format::count(sum.points, "point")
}

fn runs(count: usize) -> String {
    crate::format::count(count, "run")
}
