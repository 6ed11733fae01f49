//! `gate`: one verdict on a commit, for CI.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use wire::{AskedRevision, Job, JobRequest, Plan, ProjectComparison};

use super::machine::Subject;
use super::register::token_from_environment;
use super::upload::Address;
use super::{print, tell, values};
use crate::agent::{Client, StateDir, Token, check_writable, write_atomically};
use crate::exit::Exit;
use crate::gate::wait::{Gate, Patience, encoded};
use crate::gate::{exit_of, junit, markdown, text};
use crate::run::revision::Given;

/// Say whether a commit may pass: 0 no regression, 1 regression, 3 not enough data or no baseline
///
/// With workloads the service is asked to measure base and head in turns on one machine, and the gate
/// waits for it. Without any it waits for jobs of the two commits that are open already. Then the
/// service judges all curves that both sides have, and the verdict is printed. A missing baseline, a
/// curve on one side alone and a regression that is not confirmed never pass.
#[derive(clap::Args)]
pub struct Args {
    /// Workloads to be measured, ids as `list` shows them
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Project
    #[arg(long, value_name = "NAME")]
    project: String,
    /// What is compared with: a commit, with --repo any name of a revision; without workloads also a
    /// range `A..B` or runs, `run:UUID,UUID`
    #[arg(long, value_name = "REVISION")]
    base: String,
    /// What is judged, likewise
    #[arg(long, value_name = "REVISION")]
    head: String,
    /// Repository to read commit, branch, parents, time, subject and position from
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// Branch [default: the one checked out in --repo]
    #[arg(long)]
    branch: Option<String>,
    /// What the project tests; needed where the service does not know the project yet
    #[arg(long, value_enum)]
    subject: Option<Subject>,
    /// Id or name of the machine to measure on; without workloads the id of the one that counts
    #[arg(long, value_name = "MACHINE", conflicts_with = "label")]
    machine: Option<String>,
    /// Measure on any machine that carries this label
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    #[command(flatten, next_help_heading = "What to measure")]
    plan: PlanArgs,
    /// Judge this metric [default: the first of each workload]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Compare although the environments differ: the environment is what is studied
    #[arg(long)]
    across_environments: bool,
    #[command(flatten, next_help_heading = "How long to wait")]
    waiting: Waiting,
    #[command(flatten, next_help_heading = "What to do with the verdict")]
    output: Output,
    /// File that holds a token of scope submit and nothing else [default: `SCALEWATCH_TOKEN`]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    service: Address,
}

#[derive(clap::Args)]
struct PlanArgs {
    /// Task counts: numbers, `max`, or `A..B`
    #[arg(long, value_name = "COUNTS")]
    tasks: Option<String>,
    /// `process`, `thread` or `both`
    #[arg(long, value_parser = ["process", "thread", "both"])]
    mode: Option<String>,
    /// Where tasks run: `core`, `spread`, `pu`, `none` or `list:0,2`
    #[arg(long)]
    placement: Option<String>,
    /// A parameter
    #[arg(short, long = "parameter", value_name = "KEY=VALUE", value_parser = values::pair)]
    parameters: Vec<(String, String)>,
    /// A parameter that takes several values, each a curve of its own
    #[arg(long, value_name = "KEY=V1,V2", value_parser = values::sweep)]
    param_sweep: Vec<(String, Vec<String>)>,
    /// Windows measured at each point
    #[arg(long, value_name = "N")]
    windows: Option<u32>,
    /// Length of a window, e.g. 250ms or 1s
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    window: Option<Duration>,
    /// Windows thrown away first at each point
    #[arg(long, value_name = "N")]
    warmup: Option<u32>,
    /// Do not measure the controls before and after each run
    #[arg(long)]
    no_controls: bool,
    /// Runs of each side
    #[arg(long, default_value_t = 5, value_name = "N")]
    runs: u32,
    /// Within the project the higher goes first, −100 to 100
    #[arg(long, default_value_t = 0, value_name = "N", allow_negative_numbers = true)]
    priority: i32,
    /// Key by which the service knows the request again, so that a pipeline that is started twice
    /// measures once [default: made at random]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(clap::Args)]
struct Waiting {
    /// Longest time to wait for jobs
    #[arg(long, default_value = "1h", value_name = "TIME", value_parser = values::duration)]
    wait: Duration,
    /// Longest time that the service may be out of reach
    #[arg(long, default_value = "2m", value_name = "TIME", value_parser = values::duration)]
    outage: Duration,
}

#[derive(clap::Args)]
struct Output {
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write the verdict into a file as well, e.g. `junit=gate.xml`; any number of them
    #[arg(long, value_name = "FORMAT=FILE")]
    output: Vec<OutputFile>,
    /// Print the values, every inequality and the line that decided, of each point
    #[arg(long)]
    explain: bool,
}

/// The forms of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Plain text
    Text,
    /// Markdown for a comment, shorter than 65,000 characters, the whole table linked
    Markdown,
    /// The XML in which CI reads the outcome of tests
    Junit,
    /// Everything, for programs
    Json,
}

#[derive(Clone)]
struct OutputFile {
    format: Format,
    path: PathBuf,
}

impl FromStr for OutputFile {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<OutputFile> {
        let (format, path) = values::pair(text)?;
        let format = Format::from_str(&format, false)
            .map_err(|_| anyhow::anyhow!("{format:?} is none of text, markdown, junit, json"))?;
        Ok(OutputFile { format, path: path.into() })
    }
}

impl Format {
    fn of(self, compared: &ProjectComparison, explain: bool) -> anyhow::Result<String> {
        Ok(match self {
            Format::Text => text::text(compared, explain),
            Format::Markdown => markdown::markdown(compared),
            Format::Junit => junit::junit(compared)?,
            Format::Json => {
                serde_json::to_string_pretty(compared).context("cannot write JSON")? + "\n"
            }
        })
    }
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    for file in &args.output.output {
        check_writable(&file.path)?;
    }
    let client = args.client()?;
    let patience = Patience { jobs: args.waiting.wait, outage: args.waiting.outage };
    let gate = Gate { client: &client, patience, say: tell };
    let (base, head) = (args.revision(&args.base)?, args.revision(&args.head)?);
    let jobs = match args.workloads.is_empty() {
        true => gate.open_jobs(&args.project, &args.commits(&base, &head))?,
        false => {
            let request = args.request(&base, &head)?;
            let key = args.plan.key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
            gate.submit(&request, &key)?
        }
    };
    let done = gate.wait_for(jobs)?;
    let query = args.query(&base, &head, done.first());
    let compared = gate.compare(&args.project, &query)?;
    for file in &args.output.output {
        let shown = file.format.of(&compared, args.output.explain)?;
        write_atomically(&file.path, shown.as_bytes(), 0o644)?;
    }
    print(&args.output.format.of(&compared, args.output.explain)?)?;
    if args.output.format != Format::Text {
        tell(&format!("gate: {}", compared.words));
    }
    Ok(exit_of(compared.outcome))
}

impl Args {
    fn client(&self) -> anyhow::Result<Client> {
        let token = match &self.token_file {
            Some(file) => Some(Token::read(file)?),
            None => token_from_environment()?,
        };
        self.service.client_with(token, &StateDir::locate()?)
    }

    /// The revision in full where there is a repository, else what was typed.
    fn revision(&self, asked: &str) -> anyhow::Result<AskedRevision> {
        let is_commit = |text: &str| {
            (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if self.repo.is_some() && !asked.starts_with("run:") && !asked.contains("..") {
            let given = Given {
                project: Some(self.project.clone()),
                subject: self.subject.map(Into::into),
                repo: self.repo.clone(),
                commit: Some(asked.to_owned()),
                branch: self.branch.clone(),
                ..Given::default()
            };
            let found = given.resolve(None)?.context("the repository gives a revision")?;
            return Ok(found.1.into());
        }
        ensure!(
            self.workloads.is_empty() || is_commit(asked),
            "{asked:?} is not the 7 to 64 hex digits of a commit; --repo takes any name"
        );
        Ok(AskedRevision {
            commit: asked.to_ascii_lowercase(),
            branch: self.branch.clone(),
            ..AskedRevision::default()
        })
    }

    /// The commits whose open jobs are waited for; a range or runs have none.
    fn commits<'a>(&self, base: &'a AskedRevision, head: &'a AskedRevision) -> Vec<&'a str> {
        let is_hex = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        [&*base.commit, &*head.commit].into_iter().filter(is_hex).collect()
    }

    fn request(&self, base: &AskedRevision, head: &AskedRevision) -> anyhow::Result<JobRequest> {
        let plan = &self.plan;
        let mut parameters = BTreeMap::new();
        for (key, value) in &plan.parameters {
            let twice = parameters.insert(key.clone(), value.clone()).is_some();
            ensure!(!twice, "parameter {key} is given twice; --param-sweep takes several values");
        }
        if self.machine.is_none() && self.label.is_none() {
            bail!("say where to measure, by --machine or --label");
        }
        let window_ms = plan.window.map(|window| u32::try_from(window.as_millis()));
        let request = JobRequest {
            project: self.project.clone(),
            subject: self.subject.map(Into::into),
            revision: Some(head.clone()),
            base: Some(base.clone()),
            range: None,
            plan: Plan {
                workloads: self.workloads.clone(),
                tasks: plan.tasks.clone(),
                mode: plan.mode.clone(),
                placement: plan.placement.clone(),
                parameters,
                sweep: plan.param_sweep.iter().cloned().collect(),
                windows: plan.windows,
                window_ms: window_ms.transpose().context("--window is too long")?,
                warmup: plan.warmup,
                controls: plan.no_controls.then_some(false),
            },
            machine: self.machine.clone(),
            label: self.label.clone(),
            runs: Some(plan.runs),
            priority: Some(plan.priority),
            deadline: None,
            limit_s: None,
        };
        request.check().context("the request is not valid")?;
        Ok(request)
    }

    /// What the service is asked to compare: where a job was done, on its machine.
    fn query(&self, base: &AskedRevision, head: &AskedRevision, job: Option<&Job>) -> String {
        let mut query = format!("base={}&head={}", encoded(&base.commit), encoded(&head.commit));
        let measured_on = job.filter(|_| !self.workloads.is_empty());
        let machine = measured_on.and_then(|job| job.machine.clone()).or(self.machine.clone());
        let workload = match self.workloads.as_slice() {
            // A test of will-it-scale is a workload under another name.
            [one] if !one.starts_with("wis/") => Some(one.clone()),
            _ => None,
        };
        let across = self.across_environments.then(|| "across".to_owned());
        let branch =
            self.branch.clone().filter(|_| self.base.contains("..") || self.head.contains(".."));
        let rest = [
            ("machine", machine),
            ("workload", workload),
            ("metric", self.metric.clone()),
            ("branch", branch),
            ("environments", across),
            ("why", self.output.explain.then(|| "true".to_owned())),
        ];
        for (key, value) in rest {
            if let Some(value) = value {
                query += &format!("&{key}={}", encoded(&value));
            }
        }
        query
    }
}
