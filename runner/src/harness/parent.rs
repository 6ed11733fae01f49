//! The caller's side of a point: makes the scratch folder, starts the child, reads its lines.
//!
//! The child is this program again with one hidden argument, so that it has one thread when it
//! forks and the address layout can be fixed before it starts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::Context;
use wire::{Failure, Outcome, Point};

use super::child::CHILD_ARGUMENT;
use super::fault::Fault;
use super::job::{Job, Recording};
use super::manner::Manner;
use super::message::Message;
use super::plan::PointPlan;
use super::scratch::Scratch;

/// Set in the child: a program that measures from within a child would start itself for ever.
const INSIDE_CHILD: &str = "SCALEWATCH_INSIDE_POINT";
/// Longest silence of the child beyond the length of a window: its own limits are shorter.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time the child gets to end its tasks when told to.
const LAST_WORDS: Duration = Duration::from_secs(5);

static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// Names the `scalewatch-runner` executable that children run, for programs that are not it
/// themselves. Without it the variable `SCALEWATCH_RUNNER` counts, else the running program.
/// The first call wins.
pub fn set_child_executable(path: impl Into<PathBuf>) {
    let _ = EXECUTABLE.set(path.into());
}

fn executable() -> PathBuf {
    EXECUTABLE
        .get()
        .cloned()
        .or_else(|| std::env::var_os("SCALEWATCH_RUNNER").map(PathBuf::from))
        .and_then(|path| std::path::absolute(path).ok())
        .unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// Measures one point in a child process. Failure is data: a task that fails, a child that dies and
/// a time-out all come back as [`wire::Outcome::Failed`] inside the point. `on_window` is called in
/// the parent after each window, warm-up included, with (windows done; what each task did in it).
///
/// # Errors
/// Only what makes the plan impossible to start: an unknown workload, parameter or CPU, a number
/// out of its range.
pub fn measure(
    plan: &PointPlan,
    on_window: &mut dyn FnMut(u32, &wire::Window),
) -> anyhow::Result<wire::Point> {
    measure_as(plan, &Manner::default(), on_window)
}

/// As [`measure`], in this manner.
///
/// # Errors
/// As [`measure`].
pub fn measure_as(
    plan: &PointPlan,
    manner: &Manner,
    on_window: &mut dyn FnMut(u32, &wire::Window),
) -> anyhow::Result<wire::Point> {
    Ok(measure_and_profile(plan, manner, on_window)?.0)
}

/// What perf recorded of a point: the file and the event sampled, or why there is none.
pub type Recorded = Result<(File, String), String>;

/// As [`measure_as`]; with what perf recorded, where the manner wants it. Without perf the point is
/// as good as ever.
///
/// # Errors
/// As [`measure`].
pub fn measure_and_profile(
    plan: &PointPlan,
    manner: &Manner,
    on_window: &mut dyn FnMut(u32, &wire::Window),
) -> anyhow::Result<(wire::Point, Option<Recorded>)> {
    let Some(length) = manner.profile else {
        return Ok((run(plan, manner, None, on_window)?.0, None));
    };
    let file = tempfile::tempfile().context("cannot make a file for the profile")?;
    let recording = Recording { length_ns: length.as_nanos() as u64, file: path_of(&file) };
    let (point, recorded) = run(plan, manner, Some(recording), on_window)?;
    let recorded = recorded.unwrap_or_else(|| Err("the point failed".into()));
    Ok((point, Some(recorded.map(|event| (file, event)))))
}

/// A way for other programs of this user to a file that this process holds open.
pub fn path_of(file: &File) -> PathBuf {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
}

type Profiled = Option<Result<String, String>>;

fn run(
    plan: &PointPlan,
    manner: &Manner,
    profile: Option<Recording>,
    on_window: &mut dyn FnMut(u32, &wire::Window),
) -> anyhow::Result<(wire::Point, Profiled)> {
    anyhow::ensure!(
        std::env::var_os(INSIDE_CHILD).is_none(),
        "{} is not scalewatch-runner: name it in SCALEWATCH_RUNNER",
        executable().display()
    );
    let workload = crate::workloads::find(&plan.workload).ok_or_else(|| {
        let known: Vec<&str> = crate::workloads::all().iter().map(|w| w.id).collect();
        anyhow::anyhow!("workload: {:?} is not one of {}", plan.workload, known.join(", "))
    })?;
    let job = Job { profile, ..Job::new(plan, manner, workload)? };
    let mut profiled = None;
    let on_message = &mut |message| match message {
        Message::Window { done, window } => on_window(done, &window),
        Message::Profiled(result) => profiled = Some(result),
        Message::Started | Message::Outcome(_) => {}
    };
    let outcome = conduct(plan, manner, &job, on_message).unwrap_or_else(|fault| {
        Outcome::Failed(Failure {
            call: fault.call.into(),
            errno: fault.errno,
            task: None,
            detail: fault.detail.into_owned(),
        })
    });
    let point = Point {
        workload: workload.id.into(),
        version: workload.version,
        parameters: job.parameters(plan),
        tasks: job.tasks,
        outcome,
    };
    Ok((point, profiled))
}

fn conduct(
    plan: &PointPlan,
    manner: &Manner,
    job: &Job,
    on_message: &mut dyn FnMut(Message),
) -> Result<Outcome, Fault> {
    let limit = manner.limit.map(Limit::starting_now);
    let scratch = job.in_scratch.then(|| Scratch::new(&plan.dir)).transpose()?;
    let mut errors = tempfile::tempfile().map_err(|e| Fault::io("open", &e))?;
    let program = manner.executable.clone().unwrap_or_else(executable);
    let mut child = start(&program, job, scratch.as_ref(), &errors)?;
    let profile = job.profile.as_ref().map_or(0, |recording| recording.length_ns);
    let patience = job.window() + Duration::from_nanos(profile) + PATIENCE;
    let wait = |output: &ChildStdout| wait_readable(output, patience, limit.as_ref());
    let heard = send(&mut child, job).and_then(|()| listen(&mut child, &program, wait, on_message));
    if heard.is_err() {
        end(&mut child);
    }
    let Some(status) = ended(&mut child, limit.as_ref()).map_err(|e| Fault::io("wait", &e))? else {
        scratch.into_iter().for_each(Scratch::leave);
        return Err(heard.err().unwrap_or_else(|| limit.expect("none is endless").fault()));
    };
    match heard? {
        Some(outcome) => Ok(outcome),
        None => Err(Fault::wrong("child", how_it_died(status, &mut errors))),
    }
}

fn start(
    program: &Path,
    job: &Job,
    scratch: Option<&Scratch>,
    errors: &File,
) -> Result<Child, Fault> {
    let mut command = Command::new(program);
    command.arg0("scalewatch-runner").arg(CHILD_ARGUMENT).env(INSIDE_CHILD, "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(errors.try_clone().map_err(|e| Fault::io("dup", &e))?);
    if let Some(scratch) = scratch {
        command.current_dir(scratch.path());
    }
    let lock = scratch.map(Scratch::lock);
    let parent = job.parent;
    let before_exec = move || {
        // SAFETY: plain system calls, allowed between fork and exec.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::getppid() as u32 != parent {
                libc::_exit(1);
            }
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            if let Some(lock) = lock {
                libc::fcntl(lock, libc::F_SETFD, 0);
            }
        }
        Ok(())
    };
    // SAFETY: before_exec allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
    command.spawn().map_err(|e| Fault::io("exec", &e))
}

fn send(child: &mut Child, job: &Job) -> Result<(), Fault> {
    let mut input = child.stdin.take().expect("standard input was piped");
    let text = serde_json::to_vec(job).expect("a job is strings and whole numbers");
    match input.write_all(&text) {
        // It died before it read its job: its exit says more.
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Fault::io("write", &e)),
        _ => Ok(()),
    }
}

/// Reads lines until the outcome, or none at the end of the stream.
fn listen(
    child: &mut Child,
    program: &Path,
    wait: impl Fn(&ChildStdout) -> Result<(), Fault>,
    on_message: &mut dyn FnMut(Message),
) -> Result<Option<Outcome>, Fault> {
    let mut output = child.stdout.take().expect("standard output was piped");
    let (mut text, mut chunk, mut done) = (Vec::new(), vec![0; 1 << 16], 0);
    loop {
        while let Some(end) = text[done..].iter().position(|&b| b == b'\n') {
            let line = &text[done..done + end];
            done += end + 1;
            match serde_json::from_slice(line) {
                Ok(Message::Outcome(outcome)) => return Ok(Some(outcome)),
                Ok(message) => on_message(message),
                Err(_) => return Err(no_runner(program, line)),
            }
        }
        text.drain(..done);
        done = 0;
        wait(&output)?;
        match output.read(&mut chunk).map_err(|e| Fault::io("read", &e))? {
            0 => return Ok(None),
            n => text.extend_from_slice(&chunk[..n]),
        }
    }
}

fn no_runner(program: &Path, line: &[u8]) -> Fault {
    let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    let detail = format!(
        "{} answered {line:?} and is not scalewatch-runner: name it in SCALEWATCH_RUNNER",
        program.display()
    );
    Fault::wrong("child", detail)
}

fn wait_readable(
    output: &impl AsRawFd,
    patience: Duration,
    limit: Option<&Limit>,
) -> Result<(), Fault> {
    let until = Instant::now() + patience;
    loop {
        if let Some(limit) = limit.filter(|limit| limit.left().is_zero()) {
            return Err(limit.fault());
        }
        let left = until.saturating_duration_since(Instant::now());
        let left = limit.map_or(left, |limit| left.min(limit.left()));
        let mut poll = libc::pollfd { fd: output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        match unsafe { libc::poll(&raw mut poll, 1, left.as_millis().min(1 << 30) as i32) } {
            0 if until <= Instant::now() => {
                let detail = format!("the child said nothing for {} s", patience.as_secs());
                return Err(Fault::wrong("time-out", detail));
            }
            n if n > 0 => return Ok(()),
            _ => {}
        }
    }
}

/// The longest time for a point, running.
struct Limit {
    length: Duration,
    began: Instant,
}

impl Limit {
    fn starting_now(length: Duration) -> Limit {
        Limit { length, began: Instant::now() }
    }

    fn left(&self) -> Duration {
        self.length.saturating_sub(self.began.elapsed())
    }

    fn fault(&self) -> Fault {
        Fault::wrong("time-out", format!("it was not through after {:?}", self.length))
    }
}

/// How the child ended. None where there is a limit and the child, though killed, is not gone some
/// seconds behind it: a task of it is in a call that the kernel does not break off.
fn ended(child: &mut Child, limit: Option<&Limit>) -> std::io::Result<Option<ExitStatus>> {
    let Some(limit) = limit else { return child.wait().map(Some) };
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > limit.left() + LAST_WORDS {
            let _ = child.kill();
            return child.try_wait();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Tells the child to end, which ends its tasks; kills it when it does not.
fn end(child: &mut Child) {
    // SAFETY: a child that has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    let began = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if began.elapsed() > LAST_WORDS {
            let _ = child.kill();
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn how_it_died(status: ExitStatus, errors: &mut File) -> String {
    let mut said = String::new();
    let length = errors.seek(SeekFrom::End(0)).unwrap_or(0);
    let _ = errors.seek(SeekFrom::Start(length.saturating_sub(1000)));
    let mut bytes = vec![];
    if errors.read_to_end(&mut bytes).is_ok() {
        said = String::from_utf8_lossy(&bytes).trim().replace('\0', "");
    }
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the child was killed by signal {signal}"),
        (_, Some(code)) => format!("the child ended with exit code {code}"),
        _ => "the child ended".into(),
    };
    if said.is_empty() { how } else { format!("{how}: {said}") }
}
