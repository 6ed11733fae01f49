//! `import`: results of other tools → runs, stored as if a runner had sent them.
//!
//! Everything is read and checked before anything is stored. Each run is stored in a transaction of
//! its own, under a UUID that follows from its content: what breaks off is taken up by importing again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::app::App;
use crate::clock::Clock;
use crate::config::Config;
use crate::db;
use crate::import::{
    Ask, Format, Given, Input, Mapping, Meaning, Problem, Revisions, Setting, Source, inputs,
    machine_of,
};
use crate::ingest;
use crate::model::revision::{parse_subject, subject_word};

#[derive(Debug, clap::Args)]
pub struct Import {
    /// What the files are
    #[arg(value_enum, value_name = "FORMAT")]
    format: Format,
    /// Files or folders; each file is a run, unless its format holds several
    #[arg(required = true, value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
    /// Read and check everything, and say what would be stored
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    code: Code,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    table: TableOptions,
}

/// Where it ran, and whose code.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Machine and project")]
struct Whose {
    /// Id or name of a registered machine
    #[arg(long, required_unless_present = "machine_file", conflicts_with = "machine_file")]
    machine: Option<String>,
    /// A machine as `scalewatch-runner machine --json` prints it, or `{"name", "identity"}`;
    /// registered when it is not
    #[arg(long, value_name = "FILE")]
    machine_file: Option<PathBuf>,
    /// Name of the project
    #[arg(long)]
    project: String,
    /// What a new project tests: kernel, program or model
    #[arg(long, value_parser = subject)]
    subject: Option<wire::Subject>,
    /// When it was measured, RFC 3339, where the files do not say; else the committer time
    #[arg(long, value_name = "TIME", value_parser = time_of)]
    measured_at: Option<OffsetDateTime>,
    /// A fact of the environment, e.g. kernel.release=6.9.0
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
}

/// Which code ran.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Revision")]
struct Code {
    /// Commit of everything that is imported; with --revisions, any name in there
    #[arg(long, conflicts_with = "by_revision")]
    commit: Option<String>,
    /// Each file, or each entry of a folder, is named for its revision
    #[arg(long)]
    by_revision: bool,
    /// The branch's history, oldest first, as
    /// `git log --first-parent --reverse --format='%H%x09%cI%x09%D%x09%s'` prints it
    #[arg(long, value_name = "FILE")]
    revisions: Option<PathBuf>,
    /// Branch [main]
    #[arg(long)]
    branch: Option<String>,
    /// Position of the commit in the branch's first-parent order
    #[arg(long, requires = "commit")]
    position: Option<i64>,
    /// Committer time, RFC 3339
    #[arg(long, value_name = "TIME", requires = "commit", value_parser = checked_time)]
    committed_at: Option<String>,
    /// First line of the commit message
    #[arg(long, value_name = "TEXT", requires = "commit")]
    message: Option<String>,
}

/// What the results are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Workloads and metrics")]
struct What {
    /// Name of the workload, in place of the file's
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Tasks where the files do not tell
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(wire::limits::TASKS)))]
    tasks: u32,
    /// The parameter that is the number of tasks
    #[arg(long, value_name = "PARAMETER")]
    tasks_from: Option<String>,
    /// Unit of a metric that the format does not tell; NAME may end in *
    #[arg(long = "unit", value_name = "NAME=UNIT")]
    units: Vec<String>,
    /// Which way of it is better, where the format does not tell: higher or lower
    #[arg(long = "direction", value_name = "NAME=WAY")]
    directions: Vec<String>,
    /// Leave a metric out; NAME may end in *
    #[arg(long = "skip", value_name = "NAME")]
    skipped: Vec<String>,
}

/// What only some formats have.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Single formats")]
struct TableOptions {
    /// csv, ndjson: what a column is, e.g. workload=test or metric.ops=rate
    #[arg(long = "map", value_name = "FIELD=COLUMN")]
    maps: Vec<String>,
    /// csv: what stands between columns
    #[arg(long, default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// phoronix: the one system to import
    #[arg(long, value_name = "SYSTEM")]
    column: Option<String>,
    /// criterion: the measurement to import [new]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
}

fn subject(word: &str) -> Result<wire::Subject> {
    parse_subject(word).context("is none of kernel, program, model")
}

fn time_of(text: &str) -> Result<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).context("is not a time like 2026-03-01T12:00:00Z")
}

fn checked_time(text: &str) -> Result<String> {
    time_of(text).map(|_| text.to_owned())
}

fn pair(text: &str) -> Result<(String, String)> {
    let (key, value) = text.split_once('=').context("is not KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [one] if one.is_ascii() && !matches!(one, b'"' | b'\r' | b'\n') => Ok(*one),
        _ if text == "\\t" => Ok(b'\t'),
        _ => bail!("is not one character"),
    }
}

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
        let app = App { db: pool.clone(), clock: Clock::system(), config: Arc::new(config) };
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
