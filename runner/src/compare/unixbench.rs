//! The report that `UnixBench` prints: for each count of copies the scores, then the index. A
//! window is a pass; scores and indexes are those of `stats::unixbench`.

use std::fmt::Write;

use stats::unixbench::{Pass, Score, index, overall, score};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use wire::{Measured, Outcome, Point, Window};

use crate::workloads::unixbench::{Rate, SHARED_FD, TESTS, Test, of_point};

/// Where and when it was measured.
#[derive(Debug, Clone)]
pub struct Heading {
    /// What people call the machine.
    pub system: String,
    /// Release of the kernel, or what stands for it.
    pub kernel: String,
    /// `uname -m`.
    pub architecture: String,
    /// CPU model.
    pub cpu_model: String,
    /// Hardware threads.
    pub threads: u32,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub finished_at: String,
}

impl Heading {
    /// The heading of a stored run.
    pub fn of(report: &wire::Report) -> Heading {
        let identity = &report.machine.identity;
        let kernel = report.environment.0.get("kernel.release");
        Heading {
            system: report.machine.name.clone(),
            kernel: kernel.unwrap_or(&report.revision.subject).clone(),
            architecture: identity.architecture.clone(),
            cpu_model: identity.cpu_model.clone(),
            threads: identity.threads,
            started_at: report.started_at.clone(),
            finished_at: report.finished_at.clone(),
        }
    }
}

/// The reports of a run: one for each count of copies, and one more where both generations of the
/// system call test were measured, because they have one name.
pub fn render(heading: &Heading, points: &[Point]) -> String {
    let mut tests: Vec<(&Test, &Point)> = points.iter().filter_map(as_test).collect();
    tests.sort_by_key(|(test, point)| {
        (point.tasks, TESTS.iter().position(|other| other.name == test.name))
    });
    let mut out = String::new();
    for of_copies in tests.chunk_by(|a, b| a.1.tasks == b.1.tasks) {
        let (shared, others): (Vec<_>, Vec<_>) =
            of_copies.iter().partition(|(test, _)| test.workload == SHARED_FD);
        let both = others.iter().any(|(test, _)| shared.iter().any(|s| s.0.title == test.title));
        if both {
            out.push_str(&report(heading, &others, "6.0.0"));
            out.push_str(&report(heading, &shared, "5.1.3"));
        } else {
            let version = if shared.is_empty() { "6.0.0" } else { "5.1.3" };
            out.push_str(&report(heading, of_copies, version));
        }
    }
    if out.is_empty() { "no test of UnixBench was measured in processes\n".into() } else { out }
}

/// `UnixBench` knows processes only.
fn as_test(point: &Point) -> Option<(&'static Test, &Point)> {
    let in_processes = point.parameters.get("mode").is_none_or(|mode| mode == "process");
    Some((of_point(&point.workload, &point.parameters)?, point)).filter(|_| in_processes)
}

fn report(heading: &Heading, tests: &[(&'static Test, &Point)], version: &str) -> String {
    let mut out = banner(heading, version);
    let copies = tests.first().map_or(0, |(_, point)| point.tasks);
    let cpus = heading.threads;
    let _ = writeln!(
        out,
        "{cpus} CPU{} in system; running {copies} parallel cop{} of tests\n",
        if cpus == 1 { "" } else { "s" },
        if copies == 1 { "y" } else { "ies" },
    );
    for (test, point) in tests {
        let _ = match score_of(test, point) {
            Some(score) => writeln!(
                out,
                "{:<40} {:>12.1} {:<5} ({:.1} s, {} samples)",
                test.title,
                score.value,
                test.rate.unit(),
                score.seconds,
                score.passes
            ),
            None => writeln!(out, "{:<40} {:>12}", test.title, "no result"),
        };
    }
    out.push_str(&indexes(tests));
    out.push('\n');
    out
}

fn banner(heading: &Heading, version: &str) -> String {
    let mut out = format!("{}\n", "=".repeat(72));
    let _ = writeln!(out, "   UnixBench's tests, written afresh (as in version {version})\n");
    let _ = writeln!(out, "   System: {}", heading.system);
    let _ = writeln!(out, "   OS: GNU/Linux -- {}", heading.kernel);
    let _ = writeln!(out, "   Machine: {}", heading.architecture);
    let _ = writeln!(out, "   CPU 0: {}\n", heading.cpu_model);
    let _ = writeln!(out, "{}", "-".repeat(72));
    let day = format_description!("[weekday repr:short] [month repr:short] [day] [year] ");
    let hour = format_description!("[hour]:[minute]:[second]");
    let time = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let started = time(&heading.started_at);
    let shown = |at: Option<OffsetDateTime>| at.and_then(|at| at.format(hour).ok());
    let _ = writeln!(
        out,
        "Benchmark Run: {}{} - {}",
        started.and_then(|at| at.format(day).ok()).unwrap_or_default(),
        shown(started).unwrap_or_default(),
        shown(time(&heading.finished_at)).unwrap_or_default()
    );
    out
}

/// The block of indexes; nothing where no test has one.
fn indexes(tests: &[(&'static Test, &Point)]) -> String {
    let indexed: Vec<(&Test, &Point, f64)> =
        tests.iter().filter_map(|(test, point)| Some((*test, *point, test.baseline?))).collect();
    if indexed.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n{:<40} {:>12} {:>12} {:>8}\n",
        "System Benchmarks Partial Index", "BASELINE", "RESULT", "INDEX"
    );
    let mut all = vec![];
    for (test, point, baseline) in indexed {
        let _ = match score_of(test, point) {
            Some(Score { value, .. }) => {
                let index = index(value, baseline);
                all.push(index);
                writeln!(out, "{:<40} {baseline:>12.1} {value:>12.1} {index:>8.1}", test.title)
            }
            None => writeln!(out, "{:<40} {baseline:>12.1} {:>12} {:>8}", test.title, "---", "---"),
        };
    }
    if let Some(overall) = overall(&all) {
        let name = "System Benchmarks Index Score (Partial Only)";
        let _ = writeln!(out, "{:<40} {:>12} {:>12} {:>8}", "", "", "", "========");
        let _ = writeln!(out, "{name:<66} {overall:>8.1}");
    }
    out
}

/// The score of a measured test.
pub fn score_of(test: &Test, point: &Point) -> Option<Score> {
    let Outcome::Measured(Measured { windows, .. }) = &point.outcome else { return None };
    let ops = |window: &Window| window.ops.iter().map(|&ops| ops as f64).sum::<f64>();
    let passes = windows.iter().map(|window| {
        let seconds = window.dt_ns as f64 / 1e9;
        match test.rate {
            Rate::Loops => Pass { count: ops(window), seconds },
            Rate::Kilobytes(buffer) => {
                Pass { count: ops(window) * f64::from(buffer) / 1024.0 / seconds, seconds }
            }
        }
    });
    let timebase = if test.rate == Rate::Loops { 1.0 } else { 0.0 };
    score(&passes.collect::<Vec<_>>(), timebase)
}
