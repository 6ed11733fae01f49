//! How quiet the machine is now: what would disturb a measurement, in numbers and in words.

use std::path::Path;
use std::time::Duration;

use super::text;
use crate::harness::{CpuTime, cpu_time};

/// How quiet a machine is.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Quiet {
    /// Load average over one minute ÷ online CPUs.
    pub load_per_cpu: Option<f64>,
    /// Share of CPU time that was used while looking, 0 to 1.
    pub busy_ratio: Option<f64>,
    /// Share of CPU time a hypervisor took while looking, 0 to 1.
    pub steal_ratio: Option<f64>,
    /// Share of the last ten seconds in which some task waited for a CPU (PSI), 0 to 1.
    pub cpu_pressure_ratio: Option<f64>,
    /// Frequency governors in use.
    pub governor: Option<String>,
    /// What would disturb a measurement, one sentence each; empty on a quiet machine.
    pub remarks: Vec<String>,
}

impl Quiet {
    /// Whether nothing remarkable was seen.
    pub fn is_quiet(&self) -> bool {
        self.remarks.is_empty()
    }
}

/// Looks for as long as `interval`.
pub fn quiet(interval: Duration) -> Quiet {
    let root = Path::new("/");
    let stat = || text(&root.join("proc/stat")).and_then(|text| cpu_time(&text));
    let before = stat();
    std::thread::sleep(interval);
    let shares = before.zip(stat()).and_then(|(then, now)| shares(then, now));
    let online = super::Topology::of_this_machine().cpus.len().max(1);
    let first = |path: &str| text(&root.join(path))?.split_whitespace().next()?.parse::<f64>().ok();
    let pressure = text(&root.join("proc/pressure/cpu")).and_then(|t| average_10(&t));
    let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    judged(Quiet {
        load_per_cpu: first("proc/loadavg").map(|load| load / online as f64),
        busy_ratio: shares.map(|s| s.0),
        steal_ratio: shares.map(|s| s.1),
        cpu_pressure_ratio: pressure.map(|percent| percent / 100.0),
        governor: text(&root.join(governor)),
        remarks: vec![],
    })
}

/// Shares of the time between two readings: busy, stolen. None when no time passed.
fn shares(then: CpuTime, now: CpuTime) -> Option<(f64, f64)> {
    let total = now.total.checked_sub(then.total).filter(|ticks| *ticks > 0)? as f64;
    let share = |now: u64, then: u64| now.saturating_sub(then) as f64 / total;
    Some((share(now.busy, then.busy), share(now.steal, then.steal)))
}

fn average_10(text: &str) -> Option<f64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

/// Adds the remarks.
fn judged(mut quiet: Quiet) -> Quiet {
    let percent = |ratio: f64| format!("{:.0} %", ratio * 100.0);
    let mut remark = |loud: bool, words: String| {
        if loud {
            quiet.remarks.push(words);
        }
    };
    if let Some(load) = quiet.load_per_cpu {
        remark(load > 0.5, format!("the load average is {load:.1} for each CPU"));
    }
    if let Some(busy) = quiet.busy_ratio {
        remark(busy > 0.05, format!("other programs use {} of the CPU time", percent(busy)));
    }
    if let Some(steal) = quiet.steal_ratio {
        remark(steal > 0.01, format!("the hypervisor takes {} of the CPU time", percent(steal)));
    }
    if let Some(waiting) = quiet.cpu_pressure_ratio {
        let words = format!("tasks waited for a CPU in {} of the last 10 s", percent(waiting));
        remark(waiting > 0.05, words);
    }
    if let Some(governor) = quiet.governor.clone() {
        let words = format!("the frequency governor is {governor}, not performance");
        remark(governor != "performance", words);
    }
    quiet
}

/// What makes measurements on this machine vary that no setting changes at once, a sentence each.
pub fn lasting_remarks() -> Vec<String> {
    lasting(Path::new("/"))
}

fn lasting(root: &Path) -> Vec<String> {
    let mut remarks = vec![];
    let mut remark = |found: bool, words: &str| {
        if found {
            remarks.push(words.to_owned());
        }
    };
    let says = |path: &str, word: &str| text(&root.join(path)).is_some_and(|t| t.contains(word));
    let smt = says("sys/devices/system/cpu/smt/control", "on");
    remark(smt, "SMT is on: two hardware threads share a core; place tasks by core, or boot nosmt");
    let huge = says("sys/kernel/mm/transparent_hugepage/enabled", "[always]");
    remark(huge, "huge pages are always used: page faults are of 2 MiB; see `run --huge-pages`");
    let guest = says("proc/cpuinfo", "hypervisor");
    remark(guest, "this is a virtual machine: compare operations per CPU-second, and watch steal");
    let swap = text(&root.join("proc/swaps")).is_some_and(|t| t.lines().count() > 1);
    remark(swap, "swap is in use: a workload that is swapped measures the disk; swapoff -a");
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: Quiet = Quiet {
        load_per_cpu: Some(0.1),
        busy_ratio: Some(0.01),
        steal_ratio: Some(0.0),
        cpu_pressure_ratio: None,
        governor: None,
        remarks: vec![],
    };

    #[test]
    fn a_still_machine_gives_no_remark() {
        assert!(judged(STILL).is_quiet());
    }

    #[test]
    fn each_disturbance_is_said_in_words() {
        let loud = Quiet {
            load_per_cpu: Some(2.0),
            busy_ratio: Some(0.4),
            steal_ratio: Some(0.15),
            cpu_pressure_ratio: Some(0.2),
            governor: Some("powersave".into()),
            remarks: vec![],
        };
        let remarks = judged(loud).remarks;
        assert_eq!(remarks.len(), 5);
        assert_eq!(remarks[2], "the hypervisor takes 15 % of the CPU time");
    }

    #[test]
    fn what_no_setting_changes_at_once_is_said_too() {
        let root = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(lasting(root.path()), [] as [String; 0]);
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("sys/devices/system/cpu/smt/control", "on\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        write("proc/swaps", "Filename Type Size Used Priority\n/swap file 1 0 -2\n");
        write("proc/cpuinfo", "flags : fpu hypervisor\n");
        assert_eq!(lasting(root.path()).len(), 4);
    }

    #[test]
    fn shares_are_of_the_time_that_passed() {
        let at = |busy, steal, total| CpuTime { busy, steal, total };
        assert_eq!(shares(at(0, 0, 0), at(50, 10, 100)), Some((0.5, 0.1)));
        assert_eq!(shares(at(5, 0, 100), at(5, 0, 100)), None);
    }
}
