//! Memory: whether there is enough of it before a point begins, and what its tasks hold meanwhile.
//! Sizes come from `/proc` and the memory limits of the control groups above this process.

use std::fs;
use std::path::{Path, PathBuf};

use super::fault::{Attempt, Fault};

const MIB: u64 = 1 << 20;

/// Refuses a point whose tasks cannot all have their memory without swapping or killing.
///
/// # Errors
/// `ENOMEM`, with what is wanted and what is there.
pub fn need_memory(tasks: u32, bytes_each: u64) -> Attempt<()> {
    let there = available(Path::new("/")).unwrap_or(u64::MAX);
    enough("memory", libc::ENOMEM, tasks, bytes_each, there)
}

/// Refuses a point whose tasks' files do not all fit in the working directory's file system.
///
/// # Errors
/// `ENOSPC`, with what is wanted and what is there.
pub fn need_space(tasks: u32, bytes_each: u64) -> Attempt<()> {
    let there = super::sys::free_bytes(Path::new(".")).unwrap_or(u64::MAX);
    enough("space", libc::ENOSPC, tasks, bytes_each, there)
}

fn enough(what: &'static str, errno: i32, tasks: u32, bytes_each: u64, there: u64) -> Attempt<()> {
    let wanted = u64::from(tasks).saturating_mul(bytes_each);
    if wanted <= there {
        return Ok(());
    }
    let (wanted, each) = (wanted.div_ceil(MIB), bytes_each.div_ceil(MIB));
    let there = there / MIB;
    let detail = format!(
        "needs {wanted} MiB of {what} ({tasks} tasks, {each} MiB each), but {there} MiB are free"
    );
    Err(Fault { call: what, errno: Some(errno), detail: detail.into() })
}

/// Bytes that can be had: the least of the machine's and of each limiting group's.
fn available(root: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let machine = kib(&meminfo, "MemAvailable:")? * 1024;
    Some(groups(root).iter().filter_map(|group| room(group)).fold(machine, u64::min))
}

/// The control groups above this process that may limit memory, version 2 and 1.
fn groups(root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = vec![];
    for line in text.lines() {
        let [_, controllers, path] = line.splitn(3, ':').collect::<Vec<_>>()[..] else { continue };
        let mounts: &[&str] = match controllers {
            "" => &["", "unified"],
            c if c.split(',').any(|c| c == "memory") => &["memory"],
            _ => continue,
        };
        for mount in mounts {
            let top = root.join("sys/fs/cgroup").join(mount);
            let group = top.join(path.trim_start_matches('/'));
            groups
                .extend(group.ancestors().take_while(|d| d.starts_with(&top)).map(Path::to_owned));
        }
    }
    groups
}

/// Bytes one group may still take: its limit less what it uses and cannot give back.
fn room(group: &Path) -> Option<u64> {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok();
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let stat = read("memory.stat").unwrap_or_default();
    let field = |name: &str| {
        let words = stat.lines().filter_map(|line| line.split_once(' '));
        words.filter(|(key, _)| *key == name).find_map(|(_, n)| n.parse::<u64>().ok())
    };
    let (limit, used, cache) = match number("memory.max") {
        Some(limit) => (limit, number("memory.current")?, ["inactive_file", "active_file"]),
        None => (
            number("memory.limit_in_bytes")?,
            number("memory.usage_in_bytes")?,
            ["total_inactive_file", "total_active_file"],
        ),
    };
    let reclaimable: u64 = cache.iter().filter_map(|name| field(name)).sum();
    Some(limit.saturating_sub(used.saturating_sub(reclaimable)))
}

/// What the processes of a point hold beyond what they had before anything was set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Anonymous memory resident now, KiB.
    pub now_kib: u64,
    /// The most of it that was resident at once in each process, summed, KiB.
    pub peak_kib: u64,
}

/// Reads what the tasks hold.
pub(crate) struct Gauge {
    pids: Vec<libc::pid_t>,
    before_kib: u64,
}

impl Gauge {
    /// A gauge for processes that are this one, or were forked from it, `before_kib` being
    /// [`own_anonymous_kib`] before anything was set up.
    pub fn new(pids: Vec<libc::pid_t>, before_kib: u64) -> Gauge {
        Gauge { pids, before_kib }
    }

    /// Now; none where the kernel does not tell.
    pub fn read(&self) -> Option<Held> {
        self.pids.iter().try_fold(Held::default(), |sum, pid| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let one = held(&status, self.before_kib)?;
            Some(Held { now_kib: sum.now_kib + one.now_kib, peak_kib: sum.peak_kib + one.peak_kib })
        })
    }
}

/// Anonymous memory of this process, KiB.
pub(crate) fn own_anonymous_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    kib(&status, "RssAnon:").unwrap_or(0)
}

/// The kernel keeps the peak of all resident pages; those of files and of shared memory hardly
/// change once a loop runs.
fn held(status: &str, before_kib: u64) -> Option<Held> {
    let of = |name| kib(status, name);
    let others = of("RssFile:")? + of("RssShmem:")?;
    Some(Held {
        now_kib: of("RssAnon:")?.saturating_sub(before_kib),
        peak_kib: of("VmHWM:")?.saturating_sub(others + before_kib),
    })
}

fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_refused_with_what_is_wanted_and_what_is_there() {
        assert_eq!(enough("memory", libc::ENOMEM, 2, 64 * MIB, 128 * MIB), Ok(()));
        let fault = enough("memory", libc::ENOMEM, 3, 64 * MIB, 128 * MIB).expect_err("too much");
        assert_eq!(fault.errno, Some(libc::ENOMEM));
        let detail = "needs 192 MiB of memory (3 tasks, 64 MiB each), but 128 MiB are free";
        assert_eq!(fault.detail, detail);
        assert!(need_memory(4096, 1 << 60).is_err());
    }

    #[test]
    fn the_tightest_group_counts_and_its_page_cache_can_be_given_back() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("proc/meminfo", "MemTotal:  99999 kB\nMemAvailable:   10240 kB\n");
        assert_eq!(available(root.path()), Some(10 * MIB));
        write("proc/self/cgroup", "0::/lab/job\n");
        write("sys/fs/cgroup/lab/job/memory.max", "max\n");
        assert_eq!(available(root.path()), Some(10 * MIB));
        write("sys/fs/cgroup/lab/memory.max", "8388608\n");
        write("sys/fs/cgroup/lab/memory.current", "7340032\n");
        assert_eq!(available(root.path()), Some(MIB));
        write("sys/fs/cgroup/lab/memory.stat", "anon 1\ninactive_file 2097152\nactive_file 0\n");
        assert_eq!(available(root.path()), Some(3 * MIB));
        write("proc/self/cgroup", "5:cpu,memory:/old\n");
        write("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "4194304");
        write("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "4194304");
        assert_eq!(available(root.path()), Some(0));
    }

    #[test]
    fn what_a_process_had_before_is_not_held_by_its_tasks() {
        let status = "VmHWM:\t 5000 kB\nVmRSS:\t 4000 kB\nRssAnon:\t 2500 kB\n\
                      RssFile:\t 1000 kB\nRssShmem:\t 500 kB\n";
        assert_eq!(held(status, 500), Some(Held { now_kib: 2000, peak_kib: 3000 }));
        assert_eq!(held(status, 9000), Some(Held::default()));
        assert_eq!(held("VmHWM: 1 kB\n", 0), None);
    }
}
