//! Machines as their sysfs would tell them, written as files below any root.

use std::fs;
use std::path::Path;

use scalewatch_runner::machine::cpu_list;

/// One online CPU.
pub struct Cpu {
    pub id: u32,
    pub package: u32,
    pub core: u32,
    pub node: u32,
    pub siblings: Vec<u32>,
    pub l3: Vec<u32>,
}

/// Writes a machine's sysfs below `root`; `present` counts offline CPUs too.
pub fn record(root: &Path, present: &str, smt: &str, cpus: &[Cpu]) {
    let base = root.join("devices/system");
    let write = |path: String, text: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, format!("{text}\n")).expect("a file");
    };
    let list = |ids: &mut dyn Iterator<Item = u32>| {
        let mut ids: Vec<u32> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        cpu_list(&ids)
    };
    write("cpu/present".into(), present);
    write("cpu/online".into(), &list(&mut cpus.iter().map(|c| c.id)));
    write("cpu/smt/control".into(), smt);
    write("node/online".into(), &list(&mut cpus.iter().map(|c| c.node)));
    for cpu in cpus {
        let of_node = &mut cpus.iter().filter(|c| c.node == cpu.node).map(|c| c.id);
        if of_node.clone().next() == Some(cpu.id) {
            write(format!("node/node{}/cpulist", cpu.node), &list(of_node));
        }
        let at = |file: &str| format!("cpu/cpu{}/{file}", cpu.id);
        let siblings = cpu_list(&cpu.siblings);
        write(at("topology/physical_package_id"), &cpu.package.to_string());
        write(at("topology/die_id"), "0");
        write(at("topology/core_id"), &cpu.core.to_string());
        write(at("topology/thread_siblings_list"), &siblings);
        let caches = [
            ("1", "Data", "32K", &siblings),
            ("1", "Instruction", "32K", &siblings),
            ("2", "Unified", "1024K", &siblings),
            ("3", "Unified", "32768K", &cpu_list(&cpu.l3)),
        ];
        // Of a very large machine the last one is enough.
        let told = if cpus.len() > 1000 { &caches[3..] } else { &caches[..] };
        for (index, (level, kind, size, shared)) in told.iter().enumerate() {
            write(at(&format!("cache/index{index}/level")), level);
            write(at(&format!("cache/index{index}/type")), kind);
            write(at(&format!("cache/index{index}/size")), size);
            write(at(&format!("cache/index{index}/shared_cpu_list")), shared);
        }
    }
}

/// `n` CPUs, each made from its number.
pub fn cpus(n: u32, cpu: impl Fn(u32) -> Cpu) -> Vec<Cpu> {
    (0..n).map(cpu).collect()
}

/// Two EPYC 9654: 96 cores each, siblings 192 apart, 8 cores to a last-level cache.
pub fn dual_epyc_9654(root: &Path) {
    let cpu = |id: u32| {
        let core = id % 192;
        let first = core / 8 * 8;
        Cpu {
            id,
            package: core / 96,
            core: core % 96,
            node: core / 96,
            siblings: vec![core, core + 192],
            l3: (first..first + 8).chain(first + 192..first + 200).collect(),
        }
    };
    record(root, "0-383", "on", &cpus(384, cpu));
}

/// Two Kunpeng 920: 64 cores each, two NUMA nodes a package, the firmware's own package numbers.
pub fn kunpeng_920(root: &Path) {
    let cpu = |id: u32| Cpu {
        id,
        package: [36, 3180][id as usize / 64],
        core: id % 64 * 2 + 6,
        node: id / 32,
        siblings: vec![id],
        l3: (id / 32 * 32..id / 32 * 32 + 32).collect(),
    };
    record(root, "0-127", "notsupported", &cpus(128, cpu));
}

/// Two Power9 of 20 cores with four threads each; packages and NUMA nodes are numbered 0 and 8, and
/// two cores share a cache.
pub fn power9_smt4(root: &Path) {
    let cpu = |id: u32| Cpu {
        id,
        package: id / 80 * 8,
        core: id / 4 * 4,
        node: id / 80 * 8,
        siblings: (id / 4 * 4..id / 4 * 4 + 4).collect(),
        l3: (id / 8 * 8..id / 8 * 8 + 8).collect(),
    };
    record(root, "0-159", "on", &cpus(160, cpu));
}

/// A client of eight large cores with two threads and eight small ones with one.
pub fn hybrid_client(root: &Path) {
    let cpu = |id: u32| {
        let large = id < 16;
        Cpu {
            id,
            package: 0,
            core: if large { id / 2 * 4 } else { 16 + id },
            node: 0,
            siblings: if large { vec![id / 2 * 2, id / 2 * 2 + 1] } else { vec![id] },
            l3: (0..24).collect(),
        }
    };
    record(root, "0-23", "on", &cpus(24, cpu));
    fs::create_dir_all(root.join("devices/cpu_atom")).expect("a folder");
    fs::write(root.join("devices/cpu_atom/cpus"), "16-23\n").expect("a file");
}

/// A virtual machine of two CPUs without SMT.
pub fn small_guest(root: &Path) {
    let cpu = |id| Cpu { id, package: 0, core: id, node: 0, siblings: vec![id], l3: vec![0, 1] };
    record(root, "0-1", "notsupported", &cpus(2, cpu));
}

/// One CPU.
pub fn one_cpu(root: &Path) {
    let cpu = |id| Cpu { id, package: 0, core: 0, node: 0, siblings: vec![0], l3: vec![0] };
    record(root, "0", "notsupported", &cpus(1, cpu));
}

/// Eight packages of 256 cores with two threads, siblings adjacent: 4096 CPUs, as many as Linux is
/// usually built for.
pub fn as_large_as_it_gets(root: &Path) {
    let cpu = |id: u32| Cpu {
        id,
        package: id / 512,
        core: id / 2 % 256,
        node: id / 256,
        siblings: vec![id / 2 * 2, id / 2 * 2 + 1],
        l3: (id / 32 * 32..id / 32 * 32 + 32).collect(),
    };
    record(root, "0-4095", "on", &cpus(4096, cpu));
}
