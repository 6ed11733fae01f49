//! Topology from recorded shapes of sysfs: what a curve over task counts will meet, and where
//! tasks go. Each machine is written as files, since sysfs is files.

#[path = "support/sysfs.rs"]
mod sysfs;

use std::path::Path;

use scalewatch_runner::harness::{Placement, cpus_of_tasks};
use scalewatch_runner::machine::{Topology, cpu_list, parse_cpu_list};
use sysfs::{Cpu, cpus, record, small_guest};

/// Two packages of two cores with SMT, numbered as Linux does: siblings are 4 apart, packages
/// alternate.
fn two_sockets(root: &Path) {
    let cpu = |id: u32| {
        let package = id % 2;
        let l3 = if package == 0 { vec![0, 2, 4, 6] } else { vec![1, 3, 5, 7] };
        let siblings = vec![id % 4, id % 4 + 4];
        Cpu { id, package, core: id % 4 / 2, node: package, siblings, l3 }
    };
    record(root, "0-7", "on", &cpus(8, cpu));
}

/// The same, booted with its SMT siblings off.
fn two_sockets_without_smt(root: &Path) {
    let cpu = |id: u32| {
        let package = id % 2;
        let l3 = if package == 0 { vec![0, 2] } else { vec![1, 3] };
        Cpu { id, package, core: id % 4 / 2, node: package, siblings: vec![id], l3 }
    };
    record(root, "0-7", "off", &cpus(4, cpu));
}

fn read(machine: fn(&Path), allowed: &[u32]) -> Topology {
    // Tens of thousands of small files: in memory, where there is such a place.
    let memory = Path::new("/dev/shm");
    let root = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    let root = root.expect("a temporary folder");
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
    let one = read(sysfs::one_cpu, &[0]);
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

fn all(machine: fn(&Path), cpus: u32) -> Topology {
    read(machine, &(0..cpus).collect::<Vec<_>>())
}

fn counts(topology: &Topology) -> [u32; 4] {
    [topology.sockets(), topology.numa_nodes(), topology.core_count(), topology.threads_per_core()]
}

#[test]
fn a_dual_epyc_fills_one_package_first_or_takes_packages_and_caches_in_turn() {
    let epyc = all(sysfs::dual_epyc_9654, 384);
    assert_eq!(counts(&epyc), [2, 2, 192, 2]);
    assert_eq!(places(&epyc, &Placement::Core, 3), ["0,192", "1,193", "2,194"]);
    assert_eq!(places(&epyc, &Placement::Core, 97)[96], "96,288");
    assert_eq!(places(&epyc, &Placement::Pu, 4), ["0", "192", "1", "193"]);
    let spread = places(&epyc, &Placement::Spread, 193);
    assert_eq!(spread[..4], ["0,192", "96,288", "8,200", "104,296"]);
    // After one core of each of the 24 caches the first cache gets its second.
    assert_eq!((spread[24].as_str(), spread[192].as_str()), ("1,193", "0,192"));
    assert_eq!(
        changes(&epyc, false),
        [
            (97, "next package"),
            (193, "SMT siblings begin"),
            (385, "more tasks than hardware threads")
        ]
    );
    assert_eq!(changes(&epyc, true)[1], (193, "next package"));
    let l3 = epyc.caches.iter().find(|c| c.level == 3).expect("it has one");
    assert_eq!(l3.shared_by, 16);
}

#[test]
fn a_kunpeng_meets_its_four_nodes_one_after_the_other_or_all_at_once() {
    let kunpeng = all(sysfs::kunpeng_920, 128);
    assert_eq!(counts(&kunpeng), [2, 4, 128, 1]);
    assert_eq!(
        changes(&kunpeng, false),
        [
            (33, "next NUMA node"),
            (65, "next package"),
            (97, "next NUMA node"),
            (129, "more tasks than hardware threads")
        ]
    );
    assert_eq!(changes(&kunpeng, false), changes(&kunpeng, true));
    assert_eq!(places(&kunpeng, &Placement::Spread, 5), ["0", "64", "32", "96", "1"]);
    let listed = Placement::List(vec![127, 0]);
    assert_eq!(places(&kunpeng, &listed, 3), ["127", "0", "127"]);
}

#[test]
fn a_power9_has_four_threads_a_core_and_nodes_with_a_gap_between() {
    let power = all(sysfs::power9_smt4, 160);
    assert_eq!(counts(&power), [2, 2, 40, 4]);
    assert_eq!(places(&power, &Placement::Core, 2), ["0-3", "4-7"]);
    assert_eq!(places(&power, &Placement::Pu, 5), ["0", "1", "2", "3", "4"]);
    assert_eq!(places(&power, &Placement::Spread, 4), ["0-3", "80-83", "8-11", "88-91"]);
    assert_eq!(
        changes(&power, false),
        [
            (21, "next package"),
            (41, "SMT siblings begin"),
            (161, "more tasks than hardware threads")
        ]
    );
}

#[test]
fn a_hybrid_client_says_where_its_small_cores_begin() {
    let hybrid = all(sysfs::hybrid_client, 24);
    assert_eq!(counts(&hybrid), [1, 1, 16, 2]);
    assert_eq!(places(&hybrid, &Placement::Core, 10)[7..], ["14-15", "16", "17"]);
    assert_eq!(
        changes(&hybrid, false),
        [
            (9, "next kind of core"),
            (17, "SMT siblings begin"),
            (25, "more tasks than hardware threads")
        ]
    );
    assert_eq!(changes(&hybrid, true)[1], (17, "next kind of core"));
}

#[test]
fn a_container_on_a_large_machine_sees_what_it_was_given() {
    // Four cores of the third cache, one thread each, and one core of the other package.
    let inside = read(sysfs::dual_epyc_9654, &[16, 17, 18, 19, 100, 292]);
    assert_eq!(counts(&inside), [2, 2, 192, 2]);
    assert_eq!(places(&inside, &Placement::Core, 6), ["16", "17", "18", "19", "100,292", "16"]);
    assert_eq!(places(&inside, &Placement::Spread, 3), ["16", "100,292", "17"]);
    assert_eq!(
        changes(&inside, false),
        [(5, "next package"), (6, "SMT siblings begin"), (7, "more tasks than hardware threads")]
    );
}

#[test]
fn offline_cpus_take_no_task_and_change_no_count() {
    let some_offline = |root: &Path| {
        let cpu = |id: u32| {
            let l3 = (0..4).chain(6..8).collect();
            Cpu { id, package: 0, core: id, node: 0, siblings: vec![id], l3 }
        };
        let online: Vec<Cpu> =
            cpus(8, cpu).into_iter().filter(|c| !(4..6).contains(&c.id)).collect();
        record(root, "0-7", "notsupported", &online);
    };
    let machine = all(some_offline, 8);
    assert_eq!(counts(&machine), [1, 1, 8, 1]);
    assert_eq!(places(&machine, &Placement::Core, 7), ["0", "1", "2", "3", "6", "7", "0"]);
    assert_eq!(changes(&machine, false), [(7, "more tasks than hardware threads")]);
    let offline = cpus_of_tasks(&machine, &Placement::List(vec![4]), 1).expect_err("offline");
    assert!(offline.to_string().contains("CPU 4"), "{offline}");
}

#[test]
fn four_thousand_cpus_are_placed_and_counted() {
    let large = all(sysfs::as_large_as_it_gets, 4096);
    assert_eq!(counts(&large), [8, 16, 2048, 2]);
    let pu = places(&large, &Placement::Pu, 4096);
    assert_eq!((pu[0].as_str(), pu[4095].as_str()), ("0", "4095"));
    let spread = places(&large, &Placement::Spread, 16);
    assert_eq!(spread[..3], ["0-1", "512-513", "1024-1025"]);
    assert_eq!(spread[8], "256-257");
    let met = changes(&large, false);
    let times = |what: &str| met.iter().filter(|(_, w)| *w == what).count();
    assert_eq!((times("next package"), times("next NUMA node")), (7, 8));
    assert_eq!(
        met[met.len() - 2..],
        [(2049, "SMT siblings begin"), (4097, "more tasks than hardware threads")]
    );
}
