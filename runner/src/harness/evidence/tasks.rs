//! Resources of the tasks, summed: times, faults, switches and waits, from each one's `/proc` files.

use std::fs;

use super::Counts;

/// Nanoseconds of a clock tick as `/proc` counts it.
const TICK_NS: u64 = 10_000_000;

/// Sums over the tasks; nothing of a file that any of them lacks.
pub(super) fn counts(threads: &[libc::pid_t]) -> Counts {
    let mut sums = Counts::new();
    type Parser = fn(&str) -> Option<Counts>;
    let sources = [("stat", stat as Parser), ("status", status), ("schedstat", schedstat)];
    for (file, counts_of) in sources {
        // A thread's own folder: the plain one tells of its whole process.
        let of_task = |tid: &libc::pid_t| {
            counts_of(&fs::read_to_string(format!("/proc/{tid}/task/{tid}/{file}")).ok()?)
        };
        if let Some(all) = threads.iter().map(of_task).collect::<Option<Vec<Counts>>>() {
            for (name, count) in all.into_iter().flatten() {
                *sums.entry(name).or_default() += count;
            }
        }
    }
    sums
}

fn named<const N: usize>(pairs: [(&str, u64); N]) -> Counts {
    pairs.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Field 10 is minor faults, 12 major faults, 14 user and 15 system time, as `proc(5)` counts them;
/// the second field is the name, which may hold anything.
fn stat(text: &str) -> Option<Counts> {
    let (_, after_name) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let field = |nth: usize| fields.get(nth - 3)?.parse::<u64>().ok();
    Some(named([
        ("rusage.minor_faults", field(10)?),
        ("rusage.major_faults", field(12)?),
        ("rusage.user_ns", field(14)? * TICK_NS),
        ("rusage.system_ns", field(15)? * TICK_NS),
    ]))
}

fn status(text: &str) -> Option<Counts> {
    let number = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok()
    };
    Some(named([
        ("rusage.voluntary_switches", number("voluntary_ctxt_switches:")?),
        ("rusage.involuntary_switches", number("nonvoluntary_ctxt_switches:")?),
    ]))
}

/// Time on a CPU, time waiting for one, and slices of time; all 0 where the kernel keeps no account.
fn schedstat(text: &str) -> Option<Counts> {
    let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [_, waited_ns, slices] = numbers[..] else { return None };
    Some(named([("rusage.cpu_wait_ns", waited_ns), ("rusage.time_slices", slices)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_shifts_no_field() {
        let text =
            "12 (a) b (c) R 1 12 12 0 -1 4194304 100 7 3 0 21 34 0 0 20 0 1 0 586871 3133440\n";
        let found = stat(text).expect("a stat line");
        assert_eq!(found["rusage.minor_faults"], 100);
        assert_eq!(found["rusage.major_faults"], 3);
        assert_eq!(found["rusage.user_ns"], 210_000_000);
        assert_eq!(found["rusage.system_ns"], 340_000_000);
        assert_eq!(stat("12 (a) R 1"), None);
    }

    #[test]
    fn waits_and_slices_follow_the_time_on_a_cpu() {
        let found = schedstat("900 3748276 11\n").expect("three numbers");
        assert_eq!((found["rusage.cpu_wait_ns"], found["rusage.time_slices"]), (3_748_276, 11));
        assert_eq!(schedstat("1 2"), None);
    }

    #[test]
    fn this_thread_has_them_all() {
        // SAFETY: gettid has no arguments and cannot fail.
        let own = unsafe { libc::gettid() };
        let found = counts(&[own, own]);
        for name in ["rusage.minor_faults", "rusage.user_ns", "rusage.voluntary_switches"] {
            assert!(found.contains_key(name), "no {name} in {found:?}");
        }
        assert!(counts(&[own, -1]).is_empty(), "a task that is gone leaves no half sum");
    }
}
