//! `/proc/lock_stat` of kernels that keep it: contentions and waits of each class of locks.

use super::Counts;

/// Classes kept: those contended most.
const CLASSES: usize = 20;

const CONTENTIONS: &str = ".contentions";

/// Every class: contentions, and nanoseconds waited. A line is the class, a colon, then bounces,
/// contentions, least, greatest and total wait in µs with two decimals, and more.
pub(super) fn counts(text: &str) -> Counts {
    let mut counts = Counts::new();
    for (class, rest) in text.lines().filter_map(|line| line.rsplit_once(": ")) {
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let [_, contentions, _, _, total_us, ..] = fields[..] else { continue };
        let (Ok(contentions), Ok(total_us)) = (contentions.parse(), total_us.parse::<f64>()) else {
            continue;
        };
        let class = format!("lock_stat.{}", class.trim());
        counts.insert(format!("{class}.wait_ns"), (total_us * 1_000.0) as u64);
        counts.insert(class + CONTENTIONS, contentions);
    }
    counts
}

/// Leaves out all classes but those contended most; other counters stay.
pub(super) fn busiest(mut counts: Counts) -> Counts {
    let mut classes: Vec<(u64, String)> = counts
        .iter()
        .filter(|(name, _)| name.starts_with("lock_stat."))
        .filter_map(|(name, count)| Some((*count, name.strip_suffix(CONTENTIONS)?.to_owned())))
        .filter(|(count, _)| *count > 0)
        .collect();
    classes.sort_by(|a, b| b.cmp(a));
    classes.truncate(CLASSES);
    let kept = |name: &str| {
        !name.starts_with("lock_stat.")
            || classes.iter().any(|(_, class)| {
                name.strip_prefix(class.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
    };
    counts.retain(|name, _| kept(name));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
lock_stat version 0.4
-----------------------------------------------------------------------------
              class name    con-bounces    contentions   waittime-min   waittime-max waittime-total
-----------------------------------------------------------------------------

             &sbi->s_md_lock:           40            55           0.10          12.00        1234.56   22.44  7  8  0.1  2  3  4
             ---------------
             &sbi->s_md_lock             55          [<ffffffff81000000>] ext4_mb_new_blocks+0x1/0x2
           &mm->mmap_lock-W:            1             2           0.10           1.00           3.00    1.5   7  8  0.1  2  3  4
";

    #[test]
    fn each_class_has_its_contentions_and_its_waits() {
        let found = counts(TEXT);
        assert_eq!(found["lock_stat.&sbi->s_md_lock.contentions"], 55);
        assert_eq!(found["lock_stat.&sbi->s_md_lock.wait_ns"], 1_234_560);
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn only_the_classes_contended_most_are_kept() {
        let mut many = Counts::from([("vmstat.pgfault".to_owned(), 1)]);
        for class in 0..30u64 {
            many.insert(format!("lock_stat.l{class}.contentions"), class);
            many.insert(format!("lock_stat.l{class}.wait_ns"), 7);
        }
        let kept = busiest(many);
        assert_eq!(kept.len(), 1 + 2 * CLASSES);
        assert!(kept.contains_key("lock_stat.l10.wait_ns"));
        assert!(!kept.contains_key("lock_stat.l9.contentions"));
    }
}
