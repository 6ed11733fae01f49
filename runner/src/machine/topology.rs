//! Packages, cores, hardware threads, NUMA nodes and caches, as sysfs under any root tells them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wire::Cache;

use super::text;

/// One online hardware thread.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: u32,
    /// Physical package.
    pub package: u32,
    /// Die within the package.
    pub die: u32,
    /// Core within the die.
    pub core: u32,
    /// NUMA node.
    pub node: u32,
    /// Online hardware threads of its core, itself included.
    pub siblings: Vec<u32>,
    /// Lowest number of those that share its last-level cache: names the cache.
    pub last_cache: u32,
    /// Whether it is of the smaller kind on a machine with two kinds of cores.
    pub little: bool,
}

/// The processors of a machine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Topology {
    /// Online hardware threads, package-major: by package, die, core, then number.
    pub cpus: Vec<Cpu>,
    /// Numbers of all hardware threads there are, offline ones included.
    pub present: Vec<u32>,
    /// Numbers of those this process may use.
    pub allowed: Vec<u32>,
    /// One entry per cache level and kind.
    pub caches: Vec<Cache>,
    /// What the kernel says about SMT: `on`, `off`, `forceoff`, `notsupported`, …
    pub smt: Option<String>,
}

/// A task count at which the next task meets something new.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// The first task count that meets it.
    pub tasks: u32,
    /// What it meets.
    pub what: &'static str,
}

impl Topology {
    /// This machine, with the calling thread's allowed mask.
    pub fn of_this_machine() -> Topology {
        let allowed = crate::harness::sys::allowed_cpus().unwrap_or_default();
        Topology::read(Path::new("/sys"), &allowed)
    }

    /// What the sysfs at `root` says. A CPU without topology files counts as a core of its own in
    /// package 0; without any sysfs the allowed CPUs are all there is.
    pub fn read(root: &Path, allowed: &[u32]) -> Topology {
        let base = root.join("devices/system");
        let list = |path: &str| text(&base.join(path)).map(|t| parse_cpu_list(&t));
        let online = list("cpu/online").unwrap_or_else(|| allowed.to_vec());
        let nodes = nodes(&base);
        let little = little(root, &base, &online);
        let mut cpus: Vec<Cpu> = online.iter().map(|&id| cpu(&base, id, &nodes)).collect();
        cpus.iter_mut().for_each(|cpu| cpu.little = little.contains(&cpu.id));
        cpus.sort_by_key(|c| (c.package, c.die, c.core, c.id));
        let mut topology = Topology {
            present: list("cpu/present").unwrap_or_else(|| online.clone()),
            allowed: ascending(online.iter().copied().filter(|id| allowed.contains(id))),
            smt: text(&base.join("cpu/smt/control")),
            caches: vec![],
            cpus,
        };
        topology.caches = caches(&base, &online, topology.hidden_siblings());
        topology
    }

    /// The allowed hardware threads of each core, package-major; cores with none are left out.
    pub fn cores(&self) -> Vec<Vec<u32>> {
        self.first_of_cores().map(|c| self.allowed_of(c)).filter(|c| !c.is_empty()).collect()
    }

    /// As [`Topology::cores`], but each next core is as far from the one before as there is: in
    /// another package, in it another NUMA node, in that another last-level cache.
    pub fn cores_spread(&self) -> Vec<Vec<u32>> {
        type Caches = BTreeMap<u32, Vec<Vec<u32>>>;
        type Nodes = BTreeMap<u32, Caches>;
        let mut tree: BTreeMap<u32, Nodes> = BTreeMap::new();
        for cpu in self.first_of_cores() {
            let node = tree.entry(cpu.package).or_default().entry(cpu.node).or_default();
            let threads = self.allowed_of(cpu);
            if !threads.is_empty() {
                node.entry(cpu.last_cache).or_default().push(threads);
            }
        }
        let node = |caches: Caches| in_turns(caches.into_values());
        let package = |nodes: Nodes| in_turns(nodes.into_values().map(node));
        in_turns(tree.into_values().map(package))
    }

    fn first_of_cores(&self) -> impl Iterator<Item = &Cpu> {
        let mut seen = BTreeSet::new();
        self.cpus
            .iter()
            .filter(move |c| c.siblings.iter().min().is_some_and(|first| seen.insert(*first)))
    }

    fn allowed_of(&self, core: &Cpu) -> Vec<u32> {
        core.siblings.iter().copied().filter(|id| self.allowed.binary_search(id).is_ok()).collect()
    }

    /// Hardware threads of a core, those that SMT control switched off included.
    pub fn threads_per_core(&self) -> u32 {
        self.seen_per_core() * self.hidden_siblings()
    }

    /// Physical packages with an online CPU.
    pub fn sockets(&self) -> u32 {
        self.cpus.iter().map(|c| c.package).collect::<BTreeSet<_>>().len().max(1) as u32
    }

    /// Physical cores, by the hardware threads present, so that offline CPUs change nothing; where
    /// only some cores have several, those that are seen.
    pub fn core_count(&self) -> u32 {
        let seen = self.first_of_cores().count() as u32;
        (self.present.len() as u32).div_ceil(self.threads_per_core()).max(seen).max(1)
    }

    /// NUMA nodes with an online CPU.
    pub fn numa_nodes(&self) -> u32 {
        self.cpus.iter().map(|c| c.node).collect::<BTreeSet<_>>().len().max(1) as u32
    }

    /// Where a curve over task counts meets something new: the next NUMA node, package or kind of
    /// core, SMT, more tasks than hardware threads. By core placement, or by hardware thread (`pu`).
    pub fn changes(&self, pu: bool) -> Vec<Change> {
        let cores = self.cores();
        let places: Vec<u32> = match pu {
            true => cores.iter().flatten().copied().collect(),
            false => cores.iter().filter_map(|core| core.first().copied()).collect(),
        };
        let threads = cores.iter().map(Vec::len).sum::<usize>() as u32;
        let by_id: BTreeMap<u32, &Cpu> = self.cpus.iter().map(|c| (c.id, c)).collect();
        let at = |id: &u32| by_id.get(id);
        let mut changes = vec![];
        for (i, pair) in places.windows(2).enumerate() {
            let tasks = i as u32 + 2;
            if let (Some(here), Some(next)) = (at(&pair[0]), at(&pair[1])) {
                if here.package != next.package {
                    changes.push(Change { tasks, what: "next package" });
                } else if here.node != next.node {
                    changes.push(Change { tasks, what: "next NUMA node" });
                }
                if here.little != next.little {
                    changes.push(Change { tasks, what: "next kind of core" });
                }
            }
        }
        let smt_at = if pu { 2 } else { cores.len() as u32 + 1 };
        if threads > cores.len() as u32 {
            changes.push(Change { tasks: smt_at, what: "SMT siblings begin" });
        }
        changes.push(Change { tasks: threads + 1, what: "more tasks than hardware threads" });
        changes.sort_by_key(|change| change.tasks);
        changes
    }

    fn seen_per_core(&self) -> u32 {
        self.cpus.iter().map(|c| c.siblings.len()).max().unwrap_or(1).max(1) as u32
    }

    /// 2 where SMT control switched the siblings off, else 1.
    fn hidden_siblings(&self) -> u32 {
        let off = self.smt.as_deref().is_some_and(|smt| matches!(smt, "off" | "forceoff"));
        if off && self.seen_per_core() == 1 { 2 } else { 1 }
    }
}

fn cpu(base: &Path, id: u32, nodes: &BTreeMap<u32, u32>) -> Cpu {
    let dir = base.join(format!("cpu/cpu{id}/topology"));
    let number = |name: &str| text(&dir.join(name))?.parse::<i64>().ok();
    let siblings = text(&dir.join("thread_siblings_list")).map(|t| parse_cpu_list(&t));
    Cpu {
        id,
        // −1 stands for "unknown" on some architectures.
        package: number("physical_package_id").unwrap_or(0).max(0) as u32,
        die: number("die_id").unwrap_or(0).max(0) as u32,
        core: number("core_id").unwrap_or_else(|| i64::from(id)).max(0) as u32,
        node: nodes.get(&id).copied().unwrap_or(0),
        last_cache: last_cache(base, id).unwrap_or(0),
        little: false,
        siblings: siblings.filter(|s| s.contains(&id)).unwrap_or_else(|| vec![id]),
    }
}

/// The lowest CPU that shares the cache of the highest level.
fn last_cache(base: &Path, id: u32) -> Option<u32> {
    let caches = (0..).map(|index| base.join(format!("cpu/cpu{id}/cache/index{index}")));
    let levels =
        caches.map_while(|dir| Some((text(&dir.join("level"))?.parse::<u32>().ok()?, dir)));
    let (_, last) = levels.max_by_key(|(level, _)| *level)?;
    parse_cpu_list(&text(&last.join("shared_cpu_list"))?).into_iter().min()
}

/// CPUs of the smaller kind: by their capacity where the kernel gives one, else by the list of the
/// events that only they count.
fn little(root: &Path, base: &Path, online: &[u32]) -> BTreeSet<u32> {
    let capacity = |id: &u32| text(&base.join(format!("cpu/cpu{id}/cpu_capacity")))?.parse().ok();
    let capacities: Option<Vec<u32>> = online.iter().map(capacity).collect();
    if let Some(capacities) = capacities {
        let most = capacities.iter().max().copied().unwrap_or(0);
        let smaller = online.iter().zip(capacities).filter(|(_, capacity)| *capacity < most);
        return smaller.map(|(id, _)| *id).collect();
    }
    text(&root.join("devices/cpu_atom/cpus")).iter().flat_map(|t| parse_cpu_list(t)).collect()
}

/// One of each sequence in turn, the longer ones alone at the end.
fn in_turns<T>(sequences: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut sequences: Vec<_> = sequences.map(Vec::into_iter).collect();
    let mut all = vec![];
    loop {
        let before = all.len();
        all.extend(sequences.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

fn ascending(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    numbers.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// NUMA node of each CPU.
fn nodes(base: &Path) -> BTreeMap<u32, u32> {
    let numbers = text(&base.join("node/online")).map(|t| parse_cpu_list(&t)).unwrap_or_default();
    let of_node = |node: u32| {
        let cpus = text(&base.join(format!("node/node{node}/cpulist"))).unwrap_or_default();
        parse_cpu_list(&cpus).into_iter().map(move |cpu| (cpu, node))
    };
    numbers.into_iter().flat_map(of_node).collect()
}

/// Caches by level and kind, the widest sharing seen; `hidden` siblings are counted back in.
fn caches(base: &Path, online: &[u32], hidden: u32) -> Vec<Cache> {
    let mut widest: BTreeMap<(u32, String), Cache> = BTreeMap::new();
    for id in online {
        for index in 0.. {
            let dir = base.join(format!("cpu/cpu{id}/cache/index{index}"));
            let Some(cache) = cache(&dir, hidden) else { break };
            let entry = widest.entry((cache.level, cache.kind.clone())).or_insert(cache.clone());
            if (cache.size_kib, cache.shared_by) > (entry.size_kib, entry.shared_by) {
                *entry = cache;
            }
        }
    }
    widest.into_values().collect()
}

fn cache(dir: &Path, hidden: u32) -> Option<Cache> {
    let shared = text(&dir.join("shared_cpu_list")).map_or(1, |t| parse_cpu_list(&t).len() as u32);
    Some(Cache {
        level: text(&dir.join("level"))?.parse().ok()?,
        kind: text(&dir.join("type"))?.to_lowercase(),
        size_kib: text(&dir.join("size"))?.strip_suffix('K')?.parse().ok()?,
        shared_by: shared.max(1) * hidden,
    })
}

/// Reads the kernel's list form, `0-3,8`; what is no number is left out.
pub fn parse_cpu_list(text: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Writes the kernel's list form, `0-3,8`, of ascending numbers.
pub fn cpu_list(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = vec![];
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let word = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(word).collect::<Vec<_>>().join(",")
}
