//! ext4's own account of its block allocator, `/proc/fs/ext4/<device>/mb_stats`: the file system
//! under test alone. It counts only where `/sys/fs/ext4/<device>/mb_stats` is 1.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Counts;

/// Counters of the file system that holds `directory`; none where it is not ext4 or keeps none.
pub(super) fn counts(directory: &Path) -> Option<Counts> {
    let device = fs::metadata(directory).ok()?.dev();
    let numbers = format!("{}:{}", libc::major(device), libc::minor(device));
    let block = fs::canonicalize(Path::new("/sys/dev/block").join(numbers)).ok()?;
    let path = Path::new("/proc/fs/ext4").join(block.file_name()?).join("mb_stats");
    Some(parse(&fs::read_to_string(path).ok()?))
}

/// `name: number` lines; a line that ends in a colon heads those indented deeper than it.
fn parse(text: &str) -> Counts {
    let mut counts = Counts::new();
    let mut heads: Vec<(usize, &str)> = vec![];
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        heads.retain(|(above, _)| *above < depth);
        match value.trim().split('/').next().unwrap_or_default().parse::<u64>() {
            Ok(count) => {
                let path: Vec<&str> = heads.iter().map(|(_, head)| *head).chain([name]).collect();
                counts.insert(format!("mb_stats.{}", path.join(".")), count);
            }
            Err(_) if value.is_empty() && name != "mballoc" => heads.push((depth, name)),
            Err(_) => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_heads_its_own_counters() {
        let text = "\
mballoc:
\treqs: 120
\tsuccess: 119
\tgroups_scanned: 44
\tcr_p2_aligned_stats:
\t\thits: 100
\t\tgroups_considered: 130
\tcr_goal_fast_stats:
\t\thits: 19
\tbuddies_generated: 7/40
\tpreallocated: 3
";
        let found = parse(text);
        assert_eq!(found["mb_stats.reqs"], 120);
        assert_eq!(found["mb_stats.cr_p2_aligned_stats.groups_considered"], 130);
        assert_eq!(found["mb_stats.cr_goal_fast_stats.hits"], 19);
        assert_eq!((found["mb_stats.buddies_generated"], found["mb_stats.preallocated"]), (7, 3));
        assert_eq!(found.len(), 8, "{found:?}");
    }

    #[test]
    fn an_account_that_is_off_counts_nothing() {
        let text = "mballoc:\n\tmb stats collection turned off.\n\tTo enable, please write \"1\" to \
                    sysfs file mb_stats.\n";
        assert!(parse(text).is_empty());
    }
}
