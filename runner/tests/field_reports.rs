//! The reports of `UnixBench` and AIM7, with published figures.

mod support;

use std::collections::BTreeMap;

use scalewatch_runner::compare::unixbench::Heading;
use scalewatch_runner::compare::{aim, unixbench};
use support::reports::{a_failure, a_point, a_report};
use wire::{Direction, Metric, Outcome, Point, Report, Source, Unit, Window};

fn test_of(workload: &str, parameters: &[(&str, &str)], copies: u32, passes: &[u64]) -> Point {
    let mut point = a_point(copies, &[1.0]);
    point.workload = workload.into();
    point.parameters = BTreeMap::from([("mode".into(), "process".into())]);
    point.parameters.extend(parameters.iter().map(|(k, v)| ((*k).into(), (*v).into())));
    let Outcome::Measured(measured) = &mut point.outcome else { panic!("it was measured") };
    let window = |&count: &u64| {
        // All copies alike, but for what does not divide.
        let mut ops = vec![count / u64::from(copies); copies as usize];
        ops[0] += count % u64::from(copies);
        Window { dt_ns: 10_000_000_000, cpu_ns: vec![1; ops.len()], ops }
    };
    measured.windows = passes.iter().map(window).collect();
    point
}

fn run(points: Vec<Point>) -> Report {
    let mut report = a_report(1, "0a1b2c3d4e");
    report.points = points;
    report.machine.name = "kunpeng-a".into();
    report.machine.identity.threads = 40;
    report.machine.identity.architecture = "aarch64".into();
    report.machine.identity.cpu_model = "Kunpeng 920".into();
    report.environment.0.insert("kernel.release".into(), "5.8.0".into());
    report.started_at = "2027-11-30T13:00:00Z".into();
    report.finished_at = "2027-11-30T13:00:14Z".into();
    report
}

fn shown(points: Vec<Point>) -> String {
    let report = run(points);
    unixbench::render(&Heading::of(&report), &report.points)
}

#[test]
fn a_published_score_makes_the_published_report() {
    let text = shown(vec![test_of("syscall/mix-shared-fd", &[], 24, &[31_608_414])]);
    let expected = "\
========================================================================
   UnixBench's tests, written afresh (as in version 5.1.3)

   System: kunpeng-a
   OS: GNU/Linux -- 5.8.0
   Machine: aarch64
   CPU 0: Kunpeng 920

------------------------------------------------------------------------
Benchmark Run: Tue Nov 30 2027 13:00:00 - 13:00:14
40 CPUs in system; running 24 parallel copies of tests

System Call Overhead                        3160841.4 lps   (10.0 s, 1 samples)

System Benchmarks Partial Index              BASELINE       RESULT    INDEX
System Call Overhead                          15000.0    3160841.4   2107.2
                                                                   ========
System Benchmarks Index Score (Partial Only)                         2107.2

";
    assert_eq!(text, expected);
}

#[test]
fn published_scores_of_three_more_kernels_have_their_indexes() {
    for (tenths, index) in [(22_224_560, "1481.6"), (42_885_091, "2859.0"), (36_663_130, "2444.2")]
    {
        let text = shown(vec![test_of("syscall/mix-shared-fd", &[], 24, &[tenths])]);
        let last = text.lines().rfind(|line| !line.is_empty()).unwrap();
        assert!(last.ends_with(index), "{text}");
    }
}

#[test]
fn the_two_generations_of_the_system_call_test_never_share_a_report() {
    let text = shown(vec![
        test_of("syscall/mix-shared-fd", &[], 2, &[150_000]),
        test_of("syscall/mix-private-fd", &[], 2, &[300_000]),
        test_of("ipc/unixbench-pipe", &[], 2, &[124_400]),
    ]);
    let (new, old) = text.split_once("(as in version 5.1.3)").unwrap();
    assert!(new.contains("(as in version 6.0.0)"), "{text}");
    assert!(new.contains("30000.0 lps") && new.contains("Pipe Throughput"), "{text}");
    assert!(old.contains("15000.0 lps") && !old.contains("Pipe Throughput"), "{text}");
}

#[test]
fn passes_are_windows_and_the_worst_third_is_dropped() {
    let passes: Vec<u64> = (1..=10).map(|n| n * 100_000).collect();
    let text = shown(vec![test_of("syscall/mix-private-fd", &[], 1, &passes)]);
    // The geometric mean of 40000, 50000 … 100000.
    assert!(text.contains("66979.9 lps   (10.0 s, 7 samples)"), "{text}");
    assert!(text.contains("running 1 parallel copy of tests"), "{text}");
}

#[test]
fn a_copy_is_in_kilobytes_a_second_and_each_buffer_has_its_own_baseline() {
    let copy = |bufsize, blocks, count| {
        test_of("fs/copy", &[("bufsize", bufsize), ("blocks", blocks)], 1, &[count])
    };
    let text = shown(vec![copy("4096", "8000", 14_500), copy("256", "500", 66_200)]);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("File Copy")).collect();
    assert_eq!(
        lines,
        [
            "File Copy 256 bufsize 500 maxblocks            1655.0 KBps  (10.0 s, 1 samples)",
            "File Copy 4096 bufsize 8000 maxblocks          5800.0 KBps  (10.0 s, 1 samples)",
            "File Copy 256 bufsize 500 maxblocks            1655.0       1655.0     10.0",
            "File Copy 4096 bufsize 8000 maxblocks          5800.0       5800.0     10.0",
        ]
    );
    // Sizes that UnixBench has no test of.
    assert!(shown(vec![copy("4096", "500", 1)]).starts_with("no test of UnixBench"));
}

#[test]
fn a_failed_test_has_no_index_and_threads_are_no_copies() {
    let mut failed = a_failure(2);
    failed.workload = "sched/context1".into();
    failed.parameters = BTreeMap::from([("mode".into(), "process".into())]);
    let mut threads = test_of("ipc/unixbench-pipe", &[], 2, &[5]);
    threads.parameters.insert("mode".into(), "thread".into());
    let text = shown(vec![failed, threads, test_of("proc/spawn", &[], 2, &[12_600])]);
    let index: Vec<&str> = text.lines().filter(|line| line.starts_with("Pipe-based")).collect();
    assert!(index[0].ends_with("no result"), "{text}");
    assert_eq!(
        index[1],
        format!(
            "{:<40} {:>12} {:>12} {:>8}",
            "Pipe-based Context Switching", "4000.0", "---", "---"
        )
    );
    assert!(!text.contains("Pipe Throughput"), "{text}");
    assert!(text.contains(&format!("{:>31}\n", "100.0")), "{text}");
}

/// Two tasks of 100 jobs each in 10 s, one of which was through after 9.
fn a_load() -> Point {
    let mut point = test_of("aim/creat-close-fixed", &[], 2, &[200_000]);
    let Outcome::Measured(measured) = &mut point.outcome else { panic!("it was measured") };
    measured.windows[0].cpu_ns = vec![9_000_000_000, 8_500_000_000];
    for (name, unit, value) in [
        ("jobs_per_min", Unit::JobsPerMinute, 1200.0),
        ("job_timing_index", Unit::Ratio, 0.973),
        ("first_finish_s", Unit::Seconds, 9.0),
        ("finish_sd_s", Unit::Seconds, 0.5),
    ] {
        let source = Source::Values(vec![value]);
        let direction = Direction::Higher;
        measured.metrics.push(Metric { name: name.into(), unit, direction, source });
    }
    for (name, ns) in [("rusage.user_ns", 10.0), ("rusage.system_ns", 30.0)] {
        measured.counters.insert(name.into(), ns);
    }
    point
}

#[test]
fn a_load_of_fixed_work_has_the_line_of_aim7() {
    assert_eq!(
        aim::render(&[a_load()]),
        "aim/creat-close-fixed · mode=process\n\
         Tasks    jobs/min  jti  jobs/min/task      real       cpu\n    \
         2     1200.00   97       600.0000     10.00     17.50\n\n"
    );
    assert!(aim::render(&[a_point(1, &[1.0])]).starts_with("no load"));
}

#[test]
fn a_load_of_fixed_work_has_the_line_of_re_aims_csv_and_what_is_not_known_is_empty() {
    const HEAD: &str =
        "Forks,JPM,JPM_C,JPS_C,parent_tm,childU_tm,childS_tm,std_dev,JTI,max_c,min_c\n";
    let known = "2,1200.00,600.00,10.00,10.00,4.38,13.12,0.50,97.30,10.00,9.00\n";
    assert_eq!(aim::csv(&[a_load(), a_point(1, &[1.0])]), format!("{HEAD}{known}"));
    let mut older = a_load();
    older.parameters.insert("jobs".into(), "100".into());
    let Outcome::Measured(measured) = &mut older.outcome else { panic!("it was measured") };
    measured.counters.clear();
    measured.metrics.retain(|metric| !metric.name.contains("finish"));
    let bare = "2,1200.00,600.00,10.00,10.00,,,,97.30,10.00,\n";
    let name = "aim/creat-close-fixed · ";
    let expected =
        format!("{name}jobs=100 mode=process\n{HEAD}{bare}\n{name}mode=process\n{HEAD}{known}");
    assert_eq!(aim::csv(&[a_load(), older]), expected);
    assert!(aim::csv(&[a_failure(1)]).starts_with("no load"));
}
