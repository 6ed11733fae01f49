//! Counters of processor and kernel for the tasks alone, by `perf_event_open(2)`.
//!
//! One descriptor a task and event, open only while they count. An event that this machine, kernel
//! or user may not count for every task is left out; where only user space may be counted, its name
//! ends in `:u`, as perf writes it. Counts of events that took turns are scaled to the whole time.

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

use super::Counts;

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;

/// Name, type and configuration of each event, numbers of the kernel's `perf_event.h`.
const EVENTS: [(&str, u32, u64); 7] = [
    ("cycles", HARDWARE, 0),
    ("instructions", HARDWARE, 1),
    ("cache_misses", HARDWARE, 3),
    ("branch_misses", HARDWARE, 5),
    ("page_faults", SOFTWARE, 2),
    ("context_switches", SOFTWARE, 3),
    ("cpu_migrations", SOFTWARE, 4),
];

/// Descriptors that [`Counters::open`] needs for each task.
pub(super) const DESCRIPTORS_PER_TASK: u64 = EVENTS.len() as u64;

const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Time enabled and time running beside the count.
const READ_FORMAT: u64 = 1 | 2;

/// The first published size of the structure, which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Events that count for every task.
pub(super) struct Counters(Vec<(String, Vec<File>)>);

/// Count, time enabled and time running.
type Value = [u64; 3];

impl Counters {
    /// Opens what can be counted for all of `threads`; counting begins at once.
    pub fn open(threads: &[libc::pid_t]) -> Counters {
        let event = |(name, kind, config): &(&str, u32, u64)| {
            [("", 0), (":u", EXCLUDE_KERNEL)].into_iter().find_map(|(suffix, without)| {
                let flags = INHERIT | EXCLUDE_HYPERVISOR | without;
                let open = |tid: &libc::pid_t| open(*kind, *config, flags, *tid);
                let files: Option<Vec<File>> = threads.iter().map(open).collect();
                Some((format!("perf.{name}{suffix}"), files?))
            })
        };
        Counters(EVENTS.iter().filter_map(event).collect())
    }

    /// Whether nothing can be counted here.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All values now, event by event and task by task.
    pub fn read(&self) -> Vec<Vec<Option<Value>>> {
        self.0.iter().map(|(_, files)| files.iter().map(value).collect()).collect()
    }

    /// What was counted since `before`, summed over the tasks; nothing of an event that never ran.
    pub fn read_since(&self, before: &[Vec<Option<Value>>]) -> Counts {
        let now = self.read();
        let event = |((name, _), (now, before)): (&(String, Vec<File>), (&Vec<_>, &Vec<_>))| {
            let tasks = now.iter().zip(before).map(|(now, before)| {
                let (now, before): (Value, Value) = ((*now)?, (*before)?);
                Some([0, 1, 2].map(|i| now[i].saturating_sub(before[i])))
            });
            Some((name.clone(), summed(&tasks.collect::<Option<Vec<Value>>>()?)?))
        };
        self.0.iter().zip(now.iter().zip(before)).filter_map(event).collect()
    }
}

/// The sum of counts, each scaled from the time it ran to the time it was enabled. A task that
/// slept throughout was not enabled and counts 0; one that was enabled and never ran spoils the sum.
fn summed(tasks: &[Value]) -> Option<u64> {
    let scaled = |[count, enabled, running]: &Value| match (enabled, running) {
        (0, _) => Some(0.0),
        (_, 0) => None,
        _ => Some(*count as f64 * *enabled as f64 / *running as f64),
    };
    tasks.iter().map(scaled).sum::<Option<f64>>().map(|sum| sum.round() as u64)
}

fn value(file: &File) -> Option<Value> {
    let mut bytes = [0; 24];
    let mut reader = file;
    reader.read_exact(&mut bytes).ok()?;
    let word = |at: usize| Some(u64::from_ne_bytes(bytes[at..at + 8].try_into().ok()?));
    Some([word(0)?, word(8)?, word(16)?])
}

fn open(kind: u32, config: u64, flags: u64, tid: libc::pid_t) -> Option<File> {
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: READ_FORMAT,
        flags,
        ..Attributes::default()
    };
    let (any_cpu, no_group, close_on_exec) = (-1, -1, 1 << 3);
    // SAFETY: attributes is valid for the call and says its own size.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            tid,
            any_cpu,
            no_group,
            close_on_exec as libc::c_ulong,
        )
    };
    let descriptor = i32::try_from(descriptor).ok().filter(|fd| *fd >= 0)?;
    // SAFETY: a descriptor just made, owned by nobody else.
    Some(unsafe { File::from_raw_fd(descriptor) })
}

/// Whether this machine counts cycles for this user: a virtual one often does not.
pub(super) fn has_cycles() -> bool {
    let (_, kind, config) = EVENTS[0];
    [0, EXCLUDE_KERNEL].iter().any(|without| open(kind, config, *without, 0).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_took_turns_are_scaled_to_the_whole_time() {
        assert_eq!(summed(&[[100, 1000, 500], [40, 1000, 1000], [0, 0, 0]]), Some(240));
        assert_eq!(summed(&[[100, 1000, 500], [0, 1000, 0]]), None);
        assert_eq!(summed(&[]), Some(0));
    }

    #[test]
    fn nothing_is_counted_of_a_thread_that_is_not_there() {
        assert!(Counters::open(&[i32::MAX]).is_empty());
    }
}
