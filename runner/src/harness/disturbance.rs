//! What else the machine did meanwhile: `/proc` read twice, subtracted.

use std::fs;
use std::path::PathBuf;

use wire::Disturbance;

/// One reading; a part that this kernel does not offer is none.
pub(crate) struct Reading {
    cpu: Option<CpuTime>,
    swapped: Option<u64>,
    throttled: Option<u64>,
    frequency_khz: Option<u64>,
    pressure_us: Option<u64>,
    switches: Option<Switches>,
}

/// CPU time of all CPUs, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub busy: u64,
    pub steal: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

/// Nanoseconds of a clock tick as `/proc/stat` counts it.
pub(crate) const TICK_NS: u64 = 10_000_000;

impl Reading {
    /// Reads now; `threads` are the tasks' thread ids, of this process or of its children.
    pub fn now(threads: &[libc::pid_t]) -> Reading {
        let file = |path: &str| fs::read_to_string(path).ok();
        let of_task = |tid: &libc::pid_t| switches(&file(&format!("/proc/{tid}/status"))?);
        Reading {
            cpu: file("/proc/stat").and_then(|text| cpu_time(&text)),
            swapped: file("/proc/vmstat").and_then(|text| swapped(&text)),
            throttled: Throttles::find().count(),
            frequency_khz: frequency_khz(),
            pressure_us: file("/proc/pressure/cpu").and_then(|text| pressure(&text)),
            switches: threads.iter().map(of_task).try_fold(Switches::default(), |sum, one| {
                let one = one?;
                Some(Switches {
                    voluntary: sum.voluntary + one.voluntary,
                    involuntary: sum.involuntary + one.involuntary,
                })
            }),
        }
    }

    /// What happened since `earlier`; the tasks received `tasks_ns` of CPU time meanwhile.
    pub fn since(&self, earlier: &Reading, tasks_ns: u64) -> Disturbance {
        let cpu = self.cpu.zip(earlier.cpu);
        let switches = self.switches.zip(earlier.switches);
        let less = |now: u64, then: u64| now.saturating_sub(then);
        let more = |now: Option<u64>, then: Option<u64>| Some(less(now?, then?));
        let frequencies = self.frequency_khz.zip(earlier.frequency_khz);
        Disturbance {
            swapped_pages: more(self.swapped, earlier.swapped),
            throttled: more(self.throttled, earlier.throttled),
            frequency_khz: frequencies.map(|(now, then)| now.midpoint(then)),
            remeasured_windows: 0,
            windows: vec![],
            steal_ns: cpu.map(|(now, then)| less(now.steal, then.steal) * TICK_NS),
            other_cpu_ns: cpu
                .map(|(now, then)| (less(now.busy, then.busy) * TICK_NS).saturating_sub(tasks_ns)),
            cpu_pressure_ns: self
                .pressure_us
                .zip(earlier.pressure_us)
                .map(|(now, then)| less(now, then) * 1000),
            involuntary_switches: switches.map(|(n, t)| less(n.involuntary, t.involuntary)),
            voluntary_switches: switches.map(|(n, t)| less(n.voluntary, t.voluntary)),
        }
    }
}

/// Pages swapped in and out since boot, from `/proc/vmstat`.
pub(crate) fn swapped(vmstat: &str) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        vmstat.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
    };
    Some(number("pswpin ")? + number("pswpout ")?)
}

/// Folders of the machine's CPUs in sysfs.
fn cpu_folders() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/sys/devices/system/cpu").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok())
    })
}

/// Mean frequency of the CPUs that tell it.
fn frequency_khz() -> Option<u64> {
    let one = |cpu: PathBuf| -> Option<u64> {
        fs::read_to_string(cpu.join("cpufreq/scaling_cur_freq")).ok()?.trim().parse().ok()
    };
    let all: Vec<u64> = cpu_folders().filter_map(one).collect();
    (!all.is_empty()).then(|| all.iter().sum::<u64>() / all.len() as u64)
}

/// Where the machine counts how often a CPU was slowed down for its heat.
pub(crate) struct Throttles(Vec<PathBuf>);

impl Throttles {
    /// The counters there are.
    pub fn find() -> Throttles {
        let counter = |cpu: PathBuf| cpu.join("thermal_throttle/core_throttle_count");
        Throttles(cpu_folders().map(counter).filter(|path| path.exists()).collect())
    }

    /// Their sum; none where there are none.
    pub fn count(&self) -> Option<u64> {
        let one = |path: &PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        (!self.0.is_empty()).then(|| self.0.iter().filter_map(one).sum())
    }
}

/// The `cpu` line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
pub(crate) fn cpu_time(stat: &str) -> Option<CpuTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal] = *ticks.first_chunk()?;
    let busy = user + nice + system + irq + softirq;
    Some(CpuTime { busy, steal, total: busy + idle + iowait + steal })
}

/// Microseconds some task waited for a CPU, from `/proc/pressure/cpu`.
fn pressure(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

fn switches(status: &str) -> Option<Switches> {
    let number = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok()
    };
    Some(Switches {
        voluntary: number("voluntary_ctxt_switches:")?,
        involuntary: number("nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_and_busy_time_come_from_the_line_of_all_cpus() {
        let stat = "cpu  100 1 20 500 7 2 3 11 4 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(cpu_time(stat), Some(CpuTime { busy: 126, steal: 11, total: 644 }));
        assert_eq!(cpu_time("cpu  1 2 3\n"), None);
    }

    #[test]
    fn pages_are_swapped_in_or_out() {
        assert_eq!(swapped("pgpgin 5\npswpin 3\npswpout 4\npswpout_x 9\n"), Some(7));
        assert_eq!(swapped("pgpgin 5\n"), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=2.43 avg60=1.48 avg300=2.44 total=29842899\nfull avg10=0 total=5\n";
        assert_eq!(pressure(text), Some(29_842_899));
        assert_eq!(pressure("full avg10=0 total=5\n"), None);
    }

    #[test]
    fn what_the_tasks_received_is_not_counted_as_others() {
        let reading = |busy, steal| Reading {
            cpu: Some(CpuTime { busy, steal, total: 0 }),
            swapped: Some(7),
            throttled: None,
            frequency_khz: None,
            pressure_us: None,
            switches: None,
        };
        let found = reading(110, 3).since(&reading(100, 1), 4 * TICK_NS);
        assert_eq!(found.other_cpu_ns, Some(6 * TICK_NS));
        assert_eq!(found.steal_ns, Some(2 * TICK_NS));
        assert_eq!((found.cpu_pressure_ns, found.voluntary_switches), (None, None));
        assert_eq!((found.swapped_pages, found.throttled), (Some(0), None));
    }
}
