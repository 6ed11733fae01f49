//! The environment: what can change on a machine without changing the machine, as dotted keys.
//! A fact that this system does not tell is left out; one that moves by itself never enters.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wire::{Environment, Subject};

use super::{Topology, cpu_list, cpuinfo, filesystem, text};
use crate::harness::sys;

/// Environment of a run whose files go to `dir`. For [`Subject::Kernel`] the kernel's release and
/// build are the revision and are left out.
pub fn environment(dir: &Path, subject: Subject) -> Environment {
    let root = Path::new("/");
    let mut facts = BTreeMap::new();
    kernel(root, subject, &mut facts);
    processors(root, &mut facts);
    cgroup(root, &mut facts);
    for (key, value) in filesystem::facts(root, dir) {
        facts.insert(key.to_owned(), value);
    }
    put(&mut facts, "mm.thp", chosen(&root.join("sys/kernel/mm/transparent_hugepage/enabled")));
    put(&mut facts, "machine.virtualisation", virtualisation(root));
    put(&mut facts, "libc.version", Some(sys::libc_version()));
    put(&mut facts, "runner.version", Some(env!("CARGO_PKG_VERSION").to_owned()));
    for (key, version) in crate::workloads::allocator_versions() {
        put(&mut facts, key, Some(version));
    }
    put(&mut facts, "allocator.tunables", allocator_tunables(std::env::vars_os()));
    let aslr = if sys::may_fix_addresses() { "off" } else { "on" };
    put(&mut facts, "runner.aslr", Some(aslr.to_owned()));
    Environment(facts)
}

type Facts = BTreeMap<String, String>;

fn put(facts: &mut Facts, key: &str, value: Option<String>) {
    if let Some(mut value) = value {
        let most = wire::limits::TEXT;
        value.truncate(value.floor_char_boundary(most));
        facts.insert(key.to_owned(), value);
    }
}

fn kernel(root: &Path, subject: Subject, facts: &mut Facts) {
    let (_, release) = sys::architecture_and_release();
    put(facts, "kernel.config_sha256", config(root, &release).map(|text| config_hash(&text)));
    put(facts, "kernel.cmdline", text(&root.join("proc/cmdline")).map(|t| boot_arguments(&t)));
    let clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    put(facts, "kernel.clocksource", text(&root.join(clock)));
    let vulnerabilities = root.join("sys/devices/system/cpu/vulnerabilities");
    for entry in fs::read_dir(&vulnerabilities).into_iter().flatten().flatten() {
        let key = format!("mitigations.{}", entry.file_name().to_string_lossy());
        put(facts, &key, text(&entry.path()));
    }
    if subject != Subject::Kernel {
        put(facts, "kernel.release", Some(release));
        put(facts, "kernel.version", text(&root.join("proc/sys/kernel/version")));
    }
}

fn config(root: &Path, release: &str) -> Option<String> {
    let mut config = String::new();
    if let Ok(file) = fs::File::open(root.join("proc/config.gz"))
        && flate2::read::GzDecoder::new(file).read_to_string(&mut config).is_ok()
    {
        return Some(config);
    }
    let places = [format!("boot/config-{release}"), format!("lib/modules/{release}/config")];
    places.iter().find_map(|place| text(&root.join(place)))
}

/// Hash of the options alone: the header names the release, and these options name the build.
fn config_hash(config: &str) -> String {
    let builds = ["CONFIG_LOCALVERSION=", "CONFIG_BUILD_SALT="];
    let option = |line: &&str| line.starts_with("CONFIG_") || line.starts_with("# CONFIG_");
    let mut hash = Sha256::new();
    for line in config.lines().filter(option) {
        if !builds.iter().any(|build| line.starts_with(build)) {
            hash.update(line);
            hash.update("\n");
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The kernel's command line without the files it was loaded from, which carry its release.
fn boot_arguments(cmdline: &str) -> String {
    let file = |word: &str| word.starts_with("BOOT_IMAGE=") || word.starts_with("initrd=");
    cmdline.split_whitespace().filter(|word| !file(word)).collect::<Vec<_>>().join(" ")
}

fn processors(root: &Path, facts: &mut Facts) {
    let cpu = root.join("sys/devices/system/cpu");
    put(facts, "cpu.microcode", cpuinfo(root, "microcode"));
    put(facts, "cpu.online", text(&cpu.join("online")));
    put(facts, "cpu.smt", text(&cpu.join("smt/control")));
    put(facts, "cpu.governor", of_all_cpus(&cpu, "cpufreq/scaling_governor"));
    put(facts, "cpu.frequency_driver", of_all_cpus(&cpu, "cpufreq/scaling_driver"));
    put(facts, "cpu.turbo", turbo(&cpu));
}

/// The distinct values of one file of every CPU.
fn of_all_cpus(cpu: &Path, file: &str) -> Option<String> {
    let dirs = fs::read_dir(cpu).ok()?.flatten();
    let values: BTreeSet<String> = dirs.filter_map(|d| text(&d.path().join(file))).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(","))
}

fn turbo(cpu: &Path) -> Option<String> {
    let word = |on: bool| if on { "on".to_owned() } else { "off".to_owned() };
    let denied = text(&cpu.join("intel_pstate/no_turbo")).map(|v| word(v == "0"));
    denied.or_else(|| text(&cpu.join("cpufreq/boost")).map(|v| word(v == "1")))
}

/// Which hierarchy limits CPUs, the tightest CPU limit above this process, and the CPUs it may use.
fn cgroup(root: &Path, facts: &mut Facts) {
    put(facts, "cgroup.version", cgroup_version(root));
    put(facts, "cgroup.cpu_max", cpu_max(root));
    let allowed = Topology::of_this_machine().allowed;
    put(facts, "cgroup.cpuset", Some(cpu_list(&allowed)).filter(|list| !list.is_empty()));
}

/// `v1` where a hierarchy of the first kind has the controller `cpuset`, else `v2`.
fn cgroup_version(root: &Path) -> Option<String> {
    let groups = text(&root.join("proc/self/cgroup"))?;
    let controllers = groups.lines().filter_map(|line| line.split(':').nth(1));
    let v1 = controllers.flat_map(|names| names.split(',')).any(|name| name == "cpuset");
    Some(if v1 { "v1".into() } else { "v2".into() })
}

/// Quota ÷ period in CPUs, the least of all groups above; `max` where none limits.
fn cpu_max(root: &Path) -> Option<String> {
    let groups = text(&root.join("proc/self/cgroup"))?;
    let mut quotas: Vec<f64> = vec![];
    for line in groups.lines() {
        let [_, controllers, path] = line.splitn(3, ':').collect::<Vec<_>>()[..] else { continue };
        let v1 = controllers.split(',').any(|c| c == "cpu");
        if !v1 && !controllers.is_empty() {
            continue;
        }
        let mounts: &[&str] = if v1 { &["cpu", "cpu,cpuacct"] } else { &["", "unified"] };
        for mount in mounts {
            let top = root.join("sys/fs/cgroup").join(mount);
            let group: PathBuf = top.join(path.trim_start_matches('/'));
            let above = group.ancestors().take_while(|dir| dir.starts_with(&top));
            quotas.extend(above.filter_map(quota));
        }
    }
    let least = quotas.into_iter().min_by(f64::total_cmp);
    Some(least.map_or("max".to_owned(), |cpus| cpus.to_string()))
}

/// The limit of one group in CPUs, version 2 or 1.
fn quota(group: &Path) -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n > 0.0);
    if let Some(max) = text(&group.join("cpu.max")) {
        let (quota, period) = max.split_once(' ')?;
        return Some(number(quota)? / number(period)?);
    }
    let quota = number(&text(&group.join("cpu.cfs_quota_us"))?)?;
    Some(quota / number(&text(&group.join("cpu.cfs_period_us"))?)?)
}

/// The word in brackets: `always [madvise] never`.
fn chosen(path: &Path) -> Option<String> {
    let text = text(path)?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// The variables that tune an allocator, sorted, as they are inherited by what is measured.
fn allocator_tunables(variables: impl Iterator<Item = (OsString, OsString)>) -> Option<String> {
    let tunes = |name: &str| {
        ["MIMALLOC_", "MALLOC_"].iter().any(|prefix| name.starts_with(prefix))
            || ["GLIBC_TUNABLES", "_RJEM_MALLOC_CONF"].contains(&name)
    };
    let texts = variables.map(|(k, v)| (k.to_string_lossy().into_owned(), v));
    let mut set: Vec<String> = texts
        .filter(|(name, _)| tunes(name))
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    set.sort_unstable();
    (!set.is_empty()).then(|| set.join(" "))
}

fn virtualisation(root: &Path) -> Option<String> {
    let guest = cpuinfo(root, "flags").map(|f| f.split(' ').any(|flag| flag == "hypervisor"));
    let vendor = text(&root.join("sys/class/dmi/id/sys_vendor"));
    let hypervisor = text(&root.join("sys/hypervisor/type"));
    let host = match guest {
        Some(true) => hypervisor.or(vendor).map_or("guest".into(), |who| format!("guest of {who}")),
        Some(false) => "none".to_owned(),
        None => hypervisor.map(|who| format!("guest of {who}"))?,
    };
    let container = [".dockerenv", "run/.containerenv"].iter().any(|f| root.join(f).exists());
    Some(if container { format!("{host}, container") } else { host })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_machine_twice_has_the_same_environment() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let first = environment(dir.path(), Subject::Program);
        fs::write(dir.path().join("more"), vec![0; 1 << 20]).expect("room");
        assert_eq!(first, environment(dir.path(), Subject::Program));
        assert!(first.0.values().all(|v| !v.is_empty() && v.len() <= wire::limits::TEXT));
        for key in ["kernel.release", "fs.type", "fs.mount_options", "runner.version", "cpu.online"]
        {
            assert!(first.0.contains_key(key), "{key} is missing from {first:?}");
        }
    }

    #[test]
    fn variables_that_tune_an_allocator_are_environment_and_others_are_not() {
        let variables = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(k, v)| (OsString::from(k), OsString::from(v)));
            allocator_tunables(pairs.collect::<Vec<_>>().into_iter())
        };
        assert_eq!(variables(&[("HOME", "/root"), ("MALLOCATOR", "x")]), None);
        let set = [("MIMALLOC_VERBOSE", "1"), ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")];
        let text = "GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MIMALLOC_VERBOSE=1";
        assert_eq!(variables(&set).as_deref(), Some(text));
    }

    #[test]
    fn a_kernel_under_test_is_not_its_own_environment() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let kernel = environment(dir.path(), Subject::Kernel);
        assert!(!kernel.0.contains_key("kernel.release"));
        assert!(!kernel.0.contains_key("kernel.version"));
        assert!(kernel.0.contains_key("kernel.cmdline"));
    }

    #[test]
    fn another_build_of_the_same_options_is_the_same_config() {
        let build = |release: &str, salt: &str, smp: &str| {
            config_hash(&format!(
                "# Linux/x86 {release} Kernel Configuration\nCONFIG_BUILD_SALT=\"{salt}\"\n{smp}\n"
            ))
        };
        assert_eq!(build("6.17.1", "a", "CONFIG_SMP=y"), build("6.18.0", "b", "CONFIG_SMP=y"));
        let unset = "# CONFIG_SMP is not set";
        assert_ne!(build("6.17.1", "a", "CONFIG_SMP=y"), build("6.17.1", "a", unset));
    }

    #[test]
    fn boot_arguments_do_not_name_the_file_booted() {
        let line = "BOOT_IMAGE=/boot/vmlinuz-6.1.0 root=/dev/sda1 initrd=\\a.img  quiet";
        assert_eq!(boot_arguments(line), "root=/dev/sda1 quiet");
    }

    #[test]
    fn the_tightest_limit_of_all_groups_above_counts() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("proc/self/cgroup", "0::/lab/job\n");
        assert_eq!(cpu_max(root.path()).as_deref(), Some("max"));
        write("sys/fs/cgroup/lab/cpu.max", "150000 100000\n");
        write("sys/fs/cgroup/lab/job/cpu.max", "max 100000\n");
        assert_eq!(cpu_max(root.path()).as_deref(), Some("1.5"));
        write("proc/self/cgroup", "4:cpu,cpuacct:/old\n0::/\n");
        write("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "50000");
        write("sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000");
        assert_eq!(cpu_max(root.path()).as_deref(), Some("0.5"));
    }
}
