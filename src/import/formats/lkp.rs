//! A tree of LKP results. A folder with `stats.json` is one run; where runs were only pooled, each column
//! of `matrix.json` is one. The code, the test and the surroundings come from `job.yaml` and from the
//! path `<test>/<parameters>/<machine>/<rootfs>/<kconfig>/<compiler>/<commit>`. Keys of monitors, and those
//! that follow from another, are no results and are left out.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::Unit;

use super::super::format::Each;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome, Tasks, Told};
use super::super::json;
use super::super::problem::{Problem, Result};
use super::super::source::Source;
use super::super::text::{self, Lines};
use super::lkp_keys::{self, Meaning};

/// Reads a tree: a run for each folder or column.
///
/// # Errors
/// The file and path that is wrong.
pub fn read(source: &Source, each: &mut Each<'_>) -> Result<()> {
    let files = source.files()?;
    let folders = |name: &str| -> Vec<&str> {
        let in_folder = files.iter().filter_map(|file| file.strip_suffix(name));
        in_folder.filter(|folder| folder.is_empty() || folder.ends_with('/')).collect()
    };
    let runs = folders("stats.json");
    let mut any = false;
    for folder in &runs {
        let file = format!("{folder}stats.json");
        let job = Job::of(source, &files, folder)?;
        let found = of_stats(source, &file, &job).map_err(|e| e.of_file(&source.shown(&file)))?;
        any |= hand_over(found, each)?;
    }
    for name in ["matrix.json", "matrix.json.gz"] {
        for folder in folders(name) {
            if runs.iter().any(|run| run.starts_with(folder)) {
                continue;
            }
            let file = format!("{folder}{name}");
            let job = Job::of(source, &files, folder)?;
            let found = of_matrix(source, &file, &job);
            for run in found.map_err(|problem| problem.of_file(&source.shown(&file)))? {
                any |= hand_over(run, each)?;
            }
        }
    }
    match any {
        true => Ok(()),
        false => {
            let problem =
                "holds no result of LKP: no stats.json or matrix.json with a key of its test";
            Err(Problem::whole(problem).of_file(&source.shown))
        }
    }
}

fn hand_over(run: FoundRun, each: &mut Each<'_>) -> Result<bool> {
    let any = !run.points.is_empty();
    if any {
        each(run)?;
    }
    Ok(any)
}

fn of_stats(source: &Source, file: &str, job: &Job) -> Result<FoundRun> {
    let stats: BTreeMap<String, Value> = json::read(&mut source.open(file)?)?;
    let origin = file.trim_end_matches("/stats.json").rsplit('/').next().unwrap_or_default();
    let numbers = stats.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_f64()?)));
    job.run(origin, numbers)
}

/// LKP fills what a run lacks with 0, and leaves out keys that are 0 in every run: so 0 is no value.
fn of_matrix(source: &Source, file: &str, job: &Job) -> Result<Vec<FoundRun>> {
    let matrix: BTreeMap<String, Value> = json::read(&mut source.open(file)?)?;
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (key, value) in &matrix {
        let Some(list) = value.as_array() else {
            return Err(Problem::at(key, "is not a list with one number a run"));
        };
        if let Some(numbers) = list.iter().map(Value::as_f64).collect() {
            columns.insert(key, numbers);
        }
    }
    let sources = matrix.get("stats_source").and_then(Value::as_array);
    let runs = columns.values().map(Vec::len).max().unwrap_or(0);
    if runs > wire::limits::POINTS {
        let most = format!("has more than {} runs", wire::limits::POINTS);
        return Err(Problem::whole(most));
    }
    let run = |i: usize| {
        let told = sources.and_then(|sources| sources.get(i)?.as_str());
        let origin = told.map_or_else(|| i.to_string(), str::to_owned);
        let at = |(key, column): (&&'_ str, &Vec<f64>)| {
            Some((*key, column.get(i).copied().filter(|value| *value != 0.0)?))
                .map(|(k, v)| (k.to_owned(), v))
        };
        let numbers: Vec<(String, f64)> = columns.iter().filter_map(at).collect();
        job.run(&origin, numbers.iter().map(|(key, value)| (key.as_str(), *value)))
    };
    (0..runs).map(run).collect()
}

/// What is known about a folder of results besides its numbers.
struct Job {
    test: String,
    parameters: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    tasks: Tasks,
    commit: Option<String>,
}

/// Facts of a job that say where it ran.
const SURROUNDINGS: [&str; 6] =
    ["tbox_group", "rootfs", "kconfig", "compiler", "ucode", "cpufreq_governor"];

/// Settings of a job that say what ran.
const SETTINGS: [&str; 6] = ["disk", "fs", "load", "nr_threads", "iosched", "md"];

impl Job {
    fn of(source: &Source, files: &[String], folder: &str) -> Result<Job> {
        let mut job = Job::of_path(&source.shown(folder));
        let beside = format!("{folder}job.yaml");
        let above = folder.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above);
        let above = if above.is_empty() { "job.yaml".into() } else { format!("{above}/job.yaml") };
        if let Some(file) = [beside, above].into_iter().find(|file| files.contains(file)) {
            let read = || Lines::of(&mut source.open(&file)?).collect_yaml();
            job.add(&read().map_err(|problem| problem.of_file(&source.shown(&file)))?);
        }
        match job.test.is_empty() {
            false => Ok(job),
            true => Err(Problem::whole(
                "which test it is is told neither by a job.yaml nor by the path above a commit: give the \
                 folder with its path below the result store",
            )
            .of_file(&source.shown(folder))),
        }
    }

    fn of_path(path: &str) -> Job {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let is_commit =
            |part: &&str| part.len() == 40 && part.bytes().all(|b| b.is_ascii_hexdigit());
        let at = parts.iter().rposition(is_commit);
        let part = |before: usize| at.and_then(|at| parts.get(at.checked_sub(before)?).copied());
        let named = [(4, "tbox_group"), (3, "rootfs"), (2, "kconfig"), (1, "compiler")];
        let facts = named
            .iter()
            .filter_map(|(before, key)| Some(((*key).to_owned(), part(*before)?.to_owned())));
        let parameters = part(5).map(|values| ("path_params".to_owned(), values.to_owned()));
        Job {
            test: part(6).unwrap_or_default().to_owned(),
            parameters: parameters.into_iter().collect(),
            environment: facts.collect(),
            tasks: Tasks::Untold,
            commit: part(0).map(str::to_owned),
        }
    }

    /// What the job says wins over the path, which cuts values short.
    fn add(&mut self, yaml: &BTreeMap<String, String>) {
        if let Some(test) = yaml.get("testcase") {
            test.clone_into(&mut self.test);
        }
        let of_test = format!("{}.", self.test);
        let own: BTreeMap<String, String> = yaml
            .iter()
            .filter_map(|(key, value)| {
                Some((key.strip_prefix(&of_test)?.to_owned(), value.clone()))
            })
            .chain(
                yaml.iter()
                    .filter(|(key, _)| SETTINGS.contains(&key.as_str()))
                    .map(|(key, value)| (key.clone(), value.clone())),
            )
            .collect();
        if !own.is_empty() {
            self.parameters = own;
        }
        for key in SURROUNDINGS {
            self.environment.extend(yaml.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        if let Some(commit) = yaml.get("commit") {
            self.commit = Some(commit.clone());
        }
        if let Some(tasks) = yaml.get("nr_task") {
            self.tasks = match tasks.strip_suffix('%').map(str::parse::<f64>) {
                Some(Ok(percent)) if percent > 0.0 => Tasks::PercentOfThreads(percent),
                _ => text::tasks(tasks).map_or(Tasks::Untold, Tasks::Count),
            };
        }
    }

    fn run<'a>(
        &self,
        origin: &str,
        numbers: impl Iterator<Item = (&'a str, f64)>,
    ) -> Result<FoundRun> {
        let prefix = format!("{}.", self.test);
        let (mut metrics, mut left_out) = (Vec::new(), 0);
        for (key, value) in numbers {
            let metric = key.strip_prefix(&prefix);
            match metric.map(|metric| (metric, lkp_keys::meaning(metric))) {
                None | Some((_, Meaning::Beside)) => left_out += 1,
                Some((metric, Meaning::Result(unit, direction))) => {
                    metrics.push(FoundMetric::new(metric, unit, direction, vec![value]));
                }
                Some((metric, Meaning::Unknown)) => {
                    metrics.push(FoundMetric::untold(metric, vec![value]));
                }
            }
        }
        // What is a ratio of others is not what people look at first.
        metrics.sort_by_key(|metric| metric.unit == Some(Unit::Ratio));
        let mut run = FoundRun {
            origin: origin.to_owned(),
            revision: Told { commit: self.commit.clone(), ..Told::default() },
            environment: self.environment.clone(),
            left_out,
            ..FoundRun::default()
        };
        if !metrics.is_empty() {
            let point = FoundPoint::new("its keys", self.test.clone(), Outcome::Values(metrics));
            let parameters = self.parameters.clone();
            run.push(FoundPoint { parameters, tasks: self.tasks, ..point })?;
        }
        Ok(run)
    }
}

impl Lines<'_> {
    /// The scalars of a job: `key` of the outermost level, and `key.inner` one level down. A job is
    /// written by a program, one scalar a line; what is not of that shape is passed over.
    fn collect_yaml(mut self) -> Result<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        let mut outer = String::new();
        while let Some((_, line)) = self.read()? {
            let Some((key, value)) = line.split_once(':') else { continue };
            let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
            let (name, value) = (plain(key), plain(value));
            if name.starts_with(['#', '-']) {
                continue;
            }
            let inside = key.len() - key.trim_start().len();
            match (inside, value.is_empty()) {
                (0, true) => outer = name,
                (0, false) => {
                    outer.clear();
                    found.insert(name, value);
                }
                (2, false) if !outer.is_empty() => {
                    found.insert(format!("{outer}.{name}"), value);
                }
                _ => {}
            }
        }
        Ok(found)
    }
}
