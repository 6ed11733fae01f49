//! Counters of the whole machine from `/proc`: memory, scheduling, interrupts.

use super::Counts;

/// Counters of `/proc/vmstat` kept, by how their names begin.
const VMSTAT: [&str; 22] = [
    "pgfault",
    "pgmajfault",
    "pgalloc_",
    "pgfree",
    "pgactivate",
    "pgdeactivate",
    "pgreuse",
    "pgpgin",
    "pgpgout",
    "pgscan_direct",
    "pgscan_kswapd",
    "pgsteal_direct",
    "pgsteal_kswapd",
    "allocstall_",
    "compact_stall",
    "pgmigrate_",
    "numa_",
    "nr_dirtied",
    "nr_written",
    "nr_tlb_",
    "thp_fault_",
    "pswp",
];

/// `/proc/vmstat`: one name and number a line.
pub(super) fn vmstat(text: &str) -> Counts {
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        let kept = VMSTAT.iter().any(|begin| name.starts_with(begin));
        kept.then_some((format!("vmstat.{name}"), count.trim().parse().ok()?))
    };
    text.lines().filter_map(count).collect()
}

/// `/proc/stat`: switches, forks, interrupts and soft interrupts since boot.
pub(super) fn stat(text: &str) -> Counts {
    let names = [
        ("ctxt", "context_switches"),
        ("processes", "forks"),
        ("intr", "interrupts"),
        ("softirq", "soft_interrupts"),
    ];
    let count = |line: &str| {
        let mut words = line.split_whitespace();
        let word = words.next()?;
        let (_, name) = names.iter().find(|(key, _)| *key == word)?;
        Some((format!("stat.{name}"), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(count).collect()
}

/// `/proc/schedstat`, summed over the CPUs; the fields' meaning is the same in versions 14 to 17.
pub(super) fn schedstat(text: &str) -> Counts {
    let names = [
        (0, "yields"),
        (2, "schedules"),
        (3, "goes_idle"),
        (4, "wakeups"),
        (5, "local_wakeups"),
        (7, "cpu_wait_ns"),
        (8, "time_slices"),
    ];
    let mut sums = Counts::new();
    let is_cpu = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    for line in text.lines().filter(is_cpu) {
        let fields: Vec<u64> =
            line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
        for (nth, name) in names {
            if let Some(count) = fields.get(nth) {
                let sum = sums.entry(format!("schedstat.{name}")).or_default();
                *sum = sum.wrapping_add(*count);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_kept_and_levels_are_not() {
        let text = "nr_free_pages 400\npgfault 12\npgalloc_normal 5\nnr_tlb_remote_flush 3\nodd\n";
        let found: Vec<(String, u64)> = vmstat(text).into_iter().collect();
        let expected = [
            ("vmstat.nr_tlb_remote_flush", 3),
            ("vmstat.pgalloc_normal", 5),
            ("vmstat.pgfault", 12),
        ];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    #[test]
    fn only_sums_are_taken_of_lines_with_many_numbers() {
        let found = stat("cpu 1 2\nintr 30 1 2\nctxt 44\nprocesses 5\nsoftirq 60 7 8\n");
        assert_eq!(found["stat.interrupts"], 30);
        assert_eq!(found["stat.soft_interrupts"], 60);
        assert_eq!((found["stat.context_switches"], found["stat.forks"]), (44, 5));
    }

    #[test]
    fn the_scheduler_is_summed_over_its_cpus_and_not_over_their_domains() {
        let text = "version 15\ntimestamp 4295\ncpu0 1 0 10 4 6 3 900 70 8\ndomain0 00000003 9 9 9\n\
                    cpu1 2 0 20 5 7 4 800 30 9\n";
        let found = schedstat(text);
        assert_eq!(found["schedstat.schedules"], 30);
        assert_eq!(found["schedstat.cpu_wait_ns"], 100);
        assert_eq!(found["schedstat.yields"], 3);
    }
}
