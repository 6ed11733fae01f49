//! A profile of the tasks by perf(1), recorded once everything else is measured, while they go on.
//!
//! perf follows the tasks alone, and what they start: nothing else of the machine is in it. It
//! writes into an open file without a name, so whatever happens, none is left behind.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::perf;

/// Samples a second of CPU time; a prime, so as not to march in step with timers.
const FREQUENCY: &str = "997";

/// How often a look is taken at whether the point is to end.
const PATIENCE: Duration = Duration::from_millis(50);

/// Records `threads` for `length` into `file`. `ends` lets the tasks work for
/// at most the time given and says whether the point must end now. Answers the event sampled.
///
/// # Errors
/// Why there is no profile, in a sentence for people.
pub(crate) fn record(
    threads: &[libc::pid_t],
    length: Duration,
    file: &Path,
    mut ends: impl FnMut(Duration) -> bool,
) -> Result<&'static str, String> {
    let event = if perf::has_cycles() { "cycles" } else { "cpu-clock" };
    let ids: Vec<String> = threads.iter().map(ToString::to_string).collect();
    let perf = Command::new("perf")
        .args(["record", "-q", "-B", "-N", "-g", "-F", FREQUENCY, "-e", event])
        .args(["-t", &ids.join(","), "-o"])
        .arg(file)
        .args(["--", "sleep", &length.as_secs_f64().to_string()])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut perf = perf.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "perf is not installed".to_owned(),
        _ => format!("perf cannot be started: {error}"),
    })?;
    let status = loop {
        match perf.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if ends(PATIENCE) => {
                end(&mut perf);
                return Err("the point ended before its profile did".into());
            }
            Ok(None) => {}
            Err(error) => return Err(format!("perf cannot be waited for: {error}")),
        }
    };
    match status.success() {
        true => Ok(event),
        false => Err(format!("perf record refused: {}", said(&mut perf))),
    }
}

fn end(perf: &mut Child) {
    // SAFETY: a child that has not been waited for. It ends the command it started, too.
    unsafe { libc::kill(perf.id() as libc::pid_t, libc::SIGTERM) };
    let _ = perf.wait();
}

/// What perf said, on one line.
fn said(perf: &mut Child) -> String {
    let mut bytes = vec![];
    if let Some(errors) = &mut perf.stderr {
        let _ = errors.take(4_000).read_to_end(&mut bytes);
    }
    let words = String::from_utf8_lossy(&bytes);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.is_empty() {
        true => "it gave no reason".into(),
        false => words.chars().take(500).collect(),
    }
}
