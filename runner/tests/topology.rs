//! Topology from recorded shapes of sysfs: what a curve over task counts will meet, and where
//! tasks go. Each machine is written as files, since sysfs is files.

use std::fs;
use std::path::Path;

use scalewatch_runner::harness::{Placement, cpus_of_tasks};
use scalewatch_runner::machine::{Topology, cpu_list, parse_cpu_list};

/// One online CPU of a recorded machine.
struct Cpu {
    id: u32,
    package: u32,
    core: u32,
    node: u32,
    siblings: &'static str,
    l3: &'static str,
}

/// Writes a machine's sysfs below `root`; `present` counts offline CPUs too.
fn record(root: &Path, present: &str, smt: &str, cpus: &[Cpu]) {
    let base = root.join("devices/system");
    let write = |path: String, text: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, format!("{text}\n")).expect("a file");
    };
    let ids: Vec<u32> = cpus.iter().map(|c| c.id).collect();
    write("cpu/present".into(), present);
    write("cpu/online".into(), &cpu_list(&ids));
    write("cpu/smt/control".into(), smt);
    let last_node = cpus.iter().map(|c| c.node).max().unwrap_or(0);
    write("node/online".into(), &cpu_list(&(0..=last_node).collect::<Vec<_>>()));
    for node in 0..=last_node {
        let of_node: Vec<u32> = cpus.iter().filter(|c| c.node == node).map(|c| c.id).collect();
        write(format!("node/node{node}/cpulist"), &cpu_list(&of_node));
    }
    for cpu in cpus {
        let at = |file: &str| format!("cpu/cpu{}/{file}", cpu.id);
        write(at("topology/physical_package_id"), &cpu.package.to_string());
        write(at("topology/die_id"), "0");
        write(at("topology/core_id"), &cpu.core.to_string());
        write(at("topology/thread_siblings_list"), cpu.siblings);
        let caches = [
            ("1", "Data", "32K", cpu.siblings),
            ("1", "Instruction", "32K", cpu.siblings),
            ("2", "Unified", "1024K", cpu.siblings),
            ("3", "Unified", "32768K", cpu.l3),
        ];
        for (index, (level, kind, size, shared)) in caches.into_iter().enumerate() {
            write(at(&format!("cache/index{index}/level")), level);
            write(at(&format!("cache/index{index}/type")), kind);
            write(at(&format!("cache/index{index}/size")), size);
            write(at(&format!("cache/index{index}/shared_cpu_list")), shared);
        }
    }
}

/// A virtual machine of two CPUs without SMT.
fn small_guest(root: &Path) {
    let cpu = |id, siblings| Cpu { id, package: 0, core: id, node: 0, siblings, l3: "0-1" };
    record(root, "0-1", "notsupported", &[cpu(0, "0"), cpu(1, "1")]);
}

/// Two packages of two cores with SMT, numbered as Linux does: siblings are 4 apart, packages
/// alternate.
fn two_sockets(root: &Path) {
    const SIBLINGS: [&str; 4] = ["0,4", "1,5", "2,6", "3,7"];
    let cpu = |id: u32| {
        let package = id % 2;
        let l3 = if package == 0 { "0,2,4,6" } else { "1,3,5,7" };
        let siblings = SIBLINGS[id as usize % 4];
        Cpu { id, package, core: id % 4 / 2, node: package, siblings, l3 }
    };
    record(root, "0-7", "on", &(0..8).map(cpu).collect::<Vec<_>>());
}

/// The same, booted with its SMT siblings off.
fn two_sockets_without_smt(root: &Path) {
    const ALONE: [&str; 4] = ["0", "1", "2", "3"];
    let cpu = |id: u32| {
        let package = id % 2;
        let l3 = if package == 0 { "0,2" } else { "1,3" };
        Cpu { id, package, core: id % 4 / 2, node: package, siblings: ALONE[id as usize], l3 }
    };
    record(root, "0-7", "off", &(0..4).map(cpu).collect::<Vec<_>>());
}

fn read(machine: fn(&Path), allowed: &[u32]) -> Topology {
    let root = tempfile::tempdir().expect("a temporary folder");
    machine(root.path());
    Topology::read(root.path(), allowed)
}

fn changes(topology: &Topology, pu: bool) -> Vec<(u32, &'static str)> {
    topology.changes(pu).into_iter().map(|change| (change.tasks, change.what)).collect()
}

fn places(topology: &Topology, placement: &Placement, tasks: u32) -> Vec<String> {
    let places = cpus_of_tasks(topology, placement, tasks).expect("CPUs to run on");
    places.iter().map(|cpus| cpu_list(cpus)).collect()
}

#[test]
fn a_small_guest_has_two_cores_and_nothing_to_meet_but_its_end() {
    let guest = read(small_guest, &[0, 1]);
    assert_eq!((guest.sockets(), guest.core_count(), guest.threads_per_core()), (1, 2, 1));
    assert_eq!(guest.numa_nodes(), 1);
    assert_eq!(changes(&guest, false), [(3, "more tasks than hardware threads")]);
    assert_eq!(places(&guest, &Placement::Core, 3), ["0", "1", "0"]);
    assert_eq!(places(&guest, &Placement::Pu, 3), ["0", "1", "0"]);
}

#[test]
fn two_sockets_fill_package_by_package_and_a_core_is_both_its_threads() {
    let big = read(two_sockets, &(0..8).collect::<Vec<_>>());
    assert_eq!((big.sockets(), big.core_count(), big.threads_per_core()), (2, 4, 2));
    assert_eq!(big.numa_nodes(), 2);
    assert_eq!(places(&big, &Placement::Core, 5), ["0,4", "2,6", "1,5", "3,7", "0,4"]);
    assert_eq!(places(&big, &Placement::Pu, 5), ["0", "4", "2", "6", "1"]);
    assert_eq!(
        changes(&big, false),
        [(3, "next package"), (5, "SMT siblings begin"), (9, "more tasks than hardware threads")]
    );
    assert_eq!(
        changes(&big, true),
        [(2, "SMT siblings begin"), (5, "next package"), (9, "more tasks than hardware threads")]
    );
}

#[test]
fn switching_smt_off_changes_where_tasks_go_but_not_what_the_machine_is() {
    let (on, off) = (read(two_sockets, &[0]), read(two_sockets_without_smt, &[0, 1, 2, 3]));
    let identity = |t: &Topology| {
        (t.sockets(), t.core_count(), t.threads_per_core(), t.present.len(), t.caches.clone())
    };
    assert_eq!(identity(&on), identity(&off));
    assert_eq!(places(&off, &Placement::Core, 4), ["0", "2", "1", "3"]);
    assert_eq!(
        changes(&off, false),
        [(3, "next package"), (5, "more tasks than hardware threads")]
    );
}

#[test]
fn caches_are_listed_once_with_how_many_threads_share_one() {
    let big = read(two_sockets, &[0]);
    let caches: Vec<_> =
        big.caches.iter().map(|c| (c.level, c.kind.as_str(), c.size_kib, c.shared_by)).collect();
    assert_eq!(
        caches,
        [
            (1, "data", 32, 2),
            (1, "instruction", 32, 2),
            (2, "unified", 1024, 2),
            (3, "unified", 32768, 4)
        ]
    );
}

#[test]
fn one_cpu_has_one_core_and_every_task_goes_there() {
    let one = read(
        |root| {
            let cpu = Cpu { id: 0, package: 0, core: 0, node: 0, siblings: "0", l3: "0" };
            record(root, "0", "notsupported", &[cpu]);
        },
        &[0],
    );
    assert_eq!((one.sockets(), one.core_count(), one.numa_nodes()), (1, 1, 1));
    assert_eq!(places(&one, &Placement::Core, 2), ["0", "0"]);
    assert_eq!(changes(&one, false), [(2, "more tasks than hardware threads")]);
}

#[test]
fn the_allowed_mask_takes_cpus_away_and_a_listed_one_outside_it_is_refused() {
    let big = read(two_sockets, &[1, 2, 5]);
    assert_eq!(places(&big, &Placement::Core, 3), ["2", "1,5", "2"]);
    assert_eq!(places(&big, &Placement::Pu, 4), ["2", "1", "5", "2"]);
    assert_eq!(places(&big, &Placement::List(vec![5, 2]), 3), ["5", "2", "5"]);
    assert!(cpus_of_tasks(&big, &Placement::None, 3).expect("nothing to place").is_empty());
    let refused = cpus_of_tasks(&big, &Placement::List(vec![0]), 1).expect_err("not allowed");
    assert_eq!(
        refused.to_string(),
        "placement: CPU 0 is not one of those this process may use (1-2,5)"
    );
}

#[test]
fn without_sysfs_the_allowed_cpus_are_all_there_is() {
    let bare = read(|_| {}, &[0, 2]);
    assert_eq!((bare.sockets(), bare.core_count(), bare.numa_nodes()), (1, 2, 1));
    assert_eq!(places(&bare, &Placement::Core, 3), ["0", "2", "0"]);
}

#[test]
fn lists_of_cpus_are_read_and_written_as_the_kernel_writes_them() {
    assert_eq!(parse_cpu_list("0-3,8,10-11"), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!(parse_cpu_list(""), [] as [u32; 0]);
    assert_eq!(parse_cpu_list("x,1"), [1]);
    assert_eq!(cpu_list(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
    assert_eq!(cpu_list(&[]), "");
}

#[test]
fn this_machine_has_a_core_for_every_place() {
    let here = Topology::of_this_machine();
    assert!(here.core_count() >= 1 && here.present.len() >= here.cpus.len());
    assert!(!here.cores().is_empty());
}
