//! The child process of one point: reads its job on standard input, measures, writes lines.
//!
//! The one rule: it never outlives its parent. When the parent dies the kernel sends SIGTERM; the
//! child then ends its tasks, removes its scratch folder and goes.

use std::io::Read;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use wire::{Failure, Measured, Outcome};

use super::fault::Fault;
use super::job::Job;
use super::memory::Gauge;
use super::message::Message;
use super::outbox::Outbox;
use super::partner::Partners;
use super::precedence;
use super::shared::{Areas, Control, shared_slice};
use super::spawn::{self, Stage, Tasks};
use super::tend::Tending;
use super::workload::{Setup, Workload};
use super::{memory, sampler, sys};

/// First argument that makes the runner's executable call [`child_main`].
pub const CHILD_ARGUMENT: &str = "__point";

static TOLD_TO_END: AtomicBool = AtomicBool::new(false);
static CONTROL: AtomicPtr<Control> = AtomicPtr::new(ptr::null_mut());

/// Serves one point and ends the process. Only the runner's `main` calls it, for
/// [`CHILD_ARGUMENT`], before it starts any thread.
pub fn child_main() -> ! {
    let code = match read_job() {
        Ok(job) => {
            serve(&job);
            0
        }
        Err(error) => {
            eprintln!("{error:#}");
            2
        }
    };
    // SAFETY: threads in the middle of a loop must not see the process unwind.
    unsafe { libc::_exit(code) }
}

fn read_job() -> anyhow::Result<Job> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let job: Job = serde_json::from_str(&text)
        .map_err(|e| anyhow::anyhow!("this command is the runner's own; it reads a job: {e}"))?;
    Ok(job)
}

fn serve(job: &Job) {
    listen_for_the_end();
    sys::adopt_orphans();
    // SAFETY: getppid cannot fail.
    if unsafe { libc::getppid() } as u32 != job.parent {
        TOLD_TO_END.store(true, Ordering::Release);
    }
    let Ok(mut outbox) = Outbox::on_standard_output() else { return };
    let outcome = match conduct(job, &mut |message| outbox.tell(message)) {
        Ok(measured) => Outcome::Measured(measured),
        Err(failure) => Outcome::Failed(failure),
    };
    if TOLD_TO_END.load(Ordering::Acquire) && job.in_scratch {
        let folder = std::env::current_dir();
        let _ = folder.and_then(std::fs::remove_dir_all);
    }
    outbox.tell(&Message::Outcome(outcome));
    outbox.finish();
}

fn conduct(job: &Job, tell: &mut dyn FnMut(&Message)) -> Result<Measured, Failure> {
    let workload = crate::workloads::find(&job.workload)
        .ok_or_else(|| failure(Fault::wrong("set-up", "no such workload")))?;
    let before_kib = memory::own_anonymous_kib();
    let stage = set_up(job, workload).map_err(failure)?;
    let tasks = spawn::spawn(stage, job.mode, job.tasks).map_err(|fault| {
        stage.prepared.clear();
        failure(fault)
    })?;
    let gauge = Gauge::new(tasks.processes(), before_kib);
    let tending = Tending::start(stage);
    let sampled = tending
        .and_then(|tending| sampler::sample(job, workload, stage, &tasks, &gauge, tending, tell));
    tasks.end();
    stage.partners.reap();
    stage.prepared.clear();
    sampled.map_err(|fault| reason(stage, &tasks, fault))
}

/// Everything the tasks share, kept until the process ends.
fn set_up(job: &Job, workload: &Workload) -> Result<&'static Stage, Fault> {
    let control = &shared_slice::<Control>(1)?[0];
    CONTROL.store(ptr::from_ref(control).cast_mut(), Ordering::Release);
    if TOLD_TO_END.load(Ordering::Acquire) {
        control.raise_alarm();
    }
    // Enough for most workloads in threads; one that cannot open its files says so.
    let _ = sys::allow_open_files(u64::from(job.tasks) * 4 + 64);
    let partners = Partners::new(job.mode, job.tasks, control)?;
    let setup = Setup { tasks: job.tasks, mode: job.mode, partners, values: &job.values };
    let prepared = (workload.prepare)(&setup)?;
    let areas = Areas::new(job.tasks, workload.extra_words)?;
    areas.tell(control);
    #[cfg(feature = "inject")]
    if job.values.0.contains_key("spin_ns") {
        let spread = super::spin::Spread::of(job.values.fraction("spin_ns")?);
        control.injected.store(spread.steps_in_256, Ordering::Release);
    }
    let placement = job.placement.clone();
    // After the set-up, whose work may be long and is no reading of clocks.
    let cpus = sys::allowed_cpus().map_or(usize::MAX, |cpus| cpus.len());
    let nice = precedence::take(job.tasks as usize > cpus);
    Ok(Box::leak(Box::new(Stage { control, areas, prepared, partners, placement, nice })))
}

/// Why the point failed: a signal, else what the first failed task said, else what the sampler saw.
fn reason(stage: &Stage, tasks: &Tasks, fault: Fault) -> Failure {
    if TOLD_TO_END.load(Ordering::Acquire) {
        let detail = format!("told to end while {} tasks ran", tasks.count());
        return failure(Fault::wrong("signal", detail));
    }
    stage.control.fault().unwrap_or_else(|| failure(fault))
}

fn failure(fault: Fault) -> Failure {
    Failure {
        call: fault.call.into(),
        errno: fault.errno,
        task: None,
        detail: fault.detail.into_owned(),
    }
}

extern "C" fn told_to_end(_signal: libc::c_int) {
    TOLD_TO_END.store(true, Ordering::Release);
    let control = CONTROL.load(Ordering::Acquire);
    if !control.is_null() {
        // SAFETY: points to shared memory that is never unmapped; stores and futex calls are
        // allowed in a signal handler.
        unsafe { (*control).raise_alarm() };
    }
}

/// A mapped page that its file system could not give. A task reports it and sleeps till its end.
extern "C" fn page_missing(signal: libc::c_int) {
    let (control, task) = (CONTROL.load(Ordering::Acquire), spawn::TASK.get());
    let Some(task) = task.filter(|_| !control.is_null()) else {
        // SAFETY: the access that failed is repeated, and now ends the process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    const WHY: &str =
        "a mapped page of a file could not be had: the file system is full, or failed";
    // SAFETY: points to shared memory that is never unmapped; a report stores and wakes, no more.
    unsafe { (*control).report(task, &Fault::wrong("page fault", WHY)) };
    spawn::park();
}

fn listen_for_the_end() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        handle(signal, told_to_end);
    }
    handle(libc::SIGBUS, page_missing);
}

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: all-zero is a valid sigaction; the handlers only store, wake and sleep.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}
