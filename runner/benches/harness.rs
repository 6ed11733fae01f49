//! What the harness costs: operations per CPU-second of each loop inside it against the same loop
//! bare, in interleaved pairs, with one task and with two, as processes and as threads. The goal is
//! a ratio of 0.99 or more.
//!
//! How: every loop in every shape gets pairs of short runs in turns, until the 95 % interval of its
//! median ratio is narrower than 1 % or the time is up. A virtual machine's speed drifts by more in a
//! tenth of a second than the harness costs, so short pairs say more than long ones; and no row ends
//! early for what it says, which would make the interval a wrong one. Both sides run this program, so
//! that what copies or replaces a program copies the same one.
//!
//! A word on the command line chooses loops; `BENCH_MINUTES` and `BENCH_WINDOW_MS` set the effort.
//! Models, mixed loads and allocators have no twin; `bare::WITHOUT` says why.

mod bare;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bare::{LOOPS, Loop, WITHOUT};
use scalewatch_runner::harness::{self, Mode, Placement, PointPlan};
use stats::Sample;
use wire::{Outcome, Source};

const GOAL: f64 = 0.99;
/// An interval narrower than this is narrow.
const NARROW: f64 = 0.01;
/// Pairs of a row at a time, the fewest that have a 95 % interval of their median; most pairs.
const TURN: usize = 6;
const MOST: usize = 120;
const TRIES: u32 = 10;
const BARE_ARGUMENT: &str = "__bare";

/// Mode and number of tasks.
type Shape = (Mode, u32);

const SHAPES: [Shape; 4] =
    [(Mode::Process, 1), (Mode::Process, 2), (Mode::Thread, 1), (Mode::Thread, 2)];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let words: Vec<String> = match arguments.next() {
        // As the runner does it: before any thread exists.
        Some(first) if first == harness::CHILD_ARGUMENT => harness::child_main(),
        Some(first) if first == harness::AGAIN_ARGUMENT => {
            harness::again_main(arguments.map(Into::into))
        }
        Some(first) if first == bare::programs::NEXT_ARGUMENT => {
            bare::programs::next_program(arguments)
        }
        first => first.into_iter().chain(arguments).collect(),
    };
    if let [flag, index, mode, tasks] = &words[..]
        && flag == BARE_ARGUMENT
    {
        let mode = if mode == Mode::Thread.word() { Mode::Thread } else { Mode::Process };
        let twin = &LOOPS[index.parse::<usize>()?];
        return bare::process::measure(twin, mode, tasks.parse()?, 2 * window()?, 2 * window()?);
    }
    harness::set_child_executable(std::env::current_exe()?);
    let part = words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    compare_all(part)
}

/// A number from the environment.
fn effort(name: &str, usual: u64) -> anyhow::Result<u64> {
    match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}: {text:?} is not a number")),
        Err(_) => Ok(usual),
    }
}

/// Two of them warm either side up, two are measured.
fn window() -> anyhow::Result<Duration> {
    Ok(Duration::from_millis(effort("BENCH_WINDOW_MS", 20)?))
}

fn compare_all(part: &str) -> anyhow::Result<()> {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let dir = tempfile::tempdir_in(base)?;
    let minutes = effort("BENCH_MINUTES", 14)?;
    let until = Instant::now() + Duration::from_secs(60 * minutes);
    let mut rows: Vec<Row> = Row::all().filter(|row| row.twin().name().contains(part)).collect();
    ensure!(!rows.is_empty(), "no loop's name contains {part:?}");
    eprintln!("{} rows, {minutes} minutes at most, files in {:?}", rows.len(), dir.path());
    while Instant::now() < until && rows.iter().any(Row::is_wanted) {
        for row in rows.iter_mut().filter(|row| row.is_wanted()) {
            for _ in 0..TURN {
                if Instant::now() < until && row.failure.is_none() {
                    row.measure_pair(dir.path());
                }
            }
            eprintln!("{}", row.line());
        }
    }
    print_all(&rows);
    Ok(())
}

fn print_all(rows: &[Row]) {
    println!("operations per CPU-second, bare and in the harness; goal {GOAL}");
    println!(
        "{:<44}{:>8}{:>6}{:>12}{:>12}{:>8}{:>18}{:>7}",
        "loop", "mode", "tasks", "bare", "in harness", "ratio", "95 % interval", "pairs"
    );
    rows.iter().for_each(|row| println!("{}", row.line()));
    SHAPES.into_iter().for_each(|shape| print_shape(shape, rows));
    let count = |word: &str| rows.iter().filter(|row| row.verdict() == word).count();
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    println!(
        "{} rows: {} met, {} missed, {} undecided, {failed} not to be had here",
        rows.len(),
        count("met"),
        count("missed"),
        count("undecided")
    );
    for (id, word, why) in WITHOUT {
        let word = word.map_or_else(String::new, |(name, value)| format!(" {name}={value}"));
        println!("no twin: {id}{word}: {why}");
    }
}

/// What the harness costs all loops of one shape together: the median of their ratios.
fn print_shape((mode, tasks): Shape, rows: &[Row]) {
    let ratios: Vec<f64> = rows
        .iter()
        .filter(|row| row.shape == (mode, tasks))
        .filter_map(|row| Some(row.ratio()?.0))
        .collect();
    let Some(sample) = Sample::new(&ratios) else { return };
    let interval = stats::interval::median_interval(sample, 0.95)
        .map_or_else(String::new, |i| format!(" [{:.4}, {:.4}]", i.low, i.high));
    let (median, loops) = (stats::summary::median(sample), ratios.len());
    println!("{loops} loops, {} {tasks}: median ratio {median:.4}{interval}", mode.word());
}

/// One loop in one shape.
struct Row {
    /// Which of the loops.
    index: usize,
    shape: Shape,
    /// (bare, in the harness).
    pairs: Vec<(f64, f64)>,
    failure: Option<String>,
}

impl Row {
    fn all() -> impl Iterator<Item = Row> {
        let shapes = |processes_only: bool| {
            SHAPES.into_iter().filter(move |(mode, _)| !processes_only || *mode == Mode::Process)
        };
        LOOPS.iter().enumerate().flat_map(move |(index, twin)| {
            let row = move |shape| Row { index, shape, pairs: vec![], failure: None };
            shapes(twin.processes_only).map(row)
        })
    }

    fn twin(&self) -> &'static Loop {
        &LOOPS[self.index]
    }

    /// Who goes first changes with each pair, so that a drift favours neither.
    fn measure_pair(&mut self, dir: &Path) {
        let bare = || patiently(|| run_bare(self.index, self.shape, dir));
        let inside = || patiently(|| run_inside(self.twin(), self.shape, dir));
        let pair = match self.pairs.len() % 2 {
            0 => bare().and_then(|bare| Ok((bare, inside()?))),
            _ => inside().and_then(|inside| Ok((bare()?, inside))),
        };
        match pair {
            Ok(pair) => self.pairs.push(pair),
            Err(error) => self.failure = Some(format!("{error:#}")),
        }
    }

    /// The median ratio and its 95 % interval.
    fn ratio(&self) -> Option<(f64, f64, f64)> {
        let ratios: Vec<f64> = self.pairs.iter().map(|(bare, inside)| inside / bare).collect();
        let ratios = Sample::new(&ratios)?;
        let interval = stats::interval::median_interval(ratios, 0.95)?;
        Some((stats::summary::median(ratios), interval.low, interval.high))
    }

    fn is_wanted(&self) -> bool {
        self.failure.is_none() && self.pairs.len() < MOST && !self.is_narrow()
    }

    fn is_narrow(&self) -> bool {
        self.ratio().is_some_and(|(_, low, high)| high - low < NARROW)
    }

    /// Of a narrow interval around the goal the median decides.
    fn verdict(&self) -> &'static str {
        match self.ratio() {
            _ if self.failure.is_some() => "not to be had",
            Some((_, low, _)) if low >= GOAL => "met",
            Some((_, _, high)) if high < GOAL => "missed",
            Some((ratio, ..)) if self.is_narrow() => {
                if ratio >= GOAL {
                    "met"
                } else {
                    "missed"
                }
            }
            _ => "undecided",
        }
    }

    fn line(&self) -> String {
        let (mode, tasks) = (self.shape.0.word(), self.shape.1);
        let name = format!("{:<44}{mode:>8}{tasks:>6}", self.twin().name());
        if let Some(failure) = &self.failure {
            return format!("{name}  not to be had here: {failure}");
        }
        let median = |part: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = self.pairs.iter().map(part).collect();
            Sample::new(&values).map_or(f64::NAN, stats::summary::median)
        };
        let (bare, inside) = (median(|pair| pair.0), median(|pair| pair.1));
        let ratio = self.ratio().map_or_else(
            || format!("{:>8}{:>18}", "—", "—"),
            |(ratio, low, high)| format!("{ratio:>8.4}  [{low:.4}, {high:.4}]"),
        );
        let (pairs, verdict) = (self.pairs.len(), self.verdict());
        format!("{name}{bare:>12.0}{inside:>12.0}{ratio}{pairs:>7}  {verdict}")
    }
}

/// Again where a loop received no CPU time, as happens on a busy machine.
fn patiently(run: impl Fn() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    (1..TRIES).find_map(|_| run().ok()).map_or_else(run, Ok)
}

fn run_inside(twin: &Loop, (mode, tasks): Shape, dir: &Path) -> anyhow::Result<f64> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let plan = PointPlan {
        workload: twin.id.into(),
        parameters: twin.parameters.iter().map(own).collect(),
        mode,
        tasks,
        placement: Placement::Core,
        warmup_windows: 2,
        windows: 2,
        window: window()?,
        dir: dir.into(),
    };
    let measured = match harness::measure(&plan, &mut |_, _| {})?.outcome {
        Outcome::Measured(measured) => measured,
        Outcome::Failed(failure) => anyhow::bail!("{}", failure.detail),
        Outcome::Imported(_) => anyhow::bail!("it brought values and no windows"),
    };
    let metric = measured.metrics.iter().find(|m| m.source == Source::OpsPerCpuSecond);
    let values = measured.values(metric.expect("every point has ops per CPU-second"));
    ensure!(!values.is_empty(), "no CPU time received");
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// Starts this program again for one bare loop, laid out as a child of the harness is.
fn run_bare(index: usize, (mode, tasks): Shape, dir: &Path) -> anyhow::Result<f64> {
    let dir = tempfile::tempdir_in(dir)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([BARE_ARGUMENT, &index.to_string(), mode.word(), &tasks.to_string()]);
    command.current_dir(dir.path()).stderr(Stdio::piped());
    let fix_addresses = || {
        // SAFETY: a plain system call between fork and exec.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    let output = unsafe { command.pre_exec(fix_addresses) }.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default();
    ensure!(output.status.success(), "bare: {} {said}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
